import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking

/// A manager as the network that a retry waits for.
@Suite(.timeLimit(.minutes(1)))
struct ReachabilityRetryTests {
    @Test func aManagerIsANetwork() async throws {
        let scene = ReachabilityScene()
        let manager = scene.manager()
        let returns = Recorder<Bool>()
        let task = Task { returns.append(await manager.waitForNetwork()) }
        var statuses = manager.statuses.makeAsyncIterator()
        #expect(await statuses.next() == .notReachable)
        #expect(returns.elements.isEmpty)
        scene.routes.become(ScriptedRoutes.up)
        #expect(try await returns.wait().count == 1)
        await task.value
        #expect(await manager.waitForNetwork() == false)
        let unknown = ReachabilityScene()
        unknown.routes.fail(SystemError(EMFILE, "socket"))
        #expect(await unknown.manager().waitForNetwork() == false)
    }

    @Test func anOperationGoesOnWhenTheManagerIsReachable() async throws {
        let scene = ReachabilityScene()
        let manager = scene.manager()
        let server = try ScriptedServer([.hangUp, .respond(body: "done")])
        var policy = RetryPolicy()
        policy.initialDelay = 0.001
        policy.network = manager
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = scene.callbacks
        operation.retryPolicy = policy
        let watcher = RetryWatcher()
        operation.addObserver(watcher)
        operation.start()
        try await watcher.reasons.wait()
        scene.routes.become(ScriptedRoutes.up)
        #expect(try await operation.value as? Data == Data("done".utf8))
        #expect(server.requests.count == 2)
    }
}
