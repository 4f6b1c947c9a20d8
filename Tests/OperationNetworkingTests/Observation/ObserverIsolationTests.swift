import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Closures of main-actor code that bindings and the two managers of states call, on the main queue whatever
/// the completion queue is; in order with the others.
@Suite(.timeLimit(.minutes(1)))
struct ObserverIsolationTests {
    @MainActor private final class View {
        let screen = MainScreen()
    }

    /// Code that belongs to no actor.
    private enum Outside {
        static func hear(_ operation: HTTPRequestOperation, _ order: Recorder<String>) {
            operation.setCompletion(success: { _, _ in order.append("result") })
        }

        static func task(_ session: URLSessionManager, _ url: URL, _ order: Recorder<String>) -> DataTask {
            session.dataTask(with: URLRequest(url: url)) { _, _, _ in order.append("result") }
        }

        static func same(_ response: HTTPURLResponse?, _ content: LoadedContent) -> LoadedContent {
            dispatchPrecondition(condition: .notOnQueue(.main))
            return content
        }
    }

    private let callbacks = DispatchQueue(label: "callbacks")

    @MainActor @Test func bindingsTouchTheMainActorBeforeTheResultIsTold() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = callbacks
        let view = View()
        let order = Recorder<String>()
        ProgressBinding(of: operation, to: view) { view, progress in
            view.screen.show("\(progress.bytes) bytes")
            order.append("progress")
        }
        ActivityBinding(of: operation, to: view) { view, isActive in
            view.screen.show("active \(isActive)")
            order.append("active \(isActive)")
        }
        Outside.hear(operation, order)
        operation.start()
        let events = try await order.wait(count: 5)
        #expect(events == ["active false", "active true", "progress", "active false", "result"])
        #expect(view.screen.lines == ["active false", "active true", "4 bytes", "active false"])
    }

    @MainActor @Test func bindingsOfTasksTouchTheMainActorBeforeTheResultIsTold() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let session = URLSessionManager.forTests()
        session.responseSerializer = HTTPResponseSerializer()
        let (view, order) = (View(), Recorder<String>())
        let task = Outside.task(session, server.url, order)
        ProgressBinding(of: task, to: view) { view, progress in
            view.screen.show("\(progress.bytes) bytes")
            order.append("progress")
        }
        ActivityBinding(of: task, to: view) { view, isActive in
            view.screen.show("active \(isActive)")
            order.append("active \(isActive)")
        }
        task.resume()
        let events = try await order.wait(count: 5)
        #expect(events == ["active false", "active true", "progress", "active false", "result"])
        #expect(view.screen.lines == ["active false", "active true", "4 bytes", "active false"])
    }

    @MainActor @Test func contentIsShownAndChangedOnTheMainActor() async throws {
        let server = try ScriptedServer { $0.path == "/bad" ? .respond(404) : .respond(body: "four") }
        let manager = OperationManager()
        manager.completionQueue = callbacks
        let (view, over) = (View(), Recorder<Bool>())
        let binding = ContentBinding(to: view, manager: manager) { view, content in
            view.screen.show(String(decoding: content.data, as: UTF8.self))
            over.append(true)
        }
        binding.load(
            URLRequest(url: server.url),
            success: { _, content in
                view.screen.show("success")
                return content
            }
        )
        _ = try await over.wait()
        // Changed by nonisolated code, shown by the main actor.
        binding.load(URLRequest(url: server.url), success: Outside.same)
        _ = try await over.wait(count: 2)
        binding.load(
            URLRequest(url: server.url(path: "bad")),
            failure: { _ in
                view.screen.show("failure")
                over.append(true)
            }
        )
        _ = try await over.wait(count: 3)
        #expect(view.screen.lines == ["success", "four", "four", "failure"])
    }

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
        let activity = NetworkActivityManager { _, body in body() }
        activity.completionQueue = callbacks
        activity.setNetworkingActivityAction { isActive in
            screen.show("active \(isActive)")
            over.append(true)
        }
        activity.isEnabled = true
        activity.incrementActivityCount()
        _ = try await over.wait(count: 2)
        activity.decrementActivityCount()
        _ = try await over.wait(count: 3)
        #expect(screen.lines == ["true", "active true", "active false"])
    }

    @MainActor @Test func aStopHoldsForAClosureThatIsOnItsWay() async throws {
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
        // The next status is delivered after the call that came to nothing has told the queue of its end.
        _ = try await shown.wait()
        #expect(screen.lines == ["true"])
    }

    /// Returns when what is in the main queue now was called.
    @MainActor private func throughMain() async {
        await withCheckedContinuation { (isOver: CheckedContinuation<Void, Never>) in
            DispatchQueue.main.async { isOver.resume() }
        }
    }

    @MainActor @Test func aPageThatIsNotWantedTellsNoProgress() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = OperationManager()
        manager.completionQueue = callbacks
        let view = View()
        let binding = ContentBinding(to: view, manager: manager) { _, _ in }
        let isTold = Gate()
        let operation = binding.load(
            URLRequest(url: server.url),
            progress: { _, _, _ in view.screen.show("progress") },
            success: nil
        )
        operation.completionBlock = { @Sendable in isTold.open() }
        binding.cancel()
        try await isTold.wait()
        await throughMain()
        #expect(view.screen.lines.isEmpty)
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
