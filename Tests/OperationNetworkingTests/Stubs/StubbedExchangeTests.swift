import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Redirects, cookies, credentials, retries, resuming, progress and batches over stubs.
@Suite(.timeLimit(.minutes(1)))
struct StubbedExchangeTests {
    private static let host = "https://api.example.com"

    private func url(_ path: String) throws -> URL { try #require(URL(string: Self.host + path)) }

    private func operation(
        _ path: String,
        _ stubs: RequestStubs,
        fields: [String: String] = [:]
    ) throws -> HTTPRequestOperation {
        var request = URLRequest(url: try url(path))
        request.allHTTPHeaderFields = fields
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.stubs = stubs
        operation.cookieJar = nil
        return operation
    }

    private func text(of operation: HTTPRequestOperation) async throws -> String {
        operation.start()
        return String(decoding: try await operation.value as? Data ?? Data(), as: UTF8.self)
    }

    // MARK: - What leads to another request

    @Test func aRedirectIsFollowedAndLeavesSecretsBehind() async throws {
        let stubs = RequestStubs([
            RequestStub("GET", "/old", .redirect(to: "/new", statusCode: 301)),
            RequestStub("GET", "/new", .redirect(to: "https://other.example/last")),
            RequestStub("GET", "https://other.example/last", .text("there")),
        ])
        let operation = try operation("/old", stubs, fields: ["Authorization": "secret"])
        #expect(try await text(of: operation) == "there")
        #expect(operation.response?.url?.absoluteString == "https://other.example/last")
        let proofs = stubs.requests.map { $0.value(forHTTPHeaderField: "Authorization") }
        #expect(proofs == ["secret", "secret", nil])
    }

    @Test func cookiesAreKeptAndSentBack() async throws {
        let jar = CookieJar()
        let stubs = RequestStubs([
            RequestStub(
                "GET",
                "/login",
                .redirect(to: "/home").header("Set-Cookie", "id=1; Path=/").header(
                    "Set-Cookie",
                    "gone=1; Max-Age=0"
                )
                .header("Set-Cookie", "__Host-a=1; Path=/").header("Set-Cookie", "b=2; Domain=other.example")
            ),
            RequestStub("GET", "/home", .text("home")),
        ])
        for path in ["/login", "/home"] {
            let operation = try operation(path, stubs)
            operation.cookieJar = jar
            #expect(try await text(of: operation) == "home")
        }
        #expect(stubs.requests.map { $0.value(forHTTPHeaderField: "Cookie") } == [nil, "id=1", "id=1"])
    }

    /// A server and a stub send the same line, in response to the same request.
    @Test(arguments: [
        "a=1", "a=1; Path=/x", "a=1; Path=/x/", "a=1; Path=x", "a=1; Path=/x; Path=y", "a=1; Path=y; Path=/x",
        "a=1; path = /x ", "a=1; Path", "a=1; Path=/x; Path", "a=1; Path=\"/x\"",
    ])
    func aCookieOfAStubHasThePathOfAServers(line: String) async throws {
        let server = try ScriptedServer { _ in .respond(200, ["Set-Cookie": line]) }
        let stub = StubResponse.response(headers: ["Set-Cookie": line])
        for target in ["", "/", "/b", "/b/", "/b%20b/c/d", "/b/c?d=/e"] {
            var kept: [[String]] = []
            for stubs in [RequestStubs([RequestStub(where: { _ in true }, respond: { _ in stub })]), nil] {
                let url = try #require(URL(string: "http://127.0.0.1:\(server.port)\(target)"))
                let operation = HTTPRequestOperation(request: URLRequest(url: url))
                operation.completionQueue = DispatchQueue(label: "callbacks")
                let jar = CookieJar()
                operation.cookieJar = jar
                operation.stubs = stubs
                _ = try await text(of: operation)
                kept.append(jar.cookies.map { "\($0.name)=\($0.value) \($0.path)" })
            }
            #expect(kept[0].count == 1 && kept[0] == kept[1], "\(target)")
        }
    }

    @Test func aChallengeIsAnswered() async throws {
        let stubs = RequestStubs([
            RequestStub("GET", "/private") { request in
                request.value(forHTTPHeaderField: "Authorization") == "Basic dXNlcjpwYXNz"
                    ? .text("in")
                    : .text("no", statusCode: 401, headers: ["WWW-Authenticate": "Basic realm=x"])
            }
        ])
        let operation = try operation("/private", stubs)
        operation.credential = Credential(user: "user", password: "pass")
        operation.authenticationSchemes = [.basic]
        #expect(try await text(of: operation) == "in")
        let stranger = try self.operation("/private", stubs)
        stranger.start()
        await #expect(throws: (any Error).self) { try await stranger.value }
        #expect(stranger.response?.statusCode == 401)
    }

    @Test func aRetryFollowsAFailureAndA503() async throws {
        let stubs = RequestStubs([
            RequestStub(
                "GET",
                "/flaky",
                .failure(URLError(.networkConnectionLost)),
                .text("busy", statusCode: 503),
                .text("up")
            )
        ])
        let operation = try operation("/flaky", stubs)
        var policy = RetryPolicy(maximumRetries: 2)
        policy.initialDelay = 0.001
        operation.retryPolicy = policy
        #expect(try await text(of: operation) == "up")
        #expect(stubs.requests.count == 3)
    }

    // MARK: - What no other test may notice

    @Test func theRetryAfterOfAStubDelaysItsOwnRequestsOnly() async throws {
        let busy = RequestStubs([RequestStub("GET", "/a", .response(503, headers: ["Retry-After": "500"]))])
        let first = try operation("/a", busy)
        first.retryPolicy = RetryPolicy(maximumRetries: 0)
        _ = try? await text(of: first)
        let other = try operation("/a", RequestStubs([RequestStub("GET", "/a", .text("up"))]))
        other.retryPolicy = RetryPolicy()
        other.timeouts.total = 20
        #expect(try await text(of: other) == "up")
        let next = try operation("/a", busy)
        next.retryPolicy = RetryPolicy()
        let watcher = RetryWatcher()
        next.addObserver(watcher)
        next.start()
        #expect(try await watcher.reasons.wait() == ["busy"])
        next.cancel()
    }

    @Test func theRetryAfterOfAStubDelaysNoServer() async throws {
        let server = try ScriptedServer { _ in .respond(body: "up") }
        let busy = StubResponse.response(503, headers: ["Retry-After": "500"])
        for stubs in [RequestStubs([RequestStub("GET", "/", busy)], unmatched: .passThrough), nil] {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.stubs = stubs
            operation.retryPolicy = RetryPolicy(maximumRetries: 0)
            operation.timeouts.total = 20
            operation.start()
            let body = try? await operation.value as? Data
            #expect((body == Data("up".utf8)) == (stubs == nil))
        }
    }

    @Test func credentialsAcceptedByAStubAreSentAtOnceToItsOwnRequestsOnly() async throws {
        for _ in 0..<2 {
            let refusal = StubResponse.response(401, headers: ["WWW-Authenticate": "Basic realm=x"])
            let stubs = RequestStubs([RequestStub("GET", "/kept/a", refusal, .text("in"))])
            for count in [2, 3] {
                let operation = try operation("/kept/a", stubs)
                operation.credential = Credential(user: "user", password: "pass")
                operation.authenticationSchemes = [.basic]
                #expect(try await text(of: operation) == "in")
                #expect(stubs.requests.count == count)
            }
        }
    }

    // MARK: - How a response comes

    @Test func aFailureIsTheErrorOfTheOperation() async throws {
        let stubs = RequestStubs([RequestStub("GET", "/a", .failure(URLError(.notConnectedToInternet)))])
        let operation = try operation("/a", stubs)
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .notConnectedToInternet)
        #expect(operation.response == nil)
    }

