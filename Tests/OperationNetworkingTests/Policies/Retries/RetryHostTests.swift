import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The `Retry-After` of one operation counts for all that have a policy.
@Suite(.timeLimit(.minutes(1)))
struct RetryHostTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    private func policy() -> RetryPolicy {
        var policy = RetryPolicy()
        policy.initialDelay = 0.001
        return policy
    }

    private func operation(
        _ server: ScriptedServer,
        _ path: String = "/",
        policy: RetryPolicy?
    ) -> (HTTPRequestOperation, RetryWatcher) {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: path)))
        operation.completionQueue = callbacks
        operation.retryPolicy = policy
        let watcher = RetryWatcher()
        operation.addObserver(watcher)
        return (operation, watcher)
    }

    // MARK: - The servers whose delays count

    @Test func aDelayThatOneServerAsksForAppliesToAllItsOperations() async throws {
        defer { forgetHostWaits() }
        let server = try ScriptedServer { _ in .respond(503, ["Retry-After": "500"]) }
        let (first, firstWatcher) = operation(server, "/a", policy: policy())
        first.start()
        try await firstWatcher.reasons.wait()
        let (other, watcher) = operation(server, "/b", policy: policy())
        other.start()
        #expect(try await watcher.reasons.wait() == ["busy"])
        #expect(try #require(watcher.delays.elements.first) > 300)
        #expect(server.requests.map(\.path) == ["/a"])
        for operation in [first, other] {
            operation.cancel()
            let error = await #expect(throws: URLError.self) { try await operation.value }
            #expect(error?.code == .cancelled)
        }
        #expect(server.requests.map(\.path) == ["/a"])
    }

    @Test(arguments: [
        (503, "500", true), (429, "500", true), (404, "500", false), (200, "500", false), (503, "0", false),
        (503, "soon", false),
    ])
    func onlyADelayWithAStatusOfThePolicyIsObeyed(status: Int, wish: String, isObeyed: Bool) async throws {
        defer { forgetHostWaits() }
        let server = try ScriptedServer { _ in .respond(status, ["Retry-After": wish]) }
        let (operation, _) = operation(server, policy: RetryPolicy(maximumRetries: 0))
        operation.start()
        _ = try? await operation.value
        #expect((try await server.remainingRest() != nil) == isObeyed)
    }

    @Test func withoutAPolicyNothingIsDelayed() async throws {
        let server = try ScriptedServer { _ in .respond(503, ["Retry-After": "500"]) }
        let (operation, _) = operation(server, policy: nil)
        operation.start()
        _ = try? await operation.value
        #expect(try await server.remainingRest() == nil)
    }

    // MARK: - The operations that wait

    @Test func afterTheWaitTheAttemptBegins() async throws {
        defer { forgetHostWaits() }
        let server = try ScriptedServer { _ in .respond(body: "done") }
        let (operation, watcher) = operation(server, policy: policy())
        // Both on the network thread, one after the other: the wait cannot be over before the operation begins.
        server.beginRest(seconds: 1, after: operation.start)
        #expect(try await operation.value as? Data == Data("done".utf8))
        callbacks.sync {}
        #expect(watcher.reasons.elements.first == "busy")
        #expect(server.requests.count == 1)
        #expect(try await server.remainingRest() == nil)
    }

    @Test func anOperationWithoutAPolicyDoesNotWait() async throws {
        defer { forgetHostWaits() }
        let server = try ScriptedServer { _ in .respond(body: "done") }
        server.beginRest(seconds: 500)
        let (operation, watcher) = operation(server, policy: nil)
        operation.start()
        #expect(try await operation.value as? Data == Data("done".utf8))
        callbacks.sync {}
        #expect(watcher.reasons.elements.isEmpty)
    }

    @Test func anotherServerIsNotAffected() async throws {
        defer { forgetHostWaits() }
        let (busy, free) = (
            try ScriptedServer { _ in .respond() }, try ScriptedServer { _ in .respond(body: "done") }
        )
        busy.beginRest(seconds: 500)
        let (operation, _) = operation(free, policy: policy())
        operation.start()
        #expect(try await operation.value as? Data == Data("done".utf8))
        #expect(busy.requests.isEmpty)
    }

    @Test(arguments: [true, false])
    func anOperationThatMayNotWaitThatLongIsNotDelayed(byBudget: Bool) async throws {
        defer { forgetHostWaits() }
        let server = try ScriptedServer { _ in .respond(body: "done") }
        server.beginRest(seconds: 500)
        var policy = policy()
        if byBudget { policy.timeBudget = 100 } else { policy.maximumWait = 100 }
        let (operation, watcher) = operation(server, policy: policy)
        operation.start()
        #expect(try await operation.value as? Data == Data("done".utf8))
        callbacks.sync {}
        #expect(watcher.reasons.elements.isEmpty)
    }

    @Test func aFurtherAttemptWaitsToo() async throws {
        defer { forgetHostWaits() }
        let busy = Locked<ScriptedServer?>(nil)
        let server = try ScriptedServer { _ in
            // Before the connection is lost, and so before the next attempt.
            busy.withLock { $0 }?.beginRest(seconds: 500)
            return .hangUp
        }
        busy.withLock { $0 = server }
        defer { busy.withLock { $0 = nil } }
        let (operation, watcher) = operation(server, policy: policy())
        operation.start()
        let lost = "\(URLError.Code.networkConnectionLost.rawValue)"
        #expect(try await watcher.reasons.wait(count: 2) == [lost, "busy"])
        #expect(server.requests.count == 1)
        operation.cancel()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .cancelled)
    }

    @Test func theTargetOfARedirectIsWaitedFor() async throws {
        defer { forgetHostWaits() }
        let busy = try ScriptedServer { _ in .respond(body: "done") }
        let server = try ScriptedServer { _ in .redirect(to: busy.url(path: "there").absoluteString) }
        busy.beginRest(seconds: 500)
        let (operation, watcher) = operation(server, policy: policy())
        operation.start()
        #expect(try await watcher.reasons.wait() == ["busy"])
        #expect(try await watcher.redirects.wait() == ["/there"])
        #expect(busy.requests.isEmpty)
        operation.pause()
        operation.resume()
        #expect(try await operation.value as? Data == Data("done".utf8))
        #expect(server.requests.count == 2 && busy.requests.count == 1)
    }

    // MARK: - While it waits

    @Test func cancellingEndsTheWait() async throws {
        defer { forgetHostWaits() }
        let server = try ScriptedServer { _ in .respond() }
        server.beginRest(seconds: 500)
        let (operation, watcher) = operation(server, policy: policy())
        operation.start()
        try await watcher.reasons.wait()
        operation.cancel()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .cancelled)
        #expect(server.requests.isEmpty)
    }

    @Test func afterAPauseThereIsNoWait() async throws {
        defer { forgetHostWaits() }
        let server = try ScriptedServer { _ in .respond(body: "done") }
        server.beginRest(seconds: 500)
        let (operation, watcher) = operation(server, policy: policy())
        operation.start()
        try await watcher.reasons.wait()
        operation.pause()
        operation.resume()
        #expect(try await operation.value as? Data == Data("done".utf8))
        callbacks.sync {}
        #expect(watcher.reasons.elements == ["busy"])
    }

    @Test func anOperationThatWaitsForASlotKeepsItsDelay() async throws {
        defer { forgetHostWaits() }
        let server = try ScriptedServer { _ in .respond(body: "done") }
        server.beginRest(seconds: 500)
        let queue = TransferQueue()
        queue.maxConcurrentOperationCount = 1
        let (first, watcher) = operation(server, policy: policy())
        let (second, _) = operation(server, policy: nil)
        queue.addOperation(first)
        queue.addOperation(second)
        try await watcher.reasons.wait()
        #expect(first.isExecuting && !second.isExecuting)
        first.cancel()
        #expect(try await second.value as? Data == Data("done".utf8))
    }

    @Test func aReleasedOperationWaitsForNothing() async throws {
        defer { forgetHostWaits() }
        let server = try ScriptedServer { _ in .respond() }
        server.beginRest(seconds: 500)
        weak var weakly: HTTPRequestOperation?
        try await {
            let (operation, watcher) = operation(server, policy: policy())
            weakly = operation
            operation.start()
            try await watcher.reasons.wait()
            operation.cancel()
            _ = try? await operation.value
            callbacks.sync {}
        }()
        try await eventually { weakly == nil }
    }
}
