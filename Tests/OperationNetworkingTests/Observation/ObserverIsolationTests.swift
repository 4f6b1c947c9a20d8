import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Closures of main-actor code that the two managers of states and a cache call, on the main queue whatever the
/// completion queue is.
@Suite(.timeLimit(.minutes(1)))
struct ObserverIsolationTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    @MainActor @Test func managersOfStatesTouchTheMainActor() async throws {
        let screen = MainScreen()
        let over = Recorder<Bool>()
        let reachability = ReachabilityScene(ScriptedRoutes.up).manager()
        reachability.completionQueue = callbacks
        reachability.setStatusChange { status in
            screen.show("\(status.isReachable)")
            over.append(true)
        }
        reachability.startMonitoring()
        _ = try await over.wait()
        let activity = NetworkActivityManager(activationDelay: 0, completionDelay: 0) { isActive in
            screen.show("active \(isActive)")
            over.append(true)
        }
        activity.completionQueue = callbacks
        activity.incrementActivityCount()
        _ = try await over.wait(count: 2)
        activity.decrementActivityCount()
        _ = try await over.wait(count: 3)
        #expect(screen.lines == ["true", "active true", "active false"])
    }

    @MainActor @Test func aStopPreventsAPendingClosure() async throws {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let reachability = scene.manager()
        reachability.completionQueue = callbacks
        let screen = MainScreen()
        let shown = Recorder<Bool>()
        reachability.setStatusChange { status in
            screen.show("\(status.isReachable)")
            shown.append(status.isReachable)
        }
        reachability.startMonitoring()
        // It waits for the main queue, which this test holds.
        callbacks.sync {}
        reachability.stopMonitoring()
        await throughMain()
        #expect(screen.lines.isEmpty)
        reachability.startMonitoring()
        // The next status is delivered after the dropped call has notified the queue of its end.
        _ = try await shown.wait()
        #expect(screen.lines == ["true"])
    }

    /// Returns when what is in the main queue now was called.
    @MainActor private func throughMain() async {
        await withCheckedContinuation { (isOver: CheckedContinuation<Void, Never>) in
            DispatchQueue.main.async { isOver.resume() }
        }
    }

    @MainActor @Test func aResponseIsSeenByTheMainActorBeforeItIsStored() async throws {
        let server = try ScriptedServer { _ in .respond(200, ["Cache-Control": "max-age=60"], body: "four") }
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = callbacks
        operation.cache = ResponseCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
        let (screen, over) = (MainScreen(), Recorder<Bool>())
        operation.setCacheResponse { proposed in
            screen.show("\(proposed.data.count)")
            over.append(true)
            return proposed
        }
        operation.start()
        _ = try await over.wait()
        _ = try await operation.value
        #expect(screen.lines == ["4"])
    }
}
