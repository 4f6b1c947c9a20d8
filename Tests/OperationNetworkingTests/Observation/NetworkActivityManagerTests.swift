import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The manager in front of operations and a clock of the test's. AFNetworking's own tests are ACT-01 and
/// ACT-02, replayed on httpbin, and those of 3.x for the delays and for one call for each edge, which hold
/// their answers: httpbin cannot. `Tests/AFNetworking.md` has them all.
@Suite(.timeLimit(.minutes(1)))
struct NetworkActivityManagerTests {
    private struct Wait: Sendable {
        let seconds: TimeInterval
        let end: @Sendable () -> Void
    }

    private let waits = Recorder<Wait>()
    private let edges = Recorder<Bool>()
    private let callbacks = DispatchQueue(label: "callbacks")
    private let manager: NetworkActivityManager

    init() {
        manager = .onClock { [waits] seconds, end in waits.append(Wait(seconds: seconds, end: end)) }
        manager.completionQueue = callbacks
        manager.setNetworkingActivityAction { [edges] in edges.append($0) }
        manager.isEnabled = true
    }

    private func operation(_ url: URL, observed: Bool = true) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.completionQueue = callbacks
        if observed { operation.addObserver(manager) }
        return operation
    }

    @Test("testThatVisibilityDelaysAreApplied") func anOperationIsShownWhileItRuns() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let operation = operation(server.url)
        operation.start()
        let start = try #require(try await waits.wait().first)
        #expect(start.seconds == 1 && !manager.isNetworkActivityIndicatorVisible)
        start.end()
        #expect(manager.isNetworkActivityIndicatorVisible)
        #expect(try await edges.wait() == [true])
        gate.open()
        let end = try await waits.wait(count: 2)[1]
        #expect(end.seconds == 0.17 && manager.isNetworkActivityIndicatorVisible)
        end.end()
        #expect(!manager.isNetworkActivityIndicatorVisible)
        #expect(try await edges.wait(count: 2) == [true, false])
    }

    @Test func aPausedOperationIsNotActive() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let operation = operation(server.url)
        operation.start()
        try await waits.wait()[0].end()
        operation.pause()
        try await waits.wait(count: 2)[1].end()
        operation.resume()
        try await waits.wait(count: 3)[2].end()
        #expect(try await edges.wait(count: 3) == [true, false, true])
        operation.cancel()
        try await waits.wait(count: 4)[3].end()
        #expect(try await edges.wait(count: 4) == [true, false, true, false])
        gate.open()
    }

    // MARK: - Added and removed meanwhile

    @Test func anOperationThatRunsAlreadyIsCounted() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let operation = operation(server.url, observed: false)
        let started = Gate()
        let witness = StartWitness { _ in started.open() }
        operation.addObserver(witness)
        operation.start()
        try await started.wait()
        callbacks.sync {}
        operation.addObserver(manager)
        try await waits.wait()[0].end()
        #expect(manager.isNetworkActivityIndicatorVisible)
        gate.open()
        try await waits.wait(count: 2)[1].end()
        #expect(try await edges.wait(count: 2) == [true, false])
    }

    @Test func anOperationThatIsPausedOrOverIsNotCounted() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let (over, paused) = (operation(server.url, observed: false), operation(server.url, observed: false))
        let ended = Gate()
        over.completionBlock = { ended.open() }
        over.start()
        try await ended.wait()
        paused.pause()
        for operation in [over, paused] { operation.addObserver(manager) }
        callbacks.sync {}
        #expect(waits.elements.isEmpty)
        paused.cancel()
    }

    enum Removal: CaseIterable {
        case fromOperation, ofObservation, fromManager, ofManagersObservation
    }

    @Test(arguments: Removal.allCases)
    func anOperationThatItIsRemovedFromCountsNoLonger(removal: Removal) async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let owner = OperationManager()
        owner.completionQueue = callbacks
        owner.responseSerializer = HTTPResponseSerializer()
        let viaOwner = owner.addObserver(manager)
        let request = URLRequest(url: server.url)
        let operation: HTTPRequestOperation
        var observation: OperationObservation?
        switch removal {
        case .fromOperation, .fromManager, .ofManagersObservation:
            operation = owner.operation(for: request)
        case .ofObservation:
            operation = self.operation(server.url, observed: false)
            observation = operation.addObserver(manager)
        }
        operation.start()
        try await waits.wait()[0].end()
        #expect(manager.isNetworkActivityIndicatorVisible)
        switch removal {
        case .fromOperation: operation.removeObserver(manager)
        case .ofObservation: observation?.end()
        case .fromManager: owner.removeObserver(manager)
        case .ofManagersObservation: viaOwner.end()
        }
        try await waits.wait(count: 2)[1].end()
        #expect(!manager.isNetworkActivityIndicatorVisible)
        gate.open()
        _ = try await operation.value
        callbacks.sync {}
        #expect(waits.elements.count == 2)
    }

    @Test func oneOfTwoWaysToObserveAnOperationIsEnough() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let owner = OperationManager()
        owner.completionQueue = callbacks
        owner.addObserver(manager)
        let operation = owner.operation(for: URLRequest(url: server.url))
        operation.addObserver(manager)
        operation.start()
        try await waits.wait()[0].end()
        owner.removeObserver(manager)
        #expect(waits.elements.count == 1 && manager.isNetworkActivityIndicatorVisible)
        gate.open()
        try await waits.wait(count: 2)[1].end()
        #expect(!manager.isNetworkActivityIndicatorVisible)
    }

    /// Calls a closure at the start.
    private final class StartWitness: OperationObserver {
        let body: @Sendable (ConnectionOperation) -> Void

        init(_ body: @escaping @Sendable (ConnectionOperation) -> Void) {
            self.body = body
        }

        func operationDidStart(_ operation: ConnectionOperation) {
            body(operation)
        }
    }

    @Test func aStartThatIsReportedAfterTheRemovalCountsNothing() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let operation = operation(server.url, observed: false)
        // It is called before the manager.
        operation.addObserver(StartWitness { [manager] in $0.removeObserver(manager) })
        operation.addObserver(manager)
        operation.start()
        _ = try await operation.value
        callbacks.sync {}
        for wait in waits.elements { wait.end() }
        #expect(!manager.isNetworkActivityIndicatorVisible)
    }

    @Test("testThatIndicatorBlockIsOnlyCalledOnceEachForStartAndEndForMultipleRequests")
    func operationsThatOverlapHaveOneCallForEachEdge() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        // A manager of its own keeps it active throughout.
        manager.incrementActivityCount()
        try await waits.wait()[0].end()
        let ended = Recorder<Void>()
        for _ in 0..<5 {
            let operation = operation(server.url)
            operation.completionBlock = { ended.append(()) }
            operation.start()
        }
        try await ended.wait(count: 5)
        manager.decrementActivityCount()
        try await waits.wait(count: 2)[1].end()
        #expect(try await edges.wait(count: 2) == [true, false])
        #expect(waits.elements.count == 2)
    }

    @Test func aDisabledManagerReportsNothing() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        manager.isEnabled = false
        let operation = operation(server.url)
        let ended = Gate()
        operation.completionBlock = { ended.open() }
        operation.start()
        try await ended.wait()
        #expect(waits.elements.isEmpty && edges.elements.isEmpty)
    }

    @Test func theActionIsCalledOnTheMainQueueByDefault() async throws {
        let (events, key) = (Recorder<Bool>(), DispatchSpecificKey<Bool>())
        DispatchQueue.main.setSpecific(key: key, value: true)
        manager.completionQueue = nil
        manager.setNetworkingActivityAction { _ in events.append(DispatchQueue.getSpecific(key: key) == true)
        }
        manager.incrementActivityCount()
        try await waits.wait()[0].end()
        #expect(try await events.wait() == [true])
    }

    /// The last that kept it is gone when the indicator is to be hidden.
    @Test func anIndicatorOfAnOperationNeedsNoOwner() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let operation = operation(server.url, observed: false)
        weak var released: NetworkActivityManager?
        do {
            let indicator = NetworkActivityManager(activationDelay: 0) { [edges] in edges.append($0) }
            #expect(indicator.isEnabled && indicator.completionDelay == 0.17)
            indicator.completionQueue = callbacks
            operation.addObserver(indicator)
            released = indicator
        }
        operation.start()
        #expect(try await edges.wait() == [true])
        gate.open()
        #expect(try await edges.wait(count: 2) == [true, false])
        // When the last thread is done with it.
        try await eventually { released == nil }
    }

    @Test func theDelaysAreAFNetworkings() {
        let manager = NetworkActivityManager()
        #expect(manager.activationDelay == 1 && manager.completionDelay == 0.17 && !manager.isEnabled)
        manager.activationDelay = 2
        manager.completionDelay = 3
        #expect(manager.activationDelay == 2 && manager.completionDelay == 3)
    }

    // MARK: - AFNetworking's

    /// Runs a request, and expects that it is shown while it runs and not afterwards.
    private func expectActivity(of manager: NetworkActivityManager, after begin: () -> Void) async throws {
        manager.completionQueue = callbacks
        manager.setNetworkingActivityAction { [edges] in edges.append($0) }
        manager.isEnabled = true
        begin()
        #expect(try await edges.wait(count: 2) == [true, false])
        #expect(!manager.isNetworkActivityIndicatorVisible)
    }

    /// The shared one without delays, which is put back afterwards.
    private func withShared(_ body: (NetworkActivityManager) async throws -> Void) async throws {
        let shared = NetworkActivityManager.shared
        defer {
            shared.isEnabled = false
            shared.setNetworkingActivityAction(nil)
            (shared.activationDelay, shared.completionDelay, shared.completionQueue) = (1, 0.17, nil)
        }
        (shared.activationDelay, shared.completionDelay) = (0, 0)
        try await body(shared)
    }

    /// The task posts its own.
    @Test func theOperationOfATaskPostsNoNotifications() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let names = Recorder<Notification.Name>()
        let port = server.url.port
        let tokens = [Notification.Name.operationDidStart, .operationDidFinish].map { name in
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                if ($0.object as? ConnectionOperation)?.request.url?.port == port { names.append(name) }
            }
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        let session = URLSessionManager.forTests()
        session.responseSerializer = HTTPResponseSerializer()
        let end = Gate()
        session.dataTask(with: URLRequest(url: server.url)) { _, _, _ in end.open() }.resume()
        try await end.wait()
        #expect(names.elements.isEmpty)
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = callbacks
        operation.start()
        #expect(try await names.wait(count: 2) == [.operationDidStart, .operationDidFinish])
    }

    @Test func aTaskOfASessionIsCounted() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let session = URLSessionManager.forTests()
        session.responseSerializer = HTTPResponseSerializer()
        let task = session.dataTask(with: URLRequest(url: server.url), completion: nil)
        async let isShown = edges.wait()
        async let isOver: Void = withShared { try await expectActivity(of: $0, after: task.resume) }
        #expect(try await isShown == [true])
        gate.open()
        try await isOver
    }

    /// By the shared one, which observes operations that do not refer to it.
    @Test(
        """
        ACT-01 testThatNetworkActivityIndicatorTurnsOffIndicatorWhenRequestSucceeds, \
        testThatNetworkActivityIndicatorTurnsOnAndOffIndicatorWhenRequestSucceeds
        """,
        .enabled(if: RealServers.httpbin != nil)
    )
    func afterSuccess() async throws {
        let base = try #require(RealServers.httpbin)
        let operation = operation(base.appendingPathComponent("delay/1"), observed: false)
        try await withShared { try await expectActivity(of: $0, after: operation.start) }
        #expect(try await operation.value != nil)
    }

    /// By one whose clock is ahead: this request is over in a moment.
    @Test(
        """
        ACT-02 testThatNetworkActivityIndicatorTurnsOffIndicatorWhenRequestFails, \
        testThatNetworkActivityIndicatorTurnsOnAndOffIndicatorWhenRequestFails
        """,
        .enabled(if: RealServers.httpbin != nil)
    )
    func afterFailure() async throws {
        let base = try #require(RealServers.httpbin)
        // The start's delay has passed at once, the end's when the start has been shown: a queue that is late receives
        // only the newest value.
        let manager = NetworkActivityManager.onClock { [waits] seconds, end in
            if seconds == 1 { end() } else { waits.append(Wait(seconds: seconds, end: end)) }
        }
        let operation = operation(base.appendingPathComponent("status/500"), observed: false)
        operation.addObserver(manager)
        async let isOver: Void = expectActivity(of: manager, after: operation.start)
        #expect(try await edges.wait() == [true])
        try await waits.wait()[0].end()
        try await isOver
        await #expect(throws: (any Error).self) { try await operation.value }
    }
}
