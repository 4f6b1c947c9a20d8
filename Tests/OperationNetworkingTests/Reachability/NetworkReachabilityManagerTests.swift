import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A manager in front of a kernel that does what the test says.
@Suite(.timeLimit(.minutes(1)))
struct NetworkReachabilityManagerTests {
    /// A status that was reported, and `isReachable` at that moment.
    struct ReceivedStatus: Hashable, Sendable {
        let source: String
        let status: NetworkReachabilityStatus
        let isReachable: Bool

        init(_ source: String, _ status: NetworkReachabilityStatus, _ isReachable: Bool) {
            (self.source, self.status, self.isReachable) = (source, status, isReachable)
        }
    }

    private final class StatusRecorder: Sendable {
        let received = Recorder<ReceivedStatus>()
        private let token = Locked<(any NSObjectProtocol)?>(nil)

        init(_ manager: NetworkReachabilityManager) {
            manager.setStatusChange { [received, unowned manager] in
                received.append(ReceivedStatus("closure", $0, manager.isReachable))
            }
            let token = NotificationCenter.default.addObserver(
                forName: .reachabilityDidChange,
                object: manager,
                queue: nil
            ) { [received] notification in
                let key = NetworkReachabilityManager.statusUserInfoKey
                guard let sender = notification.object as? NetworkReachabilityManager,
                    let status = notification.userInfo?[key] as? NetworkReachabilityStatus
                else { return }
                received.append(ReceivedStatus("notification", status, sender.isReachable))
            }
            self.token.withLock { $0 = token }
        }

        deinit {
            token.withLock { $0 }.map { NotificationCenter.default.removeObserver($0) }
        }
    }

    // MARK: - Statuses

    @Test func theFirstStatusIsKnownWhenStartReturns() {
        let manager = ReachabilityScene(ScriptedRoutes.up).manager()
        #expect(manager.status == .unknown && !manager.isReachable)
        manager.startMonitoring()
        #expect(manager.status == .reachableViaWiFi && manager.isReachable)
        #expect(manager.isReachableViaWiFi && !manager.isReachableViaWWAN)
    }

