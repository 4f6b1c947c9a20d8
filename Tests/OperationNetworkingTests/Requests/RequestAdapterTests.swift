import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Adapters of requests: which requests they are asked for, and what they may change.
@Suite(.timeLimit(.minutes(1)))
struct RequestAdapterTests {
    /// Numbers the requests.
    private struct Signer: RequestAdapter {
        let asked = Recorder<URLRequest>()
        var name = "X-Signature"

        func adapt(_ request: URLRequest, in context: RequestContext) async throws -> URLRequest {
            asked.append(request)
            var request = request
            request.setValue("\(context.number)", forHTTPHeaderField: name)
            return request
        }
    }

    private let signer = Signer()
    private static let quick: RetryPolicy = {
        var policy = RetryPolicy(maximumRetries: 3)
        policy.initialDelay = 0.001
        return policy
    }()

    private func operation(_ url: URL, _ adapters: [any RequestAdapter]) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.requestAdapters = adapters
        return operation
    }

    private func adapter(_ change: @escaping @Sendable (inout URLRequest) throws -> Void)
        -> ClosureRequestAdapter
    {
        ClosureRequestAdapter { request, _ in
            var request = request
            try change(&request)
            return request
        }
    }

    @Test func eachAdapterReceivesTheRequestOfThePreviousOne() async throws {
        let server = try ScriptedServer { _ in .respond(body: "ok") }
        let second = adapter { request in
            let first = request.value(forHTTPHeaderField: "X-Signature") ?? "none"
            request.setValue("after \(first)", forHTTPHeaderField: "X-Second")
            request.url = request.url?.appending(queryItems: [URLQueryItem(name: "s", value: "1")])
        }
        let operation = operation(server.url(path: "a"), [signer, second])
        operation.start()
        _ = try await operation.value
        let request = try #require(server.requests.first)
        #expect(request["X-Signature"] == "1" && request["X-Second"] == "after 1")
        #expect(request.target == "/a?s=1")
        // Nothing of that is in what the caller sees.
        #expect(operation.request.url == server.url(path: "a"))
        #expect(operation.request.value(forHTTPHeaderField: "X-Signature") == nil)
    }

    @Test func aManagerGivesItsAdaptersToOperationsAndSessionsToTasks() async throws {
        let server = try ScriptedServer { _ in .respond(200, ["Content-Type": "application/json"], body: "{}")
        }
        let manager = OperationManager(baseURL: server.url)
        manager.requestAdapters = [signer]
        _ = try await manager.get("a")
        let session = HTTPSessionManager.forTests(server.url)
        session.requestAdapters = [signer]
        _ = try await session.get("b")
        #expect(server.requests.map { $0["X-Signature"] } == ["1", "1"])
    }

    @Test func aManagerAppliesThemToItsOwnOriginByDefault() async throws {
        let server = try ScriptedServer { _ in .respond(body: "ok") }
        let other = try ScriptedServer { _ in .respond(body: "ok") }
        let manager = OperationManager(baseURL: server.url)
        manager.responseSerializer = HTTPResponseSerializer()
        manager.requestAdapters = [signer]
        _ = try await manager.get("a")
        _ = try await manager.get(other.url.absoluteString)
        manager.secretHeaderScope = .everywhere
        _ = try await manager.get(other.url.absoluteString)
        #expect(server.requests.map { $0["X-Signature"] } == ["1"])
        #expect(other.requests.map { $0["X-Signature"] } == [nil, "1"])
    }

    @Test func eachAttemptIsAdapted() async throws {
        let server = try ScriptedServer([.respond(503), .respond(503), .respond(body: "ok")])
        let operation = operation(server.url, [signer])
        operation.retryPolicy = Self.quick
        operation.start()
        _ = try await operation.value
        #expect(server.requests.map { $0["X-Signature"] } == ["1", "2", "3"])
    }

    @Test func aResumptionIsAdapted() async throws {
        let body = PatternBody(length: 200_000)
        let gate = Gate()
        let server = try ScriptedServer(
            serving: Representation(.pattern(body), entityTag: .strong("v1")),
            answers: [.currentRepresentation.held(after: .body(100_000), by: gate), .currentRepresentation]
        )
        let operation = operation(server.url, [signer])
        let updates = operation.downloadUpdates
        operation.start()
        for await _ in updates { break }
        operation.pause()
        try await server.waitForOpenConnections(0)
        gate.open()
        operation.resume()
        let data = try #require(try await operation.value as? Data)
        #expect(body.firstDifference(from: data) == nil)
        try #require(server.requests.map { $0["X-Signature"] } == ["1", "2"])
        #expect(server.requests[1]["Range"] != nil && server.requests[1]["If-Range"] == "\"v1\"")
        // They are asked before the library's fields are there.
        #expect(signer.asked.elements.allSatisfy { $0.value(forHTTPHeaderField: "Range") == nil })
    }

    @Test func redirectsAreAdaptedWithinTheOriginOnly() async throws {
        let other = try ScriptedServer { _ in .respond(body: "there") }
        let server = try ScriptedServer(
            routes: ["/a": [.redirect(to: "/b")], "/b": [.redirect(to: other.url.absoluteString)]],
            otherwise: [.respond(404)]
        )
        let operation = operation(server.url(path: "a"), [signer])
        operation.start()
        _ = try await operation.value
        #expect(server.requests.map { $0["X-Signature"] } == ["1", "2"])
        #expect(other.requests.map { $0["X-Signature"] } == [nil])
        #expect(signer.asked.elements.map { $0.url?.path } == ["/a", "/b"])
    }

    @Test func theAnswerToA401IsAdaptedAndItsFieldStays() async throws {
        let server = try ScriptedServer([
            .respond(401, ["WWW-Authenticate": "Basic realm=\"r\""]), .respond(body: "in"),
        ])
        var impostor = Signer()
        impostor.name = "Authorization"
        let operation = operation(server.url, [impostor])
        operation.credential = Credential(user: "u", password: "p")
        operation.start()
        _ = try await operation.value
        #expect(server.requests.map { $0["Authorization"] } == ["1", "Basic dTpw"])
    }

    @Test func aBodyInMemoryMayBeAnother() async throws {
        let server = try ScriptedServer { _ in .respond(body: "ok") }
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        request.httpBody = Data("plain".utf8)
        let operation = HTTPRequestOperation(request: request)
        operation.requestAdapters = [adapter { $0.httpBody = Data("sealed and longer".utf8) }]
        operation.start()
        _ = try await operation.value
        #expect(server.requests.map(\.text) == ["sealed and longer"])
    }

    private static let faults: [(RequestAdapterError, @Sendable (inout URLRequest) -> Void)] = [
        (
            .originChanged(URL(string: "http://elsewhere.test/")),
            { $0.url = URL(string: "http://elsewhere.test/") }
        ),
        (.originChanged(nil), { $0.url = nil }),
        (.methodChanged("DELETE"), { $0.httpMethod = "DELETE" }),
        (.bodyStreamChanged, { $0.httpBodyStream = InputStream(data: Data("x".utf8)) }),
        (.bodyAddedOrRemoved, { $0.httpBody = Data("x".utf8) }),
        (.fieldChanged("Host"), { $0.setValue("elsewhere.test", forHTTPHeaderField: "host") }),
        (.fieldChanged("Cookie"), { $0.setValue("a=b", forHTTPHeaderField: "Cookie") }),
        (.fieldChanged("Range"), { $0.setValue("bytes=1-", forHTTPHeaderField: "range") }),
        (.fieldChanged("If-None-Match"), { $0.setValue("\"a\"", forHTTPHeaderField: "If-None-Match") }),
    ]

    @Test(arguments: faults.indices) func whatItMayNotChangeIsAnError(index: Int) async throws {
        let server = try ScriptedServer { _ in .respond(body: "ok") }
        let (error, change) = Self.faults[index]
        let operation = operation(server.url, [adapter { change(&$0) }])
        operation.start()
        await #expect(throws: error) { try await operation.value }
        #expect(server.requests.isEmpty && "\(error)".contains("request adapter"))
    }

    /// A download that is to come only if it has changed: its condition is found when the adapters were asked.
    @Test func aConditionIsSentBesideWhatAnAdapterSets() async throws {
        let representation = Representation(.pattern(PatternBody(length: 1000)), entityTag: .strong("v1"))
        let server = try ScriptedServer(serving: representation)
        let folder = try TemporaryDirectory()
        for _ in 0..<2 {
            let download = DownloadOperation(request: URLRequest(url: server.url), to: folder.file())
            download.downloadsOnlyIfChanged = true
            download.requestAdapters = [signer]
            download.start()
            _ = try await download.savedFile
        }
        #expect(server.requests.map { $0["If-None-Match"] } == [nil, "\"v1\""])
        #expect(server.requests.map { $0["X-Signature"] } == ["1", "1"])
    }

    @Test func aRedirectIsRelativeToTheAddressThatWasAsked() async throws {
        let server = try ScriptedServer(
            routes: [
                "/tenant/v2/items": [.redirect(to: "next")], "/tenant/v2/next": [.respond(body: "there")],
            ],
            otherwise: [.respond(404)]
        )
        let operation = operation(
            server.url(path: "items"),
            [
                adapter { request in
                    guard let url = request.url, url.path == "/items" else { return }
                    request.url = URL(string: "/tenant/v2/items", relativeTo: url)?.absoluteURL
                }
            ]
        )
        operation.start()
        #expect(try await operation.value as? Data == Data("there".utf8))
    }

    /// A server that checks what it is answered, and one that says what it got.
    @Test(.enabled(if: RealServers.httpbin != nil)) func realServersGetAdaptedRequests() async throws {
        let httpbin = try #require(RealServers.httpbin)
        let guarded = operation(httpbin.appendingPathComponent("digest-auth/auth/u/p"), [signer])
        guarded.credential = Credential(user: "u", password: "p")
        guarded.start()
        _ = try await guarded.value
        #expect(guarded.response?.statusCode == 200 && signer.asked.elements.count == 2)
        let adapted = operation(
            httpbin.appendingPathComponent("anything"),
            [
                signer,
                adapter { $0.url = $0.url?.appending(queryItems: [URLQueryItem(name: "s", value: "1")]) },
            ]
        )
        adapted.responseSerializer = JSONResponseSerializer()
        adapted.start()
        let object = try #require(try await adapted.value as? [String: any Sendable])
        #expect((object["args"] as? [String: any Sendable])?["s"] as? String == "1")
        #expect((object["headers"] as? [String: any Sendable])?["X-Signature"] as? String == "1")
    }

    private struct Refusal: Error {}

    @Test func anErrorOfAnAdapterIsTheOperations() async throws {
        let server = try ScriptedServer { _ in .respond(body: "ok") }
        let operation = operation(server.url, [adapter { _ in throw Refusal() }])
        operation.retryPolicy = Self.quick
        operation.start()
        await #expect(throws: Refusal.self) { try await operation.value }
        #expect(server.requests.isEmpty)
    }

    @Test func aCancelEndsTheWaitForTheAdapter() async throws {
        let (asked, cancelled) = (Gate(), Gate())
        let slow = ClosureRequestAdapter { request, _ in
            asked.open()
            try await withTaskCancellationHandler {
                try await cancelled.wait()
            } onCancel: {
                cancelled.open()
            }
            return request
        }
        let server = try ScriptedServer { _ in .respond(body: "ok") }
        let operation = operation(server.url, [slow])
        operation.start()
        try await asked.wait()
        operation.cancel()
        try await cancelled.wait()
        await #expect(throws: URLError.self) { try await operation.value }
        #expect(server.requests.isEmpty)
    }

    @MainActor @Test func aClosureOfMainActorCodeTouchesIt() async throws {
        let server = try ScriptedServer { _ in .respond(body: "ok") }
        let screen = MainScreen()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.requestAdapters = [
            ClosureRequestAdapter { request, context in
                screen.show("\(context.userInfo["trace"] ?? "none")")
                return request
            }
        ]
        operation.userInfo = ["trace": "t1"]
        operation.start()
        _ = try await operation.value
        #expect(screen.lines == ["t1"])
    }

    /// A signature may be over the method: the `HEAD` that confirms what a 416 says is asked about, too.
    @Test func theHeadThatConfirmsIsAdaptedForItself() async throws {
        let body = PatternBody(seed: 1, length: 3_000)
        let server = try ScriptedServer(
            serving: Representation(.pattern(body), entityTag: .strong("v1")),
            answers: [.currentRepresentation.chunked(isTerminated: false), .currentRepresentation]
        )
        let folder = try TemporaryDirectory()
        let signed = adapter { request in
            request.setValue(request.httpMethod, forHTTPHeaderField: "X-Signature")
        }
        for _ in 0..<2 {
            let download = DownloadOperation(request: URLRequest(url: server.url), to: folder.file("a"))
            download.retryPolicy = nil
            download.requestAdapters = [signer, signed]
            download.start()
            _ = try? await download.savedFile
        }
        #expect(try body.firstDifference(fromFile: folder.file("a")) == nil)
        #expect(server.requests.map(\.method) == ["GET", "GET", "HEAD"])
        #expect(server.requests.map { $0["X-Signature"] } == ["GET", "GET", "HEAD"])
        // Once for each request.
        #expect(signer.asked.elements.map { $0.httpMethod } == ["GET", "GET", "HEAD"])
    }
}
