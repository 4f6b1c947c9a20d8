import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import PhotoStore
import Testing

/// An app's tests. With stubs, which open no socket, where an answer is all that matters; with the scripted server
/// where it matters how bytes come: a pause in the middle of a body, a connection that breaks, a file that changes.
@Suite struct PhotoStoreTests {
    private let folder: TemporaryDirectory
    private static let photos = [PhotoStore.Photo(id: 1, title: "Summer")]

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func store(_ server: URL) -> PhotoStore {
        PhotoStore(server: server, folder: folder.url)
    }

    // MARK: - With stubs

    private static let address = "https://photos.example.com"

    /// A store whose manager is answered by `stubs`, and has a token.
    private func store(_ stubs: RequestStubs) throws -> PhotoStore {
        let store = store(try #require(URL(string: Self.address + "/")))
        store.manager.stubs = stubs
        store.manager.tokenSource = TokenSource(TokenSource.Token("stubbed")) { _ in TokenSource.Token("renewed") }
        return store
    }

    @Test func theListIsFetched() async throws {
        let stubs = RequestStubs([RequestStub("GET", Self.address + "/photos", .json(Self.photos))])
        #expect(try await store(stubs).photos() == Self.photos)
        #expect(stubs.requests.map { $0.value(forHTTPHeaderField: "Authorization") } == ["Bearer stubbed"])
    }

    @Test func aTokenThatHasExpiredIsRenewedOnce() async throws {
        let refusal = StubResponse.response(401).header("WWW-Authenticate", "Bearer")
        let stubs = RequestStubs([RequestStub("GET", Self.address + "/photos", refusal, .json(Self.photos))])
        #expect(try await store(stubs).photos() == Self.photos)
        let tokens = stubs.requests.map { $0.value(forHTTPHeaderField: "Authorization") }
        #expect(tokens == ["Bearer stubbed", "Bearer renewed"])
    }

    @Test func aServerThatIsGoneIsAnError() async throws {
        let stubs = RequestStubs([
            RequestStub("GET", Self.address + "/photos", .failure(URLError(.cannotConnectToHost)))
        ])
        await #expect(throws: URLError.self) { try await store(stubs).photos() }
        // The first try, and three more.
        #expect(stubs.requests.count == 4)
    }

    @Test func aDownloadThatBreaksGoesOn() async throws {
        let body = Data((0..<1000).map { UInt8($0 % 251) })
        let stubs = RequestStubs([
            RequestStub(
                "GET", Self.address + "/photos/1.jpg",
                .content(body, entityTag: "\"v1\"").breaking(after: 400), .content(body, entityTag: "\"v1\""))
        ])
        let file = try await store(stubs).download(1)
        #expect(try Data(contentsOf: file) == body)
        #expect(stubs.requests.last?.value(forHTTPHeaderField: "Range") == "bytes=400-")
    }

    @Test func aDownloadIsPausedAndResumed() async throws {
        let body = Data(repeating: 7, count: 50_000)
        let stubs = RequestStubs([
            RequestStub("GET", Self.address + "/photos/1.jpg", .content(body, entityTag: "\"v1\"").inPieces(of: 1000, every: 0.01))
        ])
        let store = try store(stubs)
        async let saved = store.download(1)
        while store.fractions[1] == nil { await Task.yield() }
        store.pause(1)
        store.resume(1)
        #expect(try Data(contentsOf: try await saved) == body)
        #expect(stubs.requests.count == 2)
    }

    // MARK: - With a server

    @Test func aTokenThatHasExpiredIsRenewedByALogin() async throws {
        let list = Answer.respond(
            200, ["Content-Type": "application/json"], body: #"[{"id": 1, "title": "Summer"}]"#)
        let refusal = Answer.respond(401, ["WWW-Authenticate": "Bearer"])
        let server = try ScriptedServer(routes: ["/login": [Self.login], "/photos": [refusal, list]])
        #expect(try await store(server.url).photos() == Self.photos)
        #expect(server.requests.map(\.path) == ["/login", "/photos", "/login", "/photos"])
    }

    private static let login = Answer.respond(
        200, ["Content-Type": "application/json"], body: #"{"token": "t"}"#)

    @Test func aBusyServerIsAskedAgainWithTheSameKey() async throws {
        let photo = Answer.respond(
            201, ["Content-Type": "application/json"], body: #"{"id": 7, "title": "New"}"#)
        let server = try ScriptedServer(
            routes: ["/login": [Self.login], "/photos": [.respond(503), .reset, photo]])
        #expect(try await store(server.url).publish(title: "New", key: "k").id == 7)
        let posts = server.requests.filter { $0.path == "/photos" }
        #expect(posts.count == 3 && posts.allSatisfy { $0["Idempotency-Key"] == "k" })
        #expect(posts.allSatisfy { $0["Authorization"] == "Bearer t" })
    }

    // MARK: Example

    @Test func aPausedDownloadResumes() async throws {
        let body = PatternBody(length: 300_000)
        let gate = Gate()
        let server = try ScriptedServer(
            serving: Representation(.pattern(body), entityTag: .strong("v1")),
            answers: [.currentRepresentation.held(after: .body(100_000), by: gate), .currentRepresentation])
        let store = store(server.url)
        store.manager.tokenSource = nil
        async let saved = store.download(1)
        // The first bytes are here, and the others wait in the server.
        while store.fractions[1] == nil { await Task.yield() }
        store.pause(1)
        try await server.waitForOpenConnections(0)
        store.resume(1)
        let file = try await saved
        gate.open()
        #expect(try body.firstDifference(fromFile: file) == nil)
        #expect(server.requests.count == 2 && server.requests[1]["If-Range"] == "\"v1\"")
        #expect(server.requests[1]["Range"] != nil && store.fractions[1] == 1)
    }

    // MARK: End of example

    @Test func aFileThatChangesMeanwhileIsNeverMixed() async throws {
        let new = PatternBody(seed: 2, length: 200_000)
        let gate = Gate()
        let server = try ScriptedServer(
            serving: Representation(.pattern(PatternBody(length: 300_000)), entityTag: .strong("v1")),
            answers: [.currentRepresentation.held(after: .body(100_000), by: gate), .currentRepresentation])
        let store = store(server.url)
        store.manager.tokenSource = nil
        async let saved = store.download(1)
        while store.fractions[1] == nil { await Task.yield() }
        store.pause(1)
        try await server.waitForOpenConnections(0)
        server.setRepresentation(Representation(.pattern(new), entityTag: .strong("v2")))
        store.resume(1)
        let file = try await saved
        gate.open()
        #expect(try new.firstDifference(fromFile: file) == nil)
    }
}