    @Test func aBodyComesInPiecesWithProgress() async throws {
        let stubs = RequestStubs([
            RequestStub("GET", "/a", .text("0123456789").inPieces(of: 3, every: 0.001))
        ])
        let operation = try operation("/a", stubs)
        let progress = Locked<[Int64]>([])
        operation.setDownloadProgress { _, total, expected in
            progress.withLock { $0.append(total) }
            #expect(expected == 10)
        }
        // It comes after the last report.
        let completed = Gate()
        operation.setCompletion(success: { _, _ in completed.open() }, failure: { _, _ in completed.open() })
        #expect(try await text(of: operation) == "0123456789")
        try await completed.wait()
        #expect(progress.withLock { $0.last } == 10)
    }

    @Test(arguments: [true, false], [0, 4])
    func aTruncatedResponseIsAnError(hasLength: Bool, count: Int) async throws {
        let answer = StubResponse.text("0123456789").breaking(after: count)
        let stubs = RequestStubs([RequestStub("GET", "/a", hasLength ? answer : answer.withoutLength())])
        let operation = try operation("/a", stubs)
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .networkConnectionLost)
        #expect(operation.responseData == Data("0123".utf8.prefix(count)) || count == 0)
    }

    @Test func aDelayBeyondTheTimeoutTimesOut() async throws {
        let stubs = RequestStubs([RequestStub("GET", "/a", .text("late").delayed(by: 100))])
        var request = URLRequest(url: try url("/a"))
        request.timeoutInterval = 0.05
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.stubs = stubs
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .timedOut)
    }

    @Test func aClosureThatTakesTooLongTimesOut() async throws {
        let gate = DispatchSemaphore(value: 0)
        let stubs = RequestStubs([
            RequestStub("GET", "/a") { _ in
                _ = gate.wait(timeout: .now() + 20)
                return .text("late")
            }
        ])
        var request = URLRequest(url: try url("/a"))
        request.timeoutInterval = 0.05
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.stubs = stubs
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        gate.signal()
        #expect(error?.code == .timedOut)
    }

    @Test func aDelayedStubReleasesACancelledOperation() async throws {
        weak var released: HTTPRequestOperation?
        do {
            let stubs = RequestStubs([RequestStub("GET", "/a", .text("late").delayed(by: 100))])
            let operation = try operation("/a", stubs)
            released = operation
            operation.start()
            // The answer is known, and delayed.
            try await eventually { !stubs.requests.isEmpty }
            operation.cancel()
            _ = try? await operation.value
        }
        try await eventually { released == nil }
    }

    @Test func aCancelledOperationDoesNotWaitForItsStub() async throws {
        let stubs = RequestStubs([RequestStub("GET", "/a", .text("late").delayed(by: 100))])
        let operation = try operation("/a", stubs)
        operation.start()
        operation.cancel()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .cancelled)
    }

    @Test(arguments: ["HEAD", "GET"], [204, 304])
    func whatMayHaveNoBodyHasNone(method: String, status: Int) async throws {
        let stubs = RequestStubs([
            RequestStub(where: { _ in true }) { _ in .text("body", statusCode: status) }
        ])
        let operation = try operation("/a", stubs)
        operation.start()
        _ = try? await operation.value
        #expect(operation.response?.statusCode == status)
        #expect(operation.responseData?.isEmpty != false)
    }

    @Test func aContentCodingIsDecoded() async throws {
        // printf hello | gzip -n
        let coded = try #require(Data(base64Encoded: "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA=="))
        let stubs = RequestStubs([
            RequestStub("GET", "/a", .response(headers: ["Content-Encoding": "gzip"], body: coded)),
            RequestStub(
                "GET",
                "/b",
                .response(headers: ["Content-Encoding": "gzip"], body: coded.dropLast(4))
            ),
        ])
        #expect(try await text(of: try operation("/a", stubs)) == "hello")
        let broken = try operation("/b", stubs)
        broken.start()
        let error = await #expect(throws: URLError.self) { try await broken.value }
        #expect(error?.code == .cannotDecodeRawData)
        let accepted = stubs.requests.first?.value(forHTTPHeaderField: "Accept-Encoding")
        #expect(accepted == "gzip, deflate, br, zstd")
    }

    // MARK: - Pauses and downloads

    @Test func aPausedOperationRequestsTheRest() async throws {
        let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let content = StubResponse.content(body, entityTag: "\"v1\"").inPieces(of: 1000, every: 0.001)
        let stubs = RequestStubs([RequestStub("GET", "/big", content)])
        let operation = try operation("/big", stubs)
        let started = Gate()
        operation.setDownloadProgress { _, total, _ in if total > 5000 { started.open() } }
        operation.start()
        try await started.wait()
        operation.pause()
        operation.resume()
        #expect(try await operation.value as? Data == body)
        let ranges = stubs.requests.map { $0.value(forHTTPHeaderField: "Range") }
        #expect(ranges.count == 2 && ranges[0] == nil && ranges[1]?.hasPrefix("bytes=") == true, "\(ranges)")
        #expect(stubs.requests.last?.value(forHTTPHeaderField: "If-Range") == "\"v1\"")
        #expect((operation.metrics?.bytesKept ?? 0) >= 5000)
    }

    @Test(arguments: [true, false])
    func aDownloadContinuesInAnotherOperation(changes: Bool) async throws {
        let directory = try TemporaryDirectory()
        let old = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let new = changes ? Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 / 5) }) : old
        let stubs = RequestStubs([
            RequestStub(
                "GET",
                "/file",
                .content(old, entityTag: "\"v1\"").breaking(after: 70_000),
                .content(new, entityTag: changes ? "\"v2\"" : "\"v1\"")
            )
        ])
        let file = directory.file("file")
        for isLast in [false, true] {
            let download = DownloadOperation(request: URLRequest(url: try url("/file")), to: file)
            download.completionQueue = DispatchQueue(label: "callbacks")
            download.stubs = stubs
            download.retryPolicy = nil
            download.start()
            if isLast {
                _ = try await download.value
            } else {
                await #expect(throws: (any Error).self) { try await download.value }
            }
        }
        #expect(try Data(contentsOf: file) == new)
        // An answer that is not as long as the whole was is not believed: the whole is asked for (S28).
        let ranges = stubs.requests.map { $0.value(forHTTPHeaderField: "Range") }
        #expect(ranges == [nil, "bytes=70000-"] + (changes ? [nil] : []))
    }

    @Test func aBatchRunsOverStubs() async throws {
        let stubs = RequestStubs([
            RequestStub(where: { $0.url?.path != "/3" }, respond: { .text($0.url?.path ?? "") }),
            RequestStub("GET", "/3", .failure(URLError(.cannotFindHost))),
        ])
        let operations = try (0..<20).map { try operation("/\($0)", stubs) }
        let batch = OperationBatch(operations, completionQueue: DispatchQueue(label: "batch"))
        let queue = OperationQueue()
        for operation in batch.operations { queue.addOperation(operation) }
        let results = await batch.results()
        #expect(results.count == 20)
        #expect(operations.filter { $0.error != nil }.count == 1)
        #expect(stubs.requests.count == 20)
    }
}
