import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The lines of `Migration/Operations.md` that do the work of AFNetworking's categories for views, and AFNetworking's tests
/// of those, replayed on httpbin by their names (`Tests/AFNetworking.md`).
@Suite(.timeLimit(.minutes(1)))
struct ViewTests {
    private final class View: Sendable {}

    @MainActor private final class Bar {
        var value = 0.0
    }

    private let callbacks = DispatchQueue(label: "callbacks")
    private let edges = Recorder<Bool>()
    private let session = URLSessionManager.forTests()
    private let ends = TaskEnds()

    init() {
        session.responseSerializer = HTTPResponseSerializer()
    }

    private func operation(_ request: URLRequest) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = callbacks
        return operation
    }

    /// A spinner of a view that may be released.
    private func spinner(of view: View? = nil) -> NetworkActivityManager {
        let spinner: NetworkActivityManager
        if let view {
            spinner = NetworkActivityManager(activationDelay: 0, completionDelay: 0) {
                [weak view, edges] isActive in
                if view != nil { edges.append(isActive) }
            }
        } else {
            spinner = NetworkActivityManager(activationDelay: 0, completionDelay: 0) { [edges] isActive in
                edges.append(isActive)
            }
        }
        spinner.completionQueue = callbacks
        return spinner
    }

    // MARK: - Progress view

    @MainActor @Test func aBarFollowsADownload() async throws {
        let server = try ScriptedServer { _ in .respond(body: .generated(length: 100_000)) }
        let (operation, bar) = (operation(URLRequest(url: server.url)), Bar())
        let reading = Task { [updates = operation.downloadUpdates] in
            for await progress in updates { bar.value = progress.fraction ?? 0 }
        }
        operation.start()
        await reading.value
        #expect(bar.value == 1)
    }

    @MainActor @Test func aBarFollowsAnUpload() async throws {
        let server = try ScriptedServer { _ in .respond(body: "thanks") }
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        request.httpBody = Data(count: 50_000)
        let (operation, bar) = (operation(request), Bar())
        let reading = Task { [updates = operation.uploadUpdates] in
            for await progress in updates { bar.value = progress.fraction ?? 0 }
        }
        operation.start()
        await reading.value
        #expect(bar.value == 1)
    }

    @MainActor @Test func aLoopOverTheProgressKeepsNoOperation() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        var operation: HTTPRequestOperation? = operation(URLRequest(url: server.url))
        weak let released = operation
        let reading = Task { [updates = try #require(operation).downloadUpdates] in for await _ in updates {}
        }
        operation = nil
        #expect(released == nil)
        await reading.value
    }

    // MARK: - Activity indicator, refresh control

    @Test func aSpinnerTurnsWhileAnOperationRunsAndStandsDuringAPause() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let operation = operation(URLRequest(url: server.url))
        operation.addObserver(spinner())
        operation.start()
        try await gate.waitForArrivals()
        #expect(try await edges.wait() == [true])
        operation.pause()
        try await edges.wait(count: 2)
        operation.resume()
        try await edges.wait(count: 3)
        operation.cancel()
        #expect(try await edges.wait(count: 4) == [true, false, true, false])
        gate.open()
    }

    @Test func aSpinnerOfASessionTurnsWhileATaskRunsAndStandsDuringASuspension() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        session.addObserver(spinner())
        let task = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        task.resume()
        try await gate.waitForArrivals()
        #expect(try await edges.wait() == [true])
        task.suspend()
        try await edges.wait(count: 2)
        task.resume()
        try await edges.wait(count: 3)
        task.cancel()
        #expect(try await edges.wait(count: 4) == [true, false, true, false])
        gate.open()
    }

    /// A moment of an operation's, or a task's, life before which its view is released.
    enum Moment: String, CaseIterable, CustomTestStringConvertible {
        case start = """
            AIV-01 testTaskDidResumeNotificationDoesNotCauseCrashForAIVWithTask, \
            RFC-01 testTaskDidResumeNotificationDoesNotCauseCrashForUIRCWithTask, \
            AIV-04 testOperationDidStartNotificationDoesNotCauseCrashForAIVWithOperation, \
            RFC-04 testOperationDidStartNotificationDoesNotCauseCrashForUIRCWithOperation
            """
        case end = """
            AIV-02 testTaskDidCompleteNotificationDoesNotCauseCrashForAIVWithTask, \
            RFC-02 testTaskDidCompleteNotificationDoesNotCauseCrashForUIRCWithTask, \
            AIV-05 testOperationDidFinishNotificationDoesNotCauseCrashForAIVWithOperation, \
            RFC-05 testOperationDidFinishNotificationDoesNotCauseCrashForUIRCWithOperation
            """
        case pause = """
            AIV-03 testTaskDidSuspendNotificationDoesNotCauseCrashForAIVWithTask, \
            RFC-03 testTaskDidSuspendNotificationDoesNotCauseCrashForUIRCWithTask
            """

        var testDescription: String { rawValue }
    }

    @Test(.enabled(if: RealServers.httpbin != nil), arguments: Moment.allCases)
    func theViewOfAnOperationIsReleasedBefore(moment: Moment) async throws {
        let url = try #require(RealServers.httpbin).appendingPathComponent("delay/1")
        let operation = operation(URLRequest(url: url))
        let isReported = Gate()
        operation.completionBlock = { isReported.open() }
        try await release(
            before: moment,
            addSpinner: { operation.addObserver($0) },
            start: operation.start,
            pause: operation.pause,
            resume: operation.resume
        )
        try await isReported.wait()
        #expect(operation.error == nil && edges.elements == (moment == .start ? [] : [true]))
    }

    @Test(.enabled(if: RealServers.httpbin != nil), arguments: Moment.allCases)
    func theViewOfATaskIsReleasedBefore(moment: Moment) async throws {
        let url = try #require(RealServers.httpbin).appendingPathComponent("delay/1")
        let tasks = Recorder<DataTask>()
        try await release(
            before: moment,
            addSpinner: { session.addObserver($0) },
            start: {
                let task = session.dataTask(with: URLRequest(url: url), completion: ends.handler)
                tasks.append(task)
                task.resume()
            },
            pause: { tasks.elements[0].suspend() },
            resume: { tasks.elements[0].resume() }
        )
        #expect(try await ends.wait().error == nil)
        callbacks.sync {}
        #expect(edges.elements == (moment == .start ? [] : [true]))
    }

    private func release(
        before moment: Moment,
        addSpinner: (NetworkActivityManager) -> Void,
        start: () -> Void,
        pause: () -> Void,
        resume: () -> Void
    ) async throws {
        weak var released: View?
        do {
            let view = View()
            released = view
            addSpinner(spinner(of: view))
            if moment != .start {
                start()
                try await edges.wait()
            }
        }
        // The call that was waited for has returned.
        callbacks.sync {}
        #expect(released == nil)
        switch moment {
        case .start: start()
        case .end: break
        case .pause:
            pause()
            resume()
        }
    }

    // MARK: - Web view

    /// Shows the last page that was requested.
    @MainActor private final class PageView {
        let shown = Recorder<String>()
        let counts = Recorder<[Int64]>()
        private let manager: OperationManager
        var load: Task<Void, Never>? { didSet { oldValue?.cancel() } }

        init(_ manager: OperationManager = OperationManager()) {
            self.manager = manager
        }

        func show(_ request: URLRequest) {
            load = Task {
                let page = try? await manager.response(
                    for: request,
                    with: StringResponseSerializer(),
                    progress: { progress in
                        self.counts.append([progress.completedUnitCount, progress.totalUnitCount])
                    }
                )
                if let page, !Task.isCancelled {
                    shown.append("\(page.response.url?.path ?? "-") \(page.value)")
                }
            }
        }
    }

    @MainActor @Test func aPageIsShownWithItsURLAndInItsCharacterSet() async throws {
        let page = Data([0x3C, 0xFC, 0x3E])
        let server = try ScriptedServer(
            routes: [
                "/from": [.redirect(to: "/a/page")],
                "/a/page": [
                    .respond(200, ["Content-Type": "Text/HTML ;Charset=\"ISO-8859-1\""], body: .data(page))
                ],
            ]
        )
        let view = PageView()
        view.show(URLRequest(url: server.url(path: "/from")))
        await view.load?.value
        #expect(view.shown.elements == ["/a/page <\u{fc}>"])
    }

    @MainActor @Test func onlyTheLastPageIsShown() async throws {
        let gate = Gate()
        let server = try ScriptedServer(
            routes: [
                "/slow": [.respond(body: "slow").held(by: gate)],
                "/fast": [.respond(body: "fast")],
            ]
        )
        let manager = OperationManager()
        let view = PageView(manager)
        view.show(URLRequest(url: server.url(path: "/slow")))
        let slow = try #require(view.load)
        try await gate.waitForArrivals()
        let operation = try #require(manager.operationQueue.operations.first)
        view.show(URLRequest(url: server.url(path: "/fast")))
        #expect(operation.isCancelled)
        await view.load?.value
        gate.open()
        await slow.value
        #expect(view.shown.elements == ["/fast fast"])
    }

    @MainActor @Test func aPageThatFailsIsNotShown() async throws {
        let server = try ScriptedServer([.respond(404)])
        let view = PageView()
        view.show(URLRequest(url: server.url))
        await view.load?.value
        #expect(view.shown.elements.isEmpty)
    }

    private func request(_ path: String) throws -> URLRequest {
        URLRequest(url: try #require(RealServers.httpbin).appendingPathComponent(path))
    }

    @MainActor
    @Test(
        "testNilProgressDoesNotCauseCrash, testNUllProgressDoesNotCauseCrash",
        .enabled(if: RealServers.httpbin != nil)
    )
    func withoutProgress() async throws {
        let page = try await OperationManager().response(
            for: request("html"),
            with: StringResponseSerializer()
        )
        #expect(page.value.contains("Moby-Dick") && page.response.mimeType == "text/html")
    }

    @MainActor @Test(.enabled(if: RealServers.httpbin != nil)) func testProgressIsSet() async throws {
        let view = PageView()
        view.show(try request("html"))
        await view.load?.value
        let length = Int64(try #require(view.shown.elements.first).utf8.count - "/html ".utf8.count)
        #expect(view.counts.elements.last == [length, length] && length > 1_000)
    }

    @MainActor @Test(.enabled(if: RealServers.httpbin != nil)) func testRequestWithCustomHeaders()
        async throws
    {
        var request = try request("headers")
        request.setValue("Custom-Header-Value", forHTTPHeaderField: "Custom-Header-Field")
        let view = PageView()
        view.show(request)
        await view.load?.value
        let shown = try #require(view.shown.elements.first)
        #expect(shown.contains(#""Custom-Header-Field": "Custom-Header-Value""#))
    }
}
