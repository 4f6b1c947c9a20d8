import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// An app's tests without a socket: what stands above the network works as with a server.
@Suite(.timeLimit(.minutes(1)))
struct RequestStubsTests {
    private let base: URL
    private let manager: OperationManager

    init() throws {
        base = try #require(URL(string: "https://api.example.com/v1/"))
        manager = OperationManager(baseURL: base)
        manager.completionQueue = DispatchQueue(label: "callbacks")
    }

    private func url(_ path: String) throws -> URL {
        try #require(URL(string: path, relativeTo: base)).absoluteURL
    }

    private func operation(_ path: String, _ stubs: RequestStubs) throws -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: try url(path)))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.stubs = stubs
        return operation
    }

    private func text(_ object: (any Sendable)?) -> String {
        String(decoding: object as? Data ?? Data(), as: UTF8.self)
    }

    // MARK: - Matching

    @Test func aManagersRequestIsAnswered() async throws {
        let stubs = RequestStubs([
            RequestStub("GET", "https://api.example.com/v1/users/1", .json(["name": "Ann"]))
        ])
        manager.stubs = stubs
        let user = try await manager.get("users/1", parameters: ["page": 2], as: [String: String].self)
        #expect(user == ["name": "Ann"])
        #expect(stubs.requests.map(\.url) == [try url("users/1?page=2")])
        #expect(stubs.requests.first?.value(forHTTPHeaderField: "User-Agent")?.isEmpty == false)
    }

    @Test(arguments: [
        ("GET", "https://api.example.com/v1/a", true), ("get", "HTTPS://API.example.com:443/v1/a", true),
        ("GET", "/v1/a", true), ("GET", "https://api.example.com/v1/a?x=1", true),
        ("POST", "https://api.example.com/v1/a", false), ("GET", "http://api.example.com/v1/a", false),
        ("GET", "https://api.example.com/v1/a/", false), ("GET", "https://api.example.com/v1/a?x=2", false),
        ("GET", "/a", false), ("GET", "https://example.com/v1/a", false),
    ])
    func anAddressMatches(method: String, address: String, matches: Bool) async throws {
        let stubs = RequestStubs([RequestStub(method, address, .text("yes"))])
        let operation = try operation("a?x=1", stubs)
        operation.start()
        if matches {
            #expect(text(try await operation.value) == "yes")
        } else {
            await #expect(throws: StubError.unmatched(method: "GET", url: try url("a?x=1"))) {
                try await operation.value
            }
        }
    }

    @Test func aPathWithoutASlashTraps() async {
        await #expect(processExitsWith: .failure) { _ = RequestStub("GET", "users/1", .text("")) }
    }

    @Test func anAddressWithoutASchemeTraps() async {
        await #expect(processExitsWith: .failure) { _ = RequestStub("GET", "localhost:8080/x", .text("")) }
    }

    @Test func theFirstStubThatMatchesAnswersAndTheLastOfItsResponsesStays() async throws {
        let stubs = RequestStubs([
            RequestStub("GET", "/v1/a", .text("1"), .text("2")),
            RequestStub(where: { _ in true }, respond: { .text($0.url?.lastPathComponent ?? "") }),
        ])
        manager.stubs = stubs
        manager.responseSerializer = HTTPResponseSerializer()
        var texts: [String] = []
        for path in ["a", "b", "a", "a"] { texts.append(text(try await manager.get(path))) }
        #expect(texts == ["1", "b", "2", "2"])
    }

    private struct Pet: Encodable { var name = "Rex" }

    @Test(
        "JSON is a mixed literal, an encoded value, or text",
        arguments: [
            (.json(["id": 1, "name": "Ann"]), #"{"id":1,"name":"Ann"}"#),
            (.json(["name": "Ann"]), #"{"name":"Ann"}"#),
            (
                .json(["user": ["id": 1, "name": "Ann", "tags": ["a", 2.5, true]], "next": NSNull()]),
                #"{"next":null,"user":{"id":1,"name":"Ann","tags":["a",2.5,true]}}"#
            ),
            (.json([1, "a", ["b": nil as Int?]]), #"[1,"a",{"b":null}]"#),
            (.json([[1], [2]]), "[[1],[2]]"), (.json([]), "[]"), (.json([:]), "{}"),
            (.json(Pet()), #"{"name":"Rex"}"#),
            (
                .json(["pet": Pet(), "id": 1, "at": URL(string: "http:a") as Any]),
                #"{"at":"http:a","id":1,"pet":{"name":"Rex"}}"#
            ),
            (.json("text"), #""text""#),
            (.json(text: #"{"id": 1, "name": "Ann"}"#), #"{"id":1,"name":"Ann"}"#),
        ] as [(StubResponse, String)]
    )
    func respondsWithJSON(response: StubResponse, json: String) async throws {
        let operation = HTTPRequestOperation(request: URLRequest(url: try url("json")))
        operation.stubs = RequestStubs([RequestStub("GET", "/v1/json", response)])
        operation.start()
        let data = try #require(try await operation.value as? Data)
        let read = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) as? NSObject
        let expected = try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
        #expect(read == expected as? NSObject)
        #expect(operation.response?.value(forHTTPHeaderField: "Content-Type") == "application/json")
    }

    @Test func whatIsNotJSONIsTheFailure() async throws {
        let operation = HTTPRequestOperation(request: URLRequest(url: try url("json")))
        operation.stubs = RequestStubs([RequestStub("GET", "/v1/json", .json(["a": ["b": NSObject()]]))])
        operation.start()
        await #expect(
            throws: RequestSerializationError.invalidJSON(at: "a.b", found: "a value of type NSObject")
        ) { try await operation.value }
    }

    @Test func unmatchedRequestsMayUseTheNetwork() async throws {
        let server = try ScriptedServer { _ in .respond(body: "network") }
        let stubs = RequestStubs([RequestStub("GET", "/stubbed", .text("stub"))], unmatched: .passThrough)
        for (path, expected) in [("stubbed", "stub"), ("other", "network")] {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: path)))
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.stubs = stubs
            operation.start()
            #expect(text(try await operation.value) == expected)
        }
        #expect(stubs.requests.count == 1)
    }

    @Test func aClosureSeesTheBodyOfAnUpload() async throws {
        let stubs = RequestStubs([
            RequestStub("POST", "/v1/echo") { request in
                .response(201, headers: ["Content-Type": "text/plain"], body: request.httpBody ?? Data())
            }
        ])
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        var request = URLRequest(url: try url("echo"))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: bytes)
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.stubs = stubs
        let sent = Locked<Int64>(0)
        operation.setUploadProgress { _, total, _ in sent.withLock { $0 = total } }
        // It comes after the last report.
        let completed = Gate()
        operation.setCompletion(success: { _, _ in completed.open() }, failure: { _, _ in completed.open() })
        operation.start()
        #expect(try await operation.value as? Data == bytes)
        try await completed.wait()
        #expect(operation.response?.statusCode == 201)
        #expect(operation.metrics?.bytesSent == 300_000 && operation.metrics?.bytesReceived == 300_000)
        #expect(sent.withLock { $0 } == 300_000)
    }
}
