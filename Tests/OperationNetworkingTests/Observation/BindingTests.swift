import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Bindings of operations to what shows them. AFNetworking's tests of its categories for views (AIV, RFC) are
/// among them, on httpbin: a view that is released before an operation tells something.
@Suite(.timeLimit(.minutes(1)))
struct BindingTests {
    /// Stands for a view.
    private final class View: Sendable {
        let progress = Recorder<TransferProgress>()
        let activity = Recorder<Bool>()
    }

    /// Opens a gate when the last reference to it goes.
    private final class End: Sendable {
        private let gate: Gate

        init(opens gate: Gate) { self.gate = gate }

        deinit { gate.open() }
    }

    private let callbacks = DispatchQueue(label: "callbacks")

    private func operation(_ server: ScriptedServer) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = callbacks
        return operation
    }

    /// Runs an operation to its last callback.
    private func run(_ operation: ConnectionOperation) async throws {
        let isTold = Gate()
        operation.completionBlock = { isTold.open() }
        operation.start()
        try await isTold.wait()
    }

    private static func show(_ view: View, _ progress: TransferProgress) { view.progress.append(progress) }
    private static func show(_ view: View, _ isActive: Bool) { view.activity.append(isActive) }

    // MARK: - Progress

    @Test func aViewSeesTheProgressBesideTheClosure() async throws {
        let server = try ScriptedServer { _ in .respond(body: .generated(length: 100_000)) }
        let operation = operation(server)
        let (view, closure, order) = (View(), Recorder<Int64>(), Recorder<String>())
        operation.setDownloadProgress { _, total, _ in
            closure.append(total)
            order.append("progress")
        }
        operation.setCompletion(success: { _, _ in order.append("result") }, failure: nil)
        ProgressBinding(of: operation, to: view) { view, progress in Self.show(view, progress) }
        try await run(operation)
        #expect(view.progress.elements.map(\.bytes) == closure.elements)
        #expect(view.progress.elements.last == TransferProgress(total: 100_000, expected: 100_000))
        #expect(view.progress.elements.last?.fraction == 1)
        #expect(order.elements.last == "result")
    }

    @Test func aViewSeesTheUpload() async throws {
        let server = try ScriptedServer { _ in .respond(body: "thanks") }
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        request.httpBody = Data(count: 50_000)
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = callbacks
        let view = View()
        ProgressBinding(of: operation, .upload, to: view) { view, progress in Self.show(view, progress) }
        try await run(operation)
        #expect(view.progress.elements.last == TransferProgress(total: 50_000, expected: 50_000))
    }

    @Test(
        arguments: [(0, -1, nil), (5, 10, 0.5), (10, 10, 1), (20, 10, 1), (0, 0, nil)]
            as [(Int64, Int64, Double?)]
    )
    func fractions(total: Int64, expected: Int64, fraction: Double?) {
        #expect(TransferProgress(total: total, expected: expected).fraction == fraction)
    }

    @Test func aProgressBindingThatWasEndedIsSilent() async throws {
        let server = try ScriptedServer { _ in .respond(body: .generated(length: 100_000)) }
        let operation = operation(server)
        let view = View()
        let binding = ProgressBinding(of: operation, to: view) { view, progress in Self.show(view, progress) }
        binding.end()
        try await run(operation)
        #expect(view.progress.elements.isEmpty)
    }

    @Test func aProgressBindingKeepsNothing() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in
            .respond(body: .generated(length: 100_000)).held(after: 50_000, by: gate)
        }
        weak var releasedView: View?
        weak var releasedBinding: ProgressBinding?
        let (isTold, isReleased) = (Gate(), Gate())
        do {
            let operation = operation(server)
            do {
                let view = View()
                let binding = ProgressBinding(of: operation, to: view) { view, progress in
                    Self.show(view, progress)
                }
                (releasedView, releasedBinding) = (view, binding)
            }
            #expect(releasedView == nil)
            operation.userInfo = ["end": End(opens: isReleased)]
            operation.completionBlock = { isTold.open() }
            operation.start()
            try await gate.waitForArrivals()
            gate.open()
            try await isTold.wait()
            // The last callback has returned.
            callbacks.sync {}
            #expect(releasedBinding == nil)
        }
        try await isReleased.wait()
    }

    // MARK: - Activity

    @Test func aSpinnerTurnsWhileAnOperationRuns() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let operation = operation(server)
        let view = View()
        ActivityBinding(of: operation, to: view) { view, isActive in Self.show(view, isActive) }
        #expect(try await view.activity.wait() == [false])
        try await run(operation)
        #expect(view.activity.elements == [false, true, false])
    }

    @Test func aSpinnerOfARunningOperationTurnsAtOnceAndStandsDuringAPause() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let operation = operation(server)
        operation.start()
        try await gate.waitForArrivals()
        let view = View()
        ActivityBinding(of: operation, to: view) { view, isActive in Self.show(view, isActive) }
        #expect(try await view.activity.wait() == [true])
        operation.pause()
        try await view.activity.wait(count: 2)
        operation.resume()
        try await view.activity.wait(count: 3)
        operation.cancel()
        #expect(try await view.activity.wait(count: 4) == [true, false, true, false])
        gate.open()
    }

    @Test func aSpinnerOfAnOperationThatIsOverStands() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let operation = operation(server)
        try await run(operation)
        let view = View()
        ActivityBinding(of: operation, to: view) { view, isActive in Self.show(view, isActive) }
        #expect(try await view.activity.wait() == [false])
    }

    @Test func aSpinnerOfSeveralHasOneEdgeEach() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let operations = (0..<4).map { _ in operation(server) }
        let view = View()
        ActivityBinding(of: operations, to: view) { view, isActive in Self.show(view, isActive) }
        #expect(try await view.activity.wait() == [false])
        let queue = OperationQueue()
        let ended = Recorder<Void>()
        let gate = Gate()
        // All are told to have begun before the first is told to have ended.
        callbacks.async { try? gate.waitSynchronously() }
        for operation in operations {
            operation.completionBlock = { ended.append(()) }
            queue.addOperation(operation)
        }
        try await gate.waitForArrivals()
        gate.open()
        try await ended.wait(count: 4)
        #expect(view.activity.elements.first == false && view.activity.elements.last == false)
        #expect(zip(view.activity.elements, view.activity.elements.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test func anActivityBindingThatWasEndedIsSilent() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let operation = operation(server)
        let view = View()
        let binding = ActivityBinding(of: operation, to: view) { view, isActive in Self.show(view, isActive) }
        try await view.activity.wait()
        binding.end()
        try await run(operation)
        #expect(view.activity.elements == [false])
    }

    @Test func anActivityBindingEndsWithItsOperation() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let view = View()
        weak var released: ActivityBinding?
        let operation = operation(server)
        do {
            let binding = ActivityBinding(of: operation, to: view) { view, isActive in
                Self.show(view, isActive)
            }
            released = binding
        }
        #expect(released != nil)
        try await run(operation)
        callbacks.sync {}
        #expect(released == nil)
        #expect(view.activity.elements == [false, true, false])
    }

    @Test func anObserverThatWasRemovedHearsNothing() async throws {
        final class Ear: OperationObserver {
            let heard = Recorder<String>()
            func operationDidStart(_ operation: ConnectionOperation) { heard.append("start") }
        }
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let operation = operation(server)
        let (removed, kept) = (Ear(), Ear())
        let observation = operation.addObserver(removed)
        operation.addObserver(kept)
        observation.end()
        try await run(operation)
        #expect(removed.heard.elements.isEmpty && kept.heard.elements == ["start"])
    }

    // MARK: - AFNetworking's

    /// A moment of an operation's life before which its view is released. Pause and resume are ours: in
    /// AFNetworking a task alone told of them.
    enum Moment: String, CaseIterable, CustomTestStringConvertible {
        case start = """
            AIV-04 testOperationDidStartNotificationDoesNotCauseCrashForAIVWithOperation, \
            RFC-04 testOperationDidStartNotificationDoesNotCauseCrashForUIRCWithOperation
            """
        case finish = """
            AIV-05 testOperationDidFinishNotificationDoesNotCauseCrashForAIVWithOperation, \
            RFC-05 testOperationDidFinishNotificationDoesNotCauseCrashForUIRCWithOperation
            """
        case resume, pause

        var testDescription: String { rawValue }
    }

    @Test(
        "AIV-04 and -05, RFC-04 and -05: a view that is released before a moment is not asked",
        .enabled(if: RealServers.httpbin != nil),
        arguments: Moment.allCases
    )
    func aViewIsReleasedBefore(moment: Moment) async throws {
        let url = try #require(RealServers.httpbin).appendingPathComponent("delay/1")
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.completionQueue = callbacks
        let told = Recorder<Bool>()
        weak var released: View?
        do {
            let view = View()
            released = view
            ActivityBinding(of: operation, to: view) { told.append($1) }
            ProgressBinding(of: operation, to: view) { _, _ in told.append(true) }
            try await told.wait()
            if moment != .start {
                operation.start()
                try await told.wait(count: 2)
            }
            if moment == .resume {
                operation.pause()
                try await told.wait(count: 3)
            }
        }
        // The call that was waited for has returned.
        callbacks.sync {}
        #expect(released == nil)
        let count = told.elements.count
        switch moment {
        case .start: operation.start()
        case .resume: operation.resume()
        case .pause:
            operation.pause()
            callbacks.sync {}
            operation.resume()
        case .finish: break
        }
        let isTold = Gate()
        operation.completionBlock = { isTold.open() }
        try await isTold.wait()
        #expect(operation.error == nil && told.elements.count == count)
    }
}
