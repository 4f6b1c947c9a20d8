import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Bindings of tasks to what shows them, with AFNetworking's tests of its categories for views (AIV, RFC), which
/// are replayed on httpbin: `Tests/AFNetworking.md`.
@Suite(.timeLimit(.minutes(1)))
struct TaskBindingTests {
    /// Stands for a view.
    private final class View: Sendable {
        let progress = Recorder<TransferProgress>()
        let activity = Recorder<Bool>()
    }

    private let session = URLSessionManager.forTests()
    private let ends = TaskEnds()

    init() {
        session.responseSerializer = HTTPResponseSerializer()
    }

    private func task(_ server: ScriptedServer) -> DataTask {
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
    }

    private func show(_ task: SessionTask, _ view: View) {
        ActivityBinding(of: task, to: view) { view, isActive in view.activity.append(isActive) }
        ProgressBinding(of: task, to: view) { view, progress in view.progress.append(progress) }
    }

    @Test func aViewSeesATaskFromItsStartToItsEnd() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 100_000))])
        let (task, view) = (task(server), View())
        show(task, view)
        #expect(try await view.activity.wait() == [false])
        task.resume()
        #expect(try await ends.wait().error == nil)
        #expect(view.activity.elements == [false, true, false])
        #expect(view.progress.elements.last == TransferProgress(total: 100_000, expected: 100_000))
    }

    @Test func aViewSeesATaskThatRunsIsSuspendedAndCancelled() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let (task, view) = (task(server), View())
        task.resume()
        try await gate.waitForArrivals()
        show(task, view)
        #expect(try await view.activity.wait() == [true])
        task.suspend()
        task.resume()
        try await view.activity.wait(count: 3)
        task.cancel()
        #expect(try await view.activity.wait(count: 4) == [true, false, true, false])
        gate.open()
    }

    @Test func aTaskThatHasCompletedDoesNotRun() async throws {
        let server = try ScriptedServer([.respond(body: "hello")])
        let (task, view) = (task(server), View())
        task.resume()
        _ = try await ends.wait()
        show(task, view)
        #expect(try await view.activity.wait() == [false])
        #expect(view.progress.elements.isEmpty)
    }

    @Test func aViewSeesUploadAndDownloadOfOneTask() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 60_000))])
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        let task = session.uploadTask(
            with: request,
            from: Data(count: 50_000),
            progress: nil,
            completion: ends.handler
        )
        let (up, down) = (View(), View())
        ProgressBinding(of: task, .upload, to: up) { view, progress in view.progress.append(progress) }
        ProgressBinding(of: task, to: down) { view, progress in view.progress.append(progress) }
        task.resume()
        #expect(try await ends.wait().error == nil)
        #expect(up.progress.elements.last == TransferProgress(total: 50_000, expected: 50_000))
        #expect(down.progress.elements.last == TransferProgress(total: 60_000, expected: 60_000))
    }

    @Test func aBindingOfATaskGoesOnWhenThatBecomesADownload() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 100_000))])
        session.setDataTaskDidReceiveResponse { _, _ in .becomeDownload }
        let (task, view) = (task(server), View())
        show(task, view)
        task.resume()
        #expect(try await ends.wait().error == nil)
        #expect(view.activity.elements == [false, true, false])
        #expect(view.progress.elements.last?.bytes == 100_000)
    }

    @Test func bindingsThatWereEndedAreSilentAndReleased() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 100_000))])
        let (task, view) = (task(server), View())
        weak var released: ActivityBinding?
        do {
            let activity = ActivityBinding(of: task, to: view) { view, isActive in
                view.activity.append(isActive)
            }
            let progress = ProgressBinding(of: task, to: view) { view, progress in
                view.progress.append(progress)
            }
            try await view.activity.wait()
            activity.end()
            progress.end()
            released = activity
        }
        session.completionQueue?.sync {}
        #expect(released == nil)
        task.resume()
        _ = try await ends.wait()
        #expect(view.activity.elements == [false] && view.progress.elements.isEmpty)
    }

    @Test func aBindingEndsWithItsTask() async throws {
        let server = try ScriptedServer([.respond(body: "hello")])
        let (task, view) = (task(server), View())
        weak var released: ActivityBinding?
        do {
            let activity = ActivityBinding(of: task, to: view) { view, isActive in
                view.activity.append(isActive)
            }
            released = activity
        }
        #expect(released != nil)
        task.resume()
        _ = try await ends.wait()
        session.operationQueue.underlyingQueue?.sync {}
        // The end is told; the call that releases it may be scheduled after that. The suite has a limit.
        while released != nil { await Task.yield() }
    }

    @Test func oneSpinnerShowsSeveralTasks() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let (tasks, view) = ((0..<3).map { _ in task(server) }, View())
        ActivityBinding(of: tasks, to: view) { view, isActive in view.activity.append(isActive) }
        #expect(try await view.activity.wait() == [false])
        for task in tasks { task.resume() }
        try await gate.waitForArrivals(3)
        gate.open()
        try await ends.recorder.wait(count: 3)
        session.completionQueue?.sync {}
        #expect(view.activity.elements.first == false && view.activity.elements.last == false)
        #expect(view.activity.elements.contains(true))
    }

    // MARK: - AFNetworking's

    /// A moment of a task's life before which its view is released.
    enum Moment: String, CaseIterable, CustomTestStringConvertible {
        case resume = """
            AIV-01 testTaskDidResumeNotificationDoesNotCauseCrashForAIVWithTask, \
            RFC-01 testTaskDidResumeNotificationDoesNotCauseCrashForUIRCWithTask
            """
        case completion = """
            AIV-02 testTaskDidCompleteNotificationDoesNotCauseCrashForAIVWithTask, \
            RFC-02 testTaskDidCompleteNotificationDoesNotCauseCrashForUIRCWithTask
            """
        case suspension = """
            AIV-03 testTaskDidSuspendNotificationDoesNotCauseCrashForAIVWithTask, \
            RFC-03 testTaskDidSuspendNotificationDoesNotCauseCrashForUIRCWithTask
            """

        var testDescription: String { rawValue }
    }

    @Test(
        "AIV-01 to -03, RFC-01 to -03: a view that is released before a moment of a task is not asked",
        .enabled(if: RealServers.httpbin != nil),
        arguments: Moment.allCases
    )
    func aViewIsReleasedBefore(moment: Moment) async throws {
        let url = try #require(RealServers.httpbin).appendingPathComponent("delay/1")
        let task = session.dataTask(with: URLRequest(url: url), completion: ends.handler)
        let told = Recorder<Bool>()
        weak var released: View?
        do {
            let view = View()
            released = view
            ActivityBinding(of: task, to: view) { told.append($1) }
            ProgressBinding(of: task, to: view) { _, _ in told.append(true) }
            try await told.wait()
            if moment != .resume {
                task.resume()
                try await told.wait(count: 2)
            }
        }
        // The call that was waited for has returned.
        session.completionQueue?.sync {}
        #expect(released == nil)
        let count = told.elements.count
        switch moment {
        case .resume: task.resume()
        case .completion: break
        case .suspension:
            task.suspend()
            task.resume()
        }
        #expect(try await ends.wait().error == nil)
        #expect(told.elements.count == count)
    }
}