    @Test func isReachableHasTheNewValueInTheClosureAndTheNotification() async throws {
        let scene = ReachabilityScene()
        let manager = scene.manager()
        let recorder = StatusRecorder(manager)
        manager.startMonitoring()
        try await recorder.received.wait(count: 2)
        scene.routes.become(ScriptedRoutes.up)
        try await recorder.received.wait(count: 4)
        scene.routes.become(ScriptedRoutes.mobile)
        let received = try await recorder.received.wait(count: 6)
        #expect(
            received == [
                ReceivedStatus("closure", .notReachable, false),
                ReceivedStatus("notification", .notReachable, false),
                ReceivedStatus("closure", .reachableViaWiFi, true),
                ReceivedStatus("notification", .reachableViaWiFi, true),
                ReceivedStatus("closure", .reachableViaWWAN, true),
                ReceivedStatus("notification", .reachableViaWWAN, true),
            ]
        )
    }

    @Test func isReachableHasTheNewValueWhenTheSequenceDeliversIt() async throws {
        let scene = ReachabilityScene()
        let manager = scene.manager()
        var statuses = manager.statuses.makeAsyncIterator()
        #expect(await statuses.next() == .notReachable)
        scene.routes.become(ScriptedRoutes.up)
        #expect(await statuses.next() == .reachableViaWiFi)
        #expect(manager.isReachable)
        scene.routes.become(ScriptedRoutes.down)
        #expect(await statuses.next() == .notReachable)
        #expect(!manager.isReachable)
    }

    @Test func whatDoesNotChangeTheStatusIsNotReported() async throws {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let manager = scene.manager()
        let recorder = StatusRecorder(manager)
        manager.startMonitoring()
        scene.routes.murmur()
        scene.routes.become(ScriptedRoutes.up)
        scene.routes.become(ScriptedRoutes.up)
        try await recorder.received.wait(count: 2)
        scene.routes.become(ScriptedRoutes.down)
        let received = try await recorder.received.wait(count: 4)
        #expect(
            received.map(\.status) == [.reachableViaWiFi, .reachableViaWiFi, .notReachable, .notReachable]
        )
    }

    @Test func eachStartReportsOnce() async throws {
        let manager = ReachabilityScene(ScriptedRoutes.up).manager()
        let recorder = StatusRecorder(manager)
        manager.startMonitoring()
        try await recorder.received.wait(count: 2)
        manager.startMonitoring()
        try await recorder.received.wait(count: 4)
        manager.stopMonitoring()
        manager.startMonitoring()
        let received = try await recorder.received.wait(count: 6)
        #expect(received.allSatisfy { $0.status == .reachableViaWiFi && $0.isReachable })
    }

    @Test func afterAStopTheStatusStays() async throws {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let (stopped, other) = (scene.manager(), scene.manager())
        let (silent, recorder) = (StatusRecorder(stopped), StatusRecorder(other))
        stopped.startMonitoring()
        other.startMonitoring()
        try await silent.received.wait(count: 2)
        // Or it would receive only the newest.
        try await recorder.received.wait(count: 2)
        stopped.stopMonitoring()
        scene.routes.become(ScriptedRoutes.down)
        // Both receive on one queue, so a report to the first one would have arrived by now.
        try await recorder.received.wait(count: 4)
        #expect(stopped.status == .reachableViaWiFi)
        #expect(silent.received.elements.count == 2)
    }

    @Test func aQueueThatIsLateGetsTheNewestStatus() async throws {
        let scene = ReachabilityScene()
        let manager = scene.manager()
        let recorder = StatusRecorder(manager)
        let gate = Gate()
        scene.callbacks.async { try? gate.waitSynchronously() }
        try await gate.waitForArrivals()
        manager.startMonitoring()
        for table in [ScriptedRoutes.up, ScriptedRoutes.down, ScriptedRoutes.mobile] {
            scene.routes.become(table)
            // The monitor's queue has been through it.
            _ = scene.isMonitoring
        }
        gate.open()
        let received = try await recorder.received.wait(count: 2)
        #expect(received.map(\.status) == [.reachableViaWWAN, .reachableViaWWAN])
    }

    @Test(
        arguments: [
            (.unknown, "Unknown"), (.notReachable, "Not Reachable"),
            (.reachableViaWWAN, "Reachable via WWAN"),
            (.reachableViaWiFi, "Reachable via WiFi"),
        ] as [(NetworkReachabilityStatus, String)]
    )
    func statusesHaveAFNetworkingsNumbersAndWords(status: NetworkReachabilityStatus, text: String) {
        #expect(status.description == text)
        #expect(NetworkReachabilityStatus.allCases.map(\.rawValue) == [-1, 0, 1, 2])
        #expect(status.isReachable == (status.rawValue > 0))
    }

    @Test func aManagerSaysItsStatusInWords() {
        let manager = ReachabilityScene(ScriptedRoutes.mobile).manager()
        #expect(manager.localizedStatus == "Unknown")
        manager.startMonitoring()
        #expect(manager.localizedStatus == "Reachable via WWAN")
    }

    // MARK: - Where

    @Test func closuresComeOnTheCompletionQueue() async throws {
        let manager = ReachabilityScene(ScriptedRoutes.up).manager()
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "own")
        queue.setSpecific(key: key, value: true)
        manager.completionQueue = queue
        let received = Recorder<Bool>()
        manager.setStatusChange { _ in received.append(DispatchQueue.getSpecific(key: key) == true) }
        manager.startMonitoring()
        #expect(try await received.wait() == [true])
    }

    @Test func withoutACompletionQueueItIsMain() async throws {
        let manager = ReachabilityScene(ScriptedRoutes.up).manager()
        manager.completionQueue = nil
        let (received, key) = (Recorder<Bool>(), DispatchSpecificKey<Bool>())
        DispatchQueue.main.setSpecific(key: key, value: true)
        manager.setStatusChange { _ in received.append(DispatchQueue.getSpecific(key: key) == true) }
        manager.startMonitoring()
        #expect(try await received.wait() == [true])
    }

    // MARK: - Life

    @Test func aManagerThatIsReleasedStops() async throws {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        weak var released: NetworkReachabilityManager?
        do {
            let manager = scene.manager()
            manager.setStatusChange { _ in }
            manager.startMonitoring()
            released = manager
            #expect(scene.isMonitoring && scene.routes.isOpen)
        }
        // A delivery may hold it for a moment.
        scene.callbacks.sync {}
        #expect(released == nil)
        #expect(!scene.isMonitoring && !scene.routes.isOpen)
    }

    @Test func theSocketsAreOpenWhileAManagerNeedsThem() {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let managers = [scene.manager(), scene.manager()]
        #expect(!scene.isMonitoring)
        for manager in managers { manager.startMonitoring() }
        managers[0].stopMonitoring()
        #expect(scene.isMonitoring)
        managers[1].stopMonitoring()
        #expect(!scene.isMonitoring)
        managers[0].startMonitoring()
        #expect(scene.isMonitoring && managers[0].isReachable)
        managers[0].stopMonitoring()
    }

    @Test func aSequenceMonitorsUntilItIsReleased() async {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let manager = scene.manager()
        do {
            var statuses: NetworkReachabilityManager.Statuses.AsyncIterator? = manager.statuses
                .makeAsyncIterator()
            #expect(await statuses?.next() == .reachableViaWiFi)
            #expect(scene.isMonitoring)
            statuses = nil
        }
        #expect(!scene.isMonitoring)
    }

    @Test func aSequenceEndsWithItsTask() async throws {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let manager = scene.manager()
        let received = Recorder<NetworkReachabilityStatus>()
        let task = Task { for await status in manager.statuses { received.append(status) } }
        try await received.wait()
        task.cancel()
        await task.value
        #expect(!scene.isMonitoring)
    }

    @Test func aSequenceKeepsItsManager() async {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        var statuses = scene.manager().statuses.makeAsyncIterator()
        #expect(await statuses.next() == .reachableViaWiFi)
        scene.routes.become(ScriptedRoutes.down)
        #expect(await statuses.next() == .notReachable)
    }

    @Test func sequencesDoNotDisturbEachOther() async {
        let scene = ReachabilityScene()
        let manager = scene.manager()
        var first = manager.statuses.makeAsyncIterator()
        var second = manager.statuses.makeAsyncIterator()
        #expect(await first.next() == .notReachable)
        scene.routes.become(ScriptedRoutes.up)
        #expect(await first.next() == .reachableViaWiFi)
        // The newest; or, until the second one is reported as well, the one before.
        var status = await second.next()
        if status == .notReachable { status = await second.next() }
        #expect(status == .reachableViaWiFi)
    }

    @Test func withoutDescriptorsTheStatusIsUnknownAndTheReasonIsKnown() {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let manager = scene.manager()
        scene.routes.fail(SystemError(EMFILE, "socket"))
        manager.startMonitoring()
        #expect(manager.status == .unknown)
        #expect((manager.monitoringError as? POSIXError)?.code == .EMFILE)
        scene.routes.fail(nil)
        manager.startMonitoring()
        #expect(manager.isReachable && manager.monitoringError == nil)
    }

    @Test func aChangeThatCouldNotBeReadIsReadLater() async throws {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let manager = scene.manager()
        manager.startMonitoring()
        scene.routes.fail(SystemError(ENOBUFS, "recvfrom"))
        scene.routes.become(ScriptedRoutes.down)
        try await scene.retries.wait()
        // What changes meanwhile begins no row of tries of its own.
        scene.routes.become(ScriptedRoutes.mobile)
        _ = scene.isMonitoring
        #expect(manager.status == .reachableViaWiFi && scene.retries.elements.map(\.seconds) == [0.1])
        scene.retries.elements[0].end()
        let next = try await scene.retries.wait(count: 2)[1]
        #expect(next.seconds == 0.4)
        scene.routes.fail(nil)
        next.end()
        _ = scene.isMonitoring
        #expect(manager.status == .reachableViaWWAN && scene.retries.elements.count == 2)
    }

    // MARK: - Addresses and names

    private static func destination(_ text: String) throws -> RouteDestination {
        RouteDestination(try #require(InternetAddress(text)))
    }

    private static let route = NetworkRoute(family: .ipv4, prefixLength: 32, hops: [.init(interface: 2)])

    @Test func anAddressIsReachableWhenTheKernelHasARouteToIt() async throws {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let destination = try Self.destination("192.0.2.1")
        let manager = try #require(scene.manager(ofAddress: "192.0.2.1"))
        let recorder = StatusRecorder(manager)
        manager.startMonitoring()
        #expect(manager.status == .notReachable)
        try await recorder.received.wait(count: 2)
        scene.routes.become(ScriptedRoutes.mobile, routes: [destination: Self.route])
        #expect(
            try await recorder.received.wait(count: 4).last
                == ReceivedStatus("notification", .reachableViaWWAN, true)
        )
        // Where the kernel cannot be asked, what is known stays.
        scene.routes.fail(SystemError(ENOBUFS, "recvfrom"))
        scene.routes.become(ScriptedRoutes.down)
        _ = scene.isMonitoring
        #expect(manager.status == .reachableViaWWAN)
    }

    @Test func aDomainIsUnknownUntilItsNameWasLookedUp() async throws {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let (first, second) = (try Self.destination("192.0.2.1"), try Self.destination("2001:db8::1"))
        let manager = scene.manager(ofHost: "example.com")
        let recorder = StatusRecorder(manager)
        manager.startMonitoring()
        #expect(manager.status == .unknown)
        let question = try #require(try await scene.questions.wait().first)
        #expect(question.name == "example.com")
        scene.routes.become(ScriptedRoutes.up, routes: [second: Self.route])
        question.answer(.found([first, second]))
        #expect(
            try await recorder.received.wait(count: 2) == [
                ReceivedStatus("closure", .reachableViaWiFi, true),
                ReceivedStatus("notification", .reachableViaWiFi, true),
            ]
        )
    }

    @Test func aDomainIsLookedUpAgainWhenRoutesChange() async throws {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let (first, second) = (try Self.destination("192.0.2.1"), try Self.destination("192.0.2.2"))
        let manager = scene.manager(ofHost: "example.com")
        let recorder = StatusRecorder(manager)
        manager.startMonitoring()
        try await scene.questions.wait()[0].answer(.found([first]))
        #expect(try await recorder.received.wait(count: 2).last?.status == .notReachable)
        scene.routes.become(ScriptedRoutes.up, routes: [second: Self.route])
        try await scene.questions.wait(count: 2)[1].answer(.found([second]))
        #expect(try await recorder.received.wait(count: 4).last?.status == .reachableViaWiFi)
    }

    @Test func aDomainWithoutAddressesIsNotReachable() async throws {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let manager = scene.manager(ofHost: "no.such.invalid")
        let recorder = StatusRecorder(manager)
        manager.startMonitoring()
        try await scene.questions.wait()[0].answer(.none)
        #expect(try await recorder.received.wait(count: 2).last?.status == .notReachable)
        #expect(scene.waits.elements.isEmpty)
    }

    @Test func aDomainThatCannotBeLookedUpNowIsLookedUpLater() async throws {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        let destination = try Self.destination("192.0.2.1")
        let manager = scene.manager(ofHost: "example.com")
        let recorder = StatusRecorder(manager)
        manager.startMonitoring()
        scene.routes.become(ScriptedRoutes.up, routes: [destination: Self.route])
        _ = scene.isMonitoring
        try await scene.questions.wait()[0].answer(.temporaryFailure)
        // Asked again meanwhile because the routes changed.
        try await scene.questions.wait(count: 2)[1].answer(.temporaryFailure)
        #expect(try await recorder.received.wait(count: 2).last?.status == .notReachable)
        let wait = try #require(try await scene.waits.wait().first)
        #expect(wait.seconds == 0.5)
        wait.end()
        try await scene.questions.wait(count: 3)[2].answer(.found([destination]))
        #expect(try await recorder.received.wait(count: 4).last?.status == .reachableViaWiFi)
    }

    @Test func aReleasedManagerWaitsForNoLookup() async throws {
        let scene = ReachabilityScene(ScriptedRoutes.up)
        weak var released: NetworkReachabilityManager?
        do {
            let manager = scene.manager(ofHost: "example.com")
            manager.startMonitoring()
            released = manager
        }
        let question = try #require(try await scene.questions.wait().first)
        _ = scene.isMonitoring
        #expect(released == nil)
        question.answer(.temporaryFailure)
        #expect(scene.waits.elements.isEmpty && !scene.isMonitoring)
    }

    // MARK: - The idiom

    @Test func aQueueIsSuspendedWithoutANetwork() async throws {
        let scene = ReachabilityScene()
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let queue = OperationQueue()
        let manager = scene.manager()
        let received = Recorder<NetworkReachabilityStatus>()
        manager.setStatusChange { status in
            queue.isSuspended = !status.isReachable
            received.append(status)
        }
        manager.startMonitoring()
        try await received.wait()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        queue.addOperation(operation)
        #expect(queue.isSuspended && !operation.isExecuting && !operation.isFinished)
        #expect(server.requests.isEmpty)
        scene.routes.become(ScriptedRoutes.up)
        #expect(try await operation.value as? Data == Data("hello".utf8))
        scene.routes.become(ScriptedRoutes.down)
        #expect(try await received.wait(count: 3) == [.notReachable, .reachableViaWiFi, .notReachable])
        #expect(queue.isSuspended)
    }
}
