import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

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
        try await returns.wait()
        await task.value
        #expect(await manager.waitForNetwork() == false)
        let unknown = ReachabilityScene()
        unknown.routes.fail(SystemError(EMFILE, "socket"))
        #expect(await unknown.manager().waitForNetwork() == false)
    }

    @Test func anEarlierStatusDelaysNothingWhenTheKernelCannotBeRead() async throws {
        let scene = ReachabilityScene()
        let manager = scene.manager()
        let received = Recorder<NetworkReachabilityStatus>()
        let earlier = Task { for await status in manager.statuses { received.append(status) } }
        #expect(try await received.wait() == [.notReachable])
        earlier.cancel()
        await earlier.value
        #expect(!scene.isMonitoring)
        scene.routes.fail(SystemError(EMFILE, "socket"))
        #expect(await manager.waitForNetwork() == false)
    }

    /// Routes do not show when name servers answer again.
    @Test func anUnknownNameBlocksNobodyWhileADefaultRouteExists() async throws {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let manager = scene.manager(ofHost: "example.org")
        manager.startMonitoring()
        let question = try #require(try await scene.questions.wait().first)
        question.answer(.none)
        #expect(await manager.waitForNetwork() == false)
        scene.routes.become(ScriptedRoutes.down)
        let returns = Recorder<Bool>()
        let task = Task { returns.append(await manager.waitForNetwork()) }
        scene.routes.become(ScriptedRoutes.up)
        try await returns.wait()
        await task.value
    }

    @Test func anOperationContinuesWhenTheManagerIsReachable() async throws {
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
