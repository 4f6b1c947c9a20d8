import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct RetryTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    /// Records the retries of an operation.
    private final class Watcher: OperationObserver {
        let retries = Recorder<String>()

        func operation(_ operation: ConnectionOperation, willRetry retry: Retry) {
            switch retry.cause {
            case .response(let response): retries.append("\(response.statusCode)")
            case .error(let error): retries.append("\((error as? URLError)?.code.rawValue ?? 0)")
            case .busyServer: retries.append("busy")
            }
        }
    }

    private func quick(_ count: Int = 3) -> RetryPolicy {
        var policy = RetryPolicy(maximumRetries: count)
        policy.initialDelay = 0.001
        return policy
    }

    private func operation(
        _ server: ScriptedServer,
        _ method: String = "GET",
        policy: RetryPolicy? = nil
    ) -> HTTPRequestOperation {
        var request = URLRequest(url: server.url)
        request.httpMethod = method
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = callbacks
        operation.retryPolicy = policy ?? quick()
        return operation
    }

    /// An operation that was started, and the watcher of its retries.
    private func started(
        _ server: ScriptedServer,
        policy: RetryPolicy? = nil
    ) -> (operation: HTTPRequestOperation, watcher: Watcher) {
        let operation = operation(server, policy: policy)
        let watcher = Watcher()
        operation.addObserver(watcher)
        operation.start()
        return (operation, watcher)
    }

    /// As of a server that is still at it.
    @Test func aSuccessListedByThePolicyIsRetried() async throws {
        let wait = Answer.respond(202, ["Retry-After": "0"], body: "wait")
        var policy = quick(2)
        policy.statusCodes.insert(202)
        let server = try ScriptedServer([wait, wait, .respond(body: "done")])
        let (operation, watcher) = started(server, policy: policy)
        try await expectDone(operation)
        #expect(watcher.retries.elements == ["202", "202"])

        // It is the result when there are no more attempts, and without being named.
        for (policy, retries) in [(policy, 2), (quick(2), 0)] {
            let server = try ScriptedServer([wait, wait, wait])
            let (operation, watcher) = started(server, policy: policy)
            #expect(try await operation.value as? Data == Data("wait".utf8))
            #expect(operation.response?.statusCode == 202)
            callbacks.sync {}
            #expect(watcher.retries.elements.count == retries)
        }
    }

    /// The operation ends with the body "done", and everything has been delivered.
    private func expectDone(_ operation: HTTPRequestOperation) async throws {
        #expect(try await operation.value as? Data == Data("done".utf8))
        callbacks.sync {}
    }

    @Test func aRetryableStatusIsRetried() async throws {
        let server = try ScriptedServer([.respond(503), .respond(500, body: "no"), .respond(body: "done")])
        let (operation, watcher) = started(server)
        try await expectDone(operation)
        #expect(watcher.retries.elements == ["503", "500"])
        #expect(operation.response?.statusCode == 200)
        #expect(operation.metrics?.transferCount == 3)
        // Small bodies of errors are read, so that the connection can be used again.
        #expect(server.requests.map(\.connectionNumber) == [1, 1, 1])
    }

    @Test func aConnectionThatWasLostIsTriedAgain() async throws {
        let server = try ScriptedServer([.hangUp, .respond(body: "done")])
        let (operation, watcher) = started(server)
        try await expectDone(operation)
        #expect(watcher.retries.elements == ["\(URLError.Code.networkConnectionLost.rawValue)"])
    }

    @Test func theLastFailureIsTheResult() async throws {
        let server = try ScriptedServer { _ in .respond(503, body: "why") }
        let operation = operation(server, policy: quick(2))
        operation.start()
        let error = await #expect(throws: ResponseSerializationError.self) { try await operation.value }
        #expect(error?.reason == .unacceptableStatusCode(503))
        #expect(operation.responseString == "why")
        #expect(server.requests.count == 3)
    }

    @Test func withoutAPolicyNothingIsTriedAgain() async throws {
        let server = try ScriptedServer { _ in .respond(503) }
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.start()
        _ = try? await operation.value
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [("PUT", 2), ("POST", 1)])
    func onlyIdempotentRequestsAreSentAgainWithTheirBodies(method: String, count: Int) async throws {
        let server = try ScriptedServer { request in request.number == 0 ? .respond(503) : .respond() }
        let operation = operation(server, method)
        operation.bodySource = .data(Data("the body".utf8))
        operation.start()
        _ = try? await operation.value
        #expect(server.requests.map(\.text) == Array(repeating: "the body", count: count))
    }

    @Test func aBodyThatCanBeReadOnceIsSentOnce() async throws {
        let server = try ScriptedServer { _ in .respond(503) }
        let operation = operation(server, "PUT")
        operation.bodySource = .stream(InputStream(data: Data("abc".utf8)), length: 3)
        operation.start()
        let error = await #expect(throws: ResponseSerializationError.self) { try await operation.value }
        #expect(error?.reason == .unacceptableStatusCode(503))
        #expect(server.requests.map(\.text) == ["abc"])
    }

    @Test func whatCameIsKeptAndTheRestIsRequested() async throws {
        let representation = Representation(.generated(length: 200_000), entityTag: .strong("v1"))
        let server = try ScriptedServer { request in
            let answer = Answer.representation(representation)
            return request.number == 0 ? answer.breaking(after: 50_000) : answer
        }
        let operation = operation(server)
        operation.start()
        #expect(try await operation.value as? Data == PatternBody(length: 200_000).data)
        #expect(server.requests[1]["Range"]?.hasPrefix("bytes=") == true)
        #expect(server.requests[1]["If-Range"] == "\"v1\"")
    }

    @Test func aRedirectIsFollowedAgain() async throws {
        let server = try ScriptedServer { request in
            switch request.number {
            case 0, 2: .redirect(to: "/there")
            case 1: .respond(503)
            default: .respond(body: "done")
            }
        }
        let operation = operation(server)
        operation.start()
        try await expectDone(operation)
        #expect(server.requests.map(\.path) == ["/", "/there", "/", "/there"])
    }

    // MARK: - While it waits

    /// An operation that waits longer than a test for its second attempt.
    private func waiting(_ server: ScriptedServer) async throws -> (
        operation: HTTPRequestOperation, watcher: Watcher
    ) {
        let (operation, watcher) = started(server, policy: RetryPolicy(maximumRetries: 1))
        try await watcher.retries.wait()
        return (operation, watcher)
    }

    /// A server that has `operation` wait is asked once, for `operation` is cancelled by `end`.
    private func expectCancel(_ end: (HTTPRequestOperation) -> Void) async throws {
        defer { forgetHostWaits() }
        let server = try ScriptedServer { _ in .respond(503, ["Retry-After": "500"]) }
        let (operation, _) = try await waiting(server)
        end(operation)
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .cancelled)
        #expect(server.requests.count == 1)
    }

    @Test func cancellingEndsTheWait() async throws {
        try await expectCancel { $0.cancel() }
    }

    @Test func afterAPauseThereIsNoWait() async throws {
        defer { forgetHostWaits() }
        let server = try ScriptedServer { request in
            request.number == 0 ? .respond(503, ["Retry-After": "500"]) : .respond(body: "done")
        }
        let (operation, watcher) = try await waiting(server)
        operation.pause()
        operation.resume()
        try await expectDone(operation)
        #expect(watcher.retries.elements == ["503"])
    }

    @Test func cancellingAPausedOneEndsItWithoutAnotherAttempt() async throws {
        try await expectCancel {
            $0.pause()
            $0.cancel()
        }
    }

    @Test func theServersRetryAfterIsRespected() async throws {
        let server = try ScriptedServer { request in
            request.number == 0 ? .respond(429, ["Retry-After": "1"]) : .respond(body: "done")
        }
        let operation = operation(server)
        let clock = ContinuousClock()
        let start = clock.now
        operation.start()
        _ = try await operation.value
        #expect(clock.now - start >= .seconds(1))
    }
}
