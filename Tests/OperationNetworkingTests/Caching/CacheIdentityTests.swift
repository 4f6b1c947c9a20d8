import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// One user's response is never another's: in memory, on the disk, in another process; and fields that mark a
/// message name no user.
@Suite(.timeLimit(.minutes(1)))
struct CacheIdentityTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Answers with the value of a field.
    private static func server(_ name: String, _ control: String = "max-age=60") throws -> ScriptedServer {
        try ScriptedServer { request in
            .respond(200, ["Cache-Control": control], body: .text(request.headers[name] ?? "nobody"))
        }
    }

    static let userFields = [
        "X-Api-Key", "api-key", "X-Auth-Token", "Private-Token", "X-Vault-Token", "X-Amz-Security-Token",
        "X-Session-Token", "X-Goog-Api-Key", "Token", "X-Authorization", "X-CSRF-Token", "Cookie2", "Cookie",
        "Authorization", "X-Acme-Access-Token",
    ]

    @Test(arguments: userFields, ["max-age=60", "public, max-age=60"])
    func aResponseIsForItsUserOnly(name: String, control: String) async throws {
        let scene = CacheScene(try Self.server(name, control))
        for user in ["alice", "bob"] {
            for _ in 0..<2 { #expect(await scene.fetch("/", [name: user]).text == user) }
        }
        #expect(await scene.fetch().text == "nobody")
        #expect(await scene.fetch("/", [name: "alice"]).responseSource == .cache)
        #expect(scene.server.requests.count == 3)
    }

    static let marks = [
        "traceparent", "tracestate", "X-Request-Id", "X-Correlation-ID", "Idempotency-Key",
        "X-Idempotency-Key", "X-B3-TraceId", "X-Amzn-Trace-Id", "baggage", "newrelic", "X-Datadog-Tags",
    ]

    @Test(arguments: marks) func aMarkOfAMessageNamesNoUser(name: String) async throws {
        let scene = CacheScene(try Self.server(name))
        for mark in ["1", "2", "3"] { #expect(await scene.fetch("/", [name: mark]).text == "1") }
        #expect(await scene.fetch().text == "1")
        #expect(scene.server.requests.count == 1)
    }

    /// Of requests at the same time, too.
    @Test func messagesThatDifferByTheirMarksShareATransfer() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in
            .respond(200, ["Cache-Control": "max-age=60"], body: "page").held(after: .body(2), by: gate)
        }
        let scene = CacheScene(server)
        let operations = (0..<4).map { number in
            scene.manager.operation(for: scene.request("/", ["X-Request-Id": "\(number)"]))
        }
        for operation in operations { scene.manager.operationQueue.addOperation(operation) }
        try await gate.waitForArrivals()
        gate.open()
        for operation in operations {
            _ = try? await operation.value
            #expect(operation.text == "page")
        }
        #expect(server.requests.count == 1)
    }

    private func logIn(_ user: String, to jar: CookieJar, for host: String?) throws {
        let host = try #require(host)
        let cookie = HTTPCookie(properties: [.name: "user", .value: user, .domain: host, .path: "/"])
        jar.set(try #require(cookie))
    }

    /// Of one jar, after another login.
    @Test(arguments: [false, true]) func aCookieOfAJarNamesAUser(isOnDisk: Bool) async throws {
        let server = try Self.server("Cookie")
        let jar = CookieJar()
        func scene() -> CacheScene {
            isOnDisk
                ? CacheScene(server, diskCapacity: 8 << 20, directory: directory.file("cache"))
                : CacheScene(server)
        }
        var current = scene()
        for user in ["alice", "bob", "alice"] {
            // As another process has it.
            if isOnDisk { current = scene() }
            current.manager.cookieJar = jar
            try logIn(user, to: jar, for: server.url.host)
            #expect(await current.fetch().text == "user=\(user)")
            var request = current.request()
            request.httpShouldHandleCookies = false
            #expect(await current.fetch(request).text == "nobody")
            if isOnDisk { await current.waitForChanges() }
        }
        // Two users, and nobody.
        #expect(server.requests.count == 3)
        jar.removeAll()
        #expect(await current.fetch().text == "nobody")
    }

    /// A `Host` names the host whose cookies are sent.
    @Test func aCookieOfAnotherHostNamesAUser() async throws {
        let scene = CacheScene(try Self.server("Cookie"))
        let jar = CookieJar()
        scene.manager.cookieJar = jar
        for user in ["alice", "bob", "alice"] {
            try logIn(user, to: jar, for: "site.test")
            #expect(await scene.fetch("/", ["Host": "site.test"]).text == "user=\(user)")
        }
        #expect(scene.server.requests.count == 2)
    }

    @Test func theAppsOwnListCounts() async throws {
        let scene = CacheScene(try Self.server("X-Acme-Member"))
        scene.manager.redirectPolicy.droppedHeaders.insert("x-acme-member")
        for user in ["alice", "bob", "alice"] {
            #expect(await scene.fetch("/", ["X-Acme-Member": user]).text == user)
        }
        #expect(scene.server.requests.count == 2)
    }

    @Test func whatAnAdapterAddsCounts() async throws {
        let scene = CacheScene(
            try Self.server("X-Api-Key"),
            diskCapacity: 8 << 20,
            directory: directory.file("cache")
        )
        for user in ["alice", "bob", "alice"] {
            scene.manager.requestAdapters = [
                ClosureRequestAdapter { request, _ in
                    var request = request
                    request.setValue(user, forHTTPHeaderField: "X-Api-Key")
                    return request
                }
            ]
            #expect(await scene.fetch().text == user)
        }
        #expect(scene.server.requests.count == 2)
    }

    /// As another process has it: a cache of its own on the same directory.
    @Test func theDiskKeepsUsersApart() async throws {
        let server = try ScriptedServer { request in
            let length = request.headers["X-Api-Key"]?.count ?? 0
            return .respond(
                200,
                ["Cache-Control": "max-age=60", "Vary": "X-Api-Key"],
                body: .text("\(length)")
            )
        }
        for user in ["alice", "bob", "alice"] {
            let scene = CacheScene(server, diskCapacity: 8 << 20, directory: directory.file("cache"))
            #expect(await scene.fetch("/", ["X-Api-Key": user]).text == "\(user.count)")
            await scene.waitForChanges()
        }
        #expect(server.requests.count == 2)
        // No secret is on the disk, where `Vary` names it either.
        let names = try cacheNames(directory)
        #expect(names.count == 3)
        for name in names {
            let bytes = try Data(contentsOf: cacheFolder(directory).appendingPathComponent(name))
            #expect(bytes.range(of: Data("alice".utf8)) == nil)
        }
    }

    @Test func aStaleResponseIsValidatedByItsUserOnly() async throws {
        let server = try ScriptedServer { request in
            .respond(
                200,
                [
                    "Cache-Control": "max-age=1, stale-while-revalidate=1000, stale-if-error=1000",
                    "ETag": "\"v\"",
                ],
                body: .text(request.headers["X-Api-Key"] ?? "nobody")
            )
        }
        let scene = CacheScene(server)
        await scene.fetch("/", ["X-Api-Key": "alice"])
        scene.pass(100)
        #expect(await scene.fetch("/", ["X-Api-Key": "bob"]).text == "bob")
        #expect(server.requests.last?.headers["If-None-Match"] == nil)
        let stale = await scene.fetch("/", ["X-Api-Key": "alice"])
        #expect(stale.text == "alice" && stale.responseSource == .stale)
    }

    /// `cachedResponse(for:)` has no operation's settings, and gives what the request itself would get.
    @Test func aLookupByTheCallerFindsTheRequestsOwnResponse() async throws {
        let scene = CacheScene(try Self.server("X-Api-Key"))
        let alice = scene.request("/", ["X-Api-Key": "alice"])
        await scene.fetch(alice)
        #expect(scene.cache.cachedResponse(for: alice)?.data == Data("alice".utf8))
        #expect(scene.cache.cachedResponse(for: scene.request("/", ["X-Api-Key": "bob"])) == nil)
        #expect(scene.cache.cachedResponse(for: scene.request()) == nil)
    }

    /// A part that came for one user is no beginning of another's file, whether an adapter or a token source
    /// names them.
    @Test(arguments: [false, true]) func anotherUserCountsForDownloads(byToken: Bool) async throws {
        let whole = Answer.representation(
            Representation(.generated(length: 100_000), entityTag: .strong("v1"))
        )
        let server = try ScriptedServer([whole.breaking(after: .body(50_000)), whole])
        let file = directory.file("file")
        func download(_ user: String) async throws -> DownloadOperation {
            let operation = DownloadOperation(request: URLRequest(url: server.url), to: file)
            operation.completionQueue = DispatchQueue(label: "downloads")
            operation.retryPolicy = nil
            if byToken {
                operation.tokenSource = TokenSource(TokenSource.Token(user)) { _ in TokenSource.Token(user) }
            } else {
                operation.requestAdapters = [
                    ClosureRequestAdapter { request, _ in
                        var request = request
                        request.setValue(user, forHTTPHeaderField: "X-Api-Key")
                        return request
                    }
                ]
            }
            let queue = OperationQueue()
            queue.addOperation(operation)
            _ = try? await operation.value
            return operation
        }
        #expect(try await download("alice").error != nil)
        let other = try await download("bob")
        #expect(other.error == nil)
        // Compared, where alice's own would be continued.
        #expect(other.downloadedFile?.proof == .overlap)
    }
}
