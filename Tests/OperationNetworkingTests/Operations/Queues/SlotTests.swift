import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// A paused operation gives its slot back to its queue, and gets one again.
@Suite(.timeLimit(.minutes(1)))
struct SlotTests {
    /// An ordinary queue does not report that its limit was set.
    enum Kind: CaseIterable, Sendable {
        case foundations
        case ours

        func queue(limit: Int) -> OperationQueue {
            let queue =
                switch self {
                case .foundations: OperationQueue()
                case .ours: TransferQueue()
                }
            queue.maxConcurrentOperationCount = limit
            return queue
        }
    }

    private static let body = PatternBody(length: 100_000)

    /// A server whose answers stop after 1,000 bytes of the body until the gate of their path opens, and operations
    /// on it.
    private final class Scene: Sendable {
        let server: ScriptedServer
        let gates: [String: Gate]
        private let callbacks = DispatchQueue(label: "callbacks")

        init(_ paths: String...) throws {
            let gates = Dictionary(uniqueKeysWithValues: paths.map { ("/" + $0, Gate()) })
            self.gates = gates
            let representation = Representation(.pattern(body), entityTag: .strong("v1"))
            server = try ScriptedServer(
                routes: gates.mapValues { gate in
                    [.representation(representation).held(after: .body(1000), by: gate)]
                },
                otherwise: [.representation(representation)]
            )
        }

        func operation(_ path: String) -> HTTPRequestOperation {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: "/" + path)))
            operation.completionQueue = callbacks
            operation.name = path
            return operation
        }

        func open(_ path: String) {
            gates["/" + path]?.open()
        }

        /// The paths asked for, in order.
        var asked: [String] { server.requests.map { String($0.path.dropFirst()) } }

        func waitForRequests(_ count: Int) async throws {
            try await server.waitForRequests(count: count)
        }

        func expectBody(_ operation: HTTPRequestOperation) async throws {
            #expect(try await operation.value as? Data == body.data)
        }

        /// Opens the gates of all of them, and then they end with their bodies.
        func finish(_ operations: HTTPRequestOperation...) async throws {
            for operation in operations { open(operation.name ?? "") }
            for operation in operations { try await expectBody(operation) }
        }

        /// Operations on "a", "b" and "c" in a queue for one at a time: the first is paused, and the second has
        /// its slot.
        func pauseFirst(in queue: OperationQueue) async throws -> (
            a: HTTPRequestOperation, b: HTTPRequestOperation, c: HTTPRequestOperation
        ) {
            let (a, b, c) = (operation("a"), operation("b"), operation("c"))
            for operation in [a, b, c] { queue.addOperation(operation) }
            try await waitForRequests(1)
            a.pause()
            try await waitForRequests(2)
            return (a, b, c)
        }

        /// `operation`, which has begun or is about to, goes on as soon as its pause ends, and to its end.
        func expectNoWait(_ operation: HTTPRequestOperation) async throws {
            try await waitForRequests(1)
            operation.pause()
            operation.resume()
            #expect(operation.isExecuting)
            try await finish(operation)
        }
    }

    @Test(arguments: Kind.allCases) func aPausedOperationLetsTheNextOneRun(_ kind: Kind) async throws {
        let scene = try Scene("a", "b", "c")
        let queue = kind.queue(limit: 1)
        let (a, b, c) = try await scene.pauseFirst(in: queue)
        #expect(b.isExecuting && !a.isExecuting && a.isPaused)

        a.resume()
        #expect(!a.isPaused && !a.isExecuting)
        // It has its place in the line some time later.
        try await queue.wait { $0 >= 4 }
        scene.open("b")
        try await scene.expectBody(b)
        // At the front of the line, not behind c.
        try await scene.waitForRequests(3)
        #expect(scene.asked == ["a", "b", "a"])
        try await scene.finish(a, c)
        #expect(queue.maxConcurrentOperationCount == 1)
    }

    /// The network thread learns of the pause later, and of the pause of the operation whose slot this one got.
    @Test func theEndOfAWaitBeforeAPauseContinuesNothing() async throws {
        let scene = try Scene("a")
        let operation = scene.operation("a")
        operation.start()
        try await scene.waitForRequests(1)
        let lap = operation.state.withLock { $0.machine.lap }
        operation.pause()
        operation.resume()
        #expect(operation.isExecuting)
        let continuesEarlier = operation.exchangeMayContinue(in: lap) {}
        let continues = operation.exchangeMayContinue(in: lap + 1) {}
        #expect(!continuesEarlier && continues)
        try await scene.finish(operation)
    }

    @Test(arguments: Kind.allCases) func manyPausesLendManySlots(_ kind: Kind) async throws {
        let names = (0..<20).map { "held\($0)" }
        let scene = try Scene("held0", "held1", "held2", "held3", "held4", "held5", "held6", "held7")
        let queue = kind.queue(limit: 2)
        let operations = names.map { scene.operation($0) }
        for operation in operations { queue.addOperation(operation) }
        for first in stride(from: 0, to: 8, by: 2) {
            try await scene.waitForRequests(first + 2)
            #expect(operations.count { $0.isExecuting } == 2)
            operations[first].pause()
            operations[first + 1].pause()
        }
        for operation in operations[8...] { try await scene.expectBody(operation) }
        for name in names { scene.open(name) }
        for operation in operations[..<8] { operation.resume() }
        for operation in operations[..<8] { try await scene.expectBody(operation) }
        #expect(queue.maxConcurrentOperationCount == 2)
    }

    @Test(arguments: Kind.allCases, [1, 5]) func theUsersNewLimitIsKept(_ kind: Kind, _ limit: Int)
        async throws
    {
        let scene = try Scene("a", "b", "c", "d")
        let queue = kind.queue(limit: 2)
        let operations = ["a", "b", "c", "d"].map { scene.operation($0) }
        for operation in operations { queue.addOperation(operation) }
        try await scene.waitForRequests(2)
        operations[0].pause()
        operations[1].pause()
        try await scene.waitForRequests(4)
        queue.maxConcurrentOperationCount = limit
        for operation in operations { operation.resume() }
        for name in ["a", "b", "c", "d"] { scene.open(name) }
        for operation in operations { try await scene.expectBody(operation) }
        #expect(queue.maxConcurrentOperationCount == limit)
    }

    /// Foundation counts the paused ones; without help nothing would start any more.
    @Test func loweringTheLimitBelowWhatIsPausedStallsNothing() async throws {
        let scene = try Scene("a", "b", "c")
        let queue = Kind.ours.queue(limit: 3)
        let paused = ["a", "b", "c"].map { scene.operation($0) }
        for operation in paused { queue.addOperation(operation) }
        try await scene.waitForRequests(3)
        for operation in paused { operation.pause() }
        queue.maxConcurrentOperationCount = 1
        let last = scene.operation("other")
        queue.addOperation(last)
        try await scene.expectBody(last)
        queue.cancelAllOperations()
        for operation in paused { await #expect(throws: URLError.self) { try await operation.value } }
        #expect(queue.maxConcurrentOperationCount == 1)
    }

    /// It does not report its limit: the new one is found when the next operation pauses, goes on or ends.
    @Test func aPlainQueueTakesOverALimitWithTheNextThatContinuesOrEnds() async throws {
        let scene = try Scene("a", "b", "c")
        let queue = Kind.foundations.queue(limit: 3)
        let paused = ["a", "b", "c"].map { scene.operation($0) }
        for operation in paused { queue.addOperation(operation) }
        try await scene.waitForRequests(3)
        for operation in paused { operation.pause() }
        try await eventually { queue.maxConcurrentOperationCount == 6 }
        queue.maxConcurrentOperationCount = 1
        let last = scene.operation("other")
        queue.addOperation(last)
        paused[0].cancel()
        try await scene.expectBody(last)
        queue.cancelAllOperations()
        for operation in paused { await #expect(throws: URLError.self) { try await operation.value } }
        try await queue.waitUntilEmpty()
        #expect(queue.maxConcurrentOperationCount == 1)
    }

    /// The number that an ordinary queue shows while two slots are lent is one that a user may want.
    @Test func aLimitThatIsTheNumberShownElsewhereCounts() async throws {
        let scene = try Scene("a", "b", "c", "d", "e")
        let queue = TransferQueue()
        queue.maxConcurrentOperationCount = 1
        let operations = ["a", "b", "c", "d", "e"].map { scene.operation($0) }
        for operation in operations { queue.addOperation(operation) }
        try await scene.waitForRequests(1)
        operations[0].pause()
        #expect(queue.maxConcurrentOperationCount == 1)
        queue.maxConcurrentOperationCount = 2
        try await scene.waitForRequests(3)
        #expect(queue.maxConcurrentOperationCount == 2)
        #expect(operations.count { $0.isExecuting } == 2)
        queue.cancelAllOperations()
        for operation in operations { _ = await Result(awaiting: { try await operation.value }) }
    }

    @Test(arguments: Kind.allCases, [true, false])
    func aCancelFinishesWhatIsPausedOrWaits(_ kind: Kind, _ waits: Bool) async throws {
        let scene = try Scene("a", "b", "c")
        let queue = kind.queue(limit: 1)
        let (a, b, c) = try await scene.pauseFirst(in: queue)
        if waits { a.resume() }
        a.cancel()
        // While b still has the slot.
        await #expect(throws: URLError.self) { try await a.value }
        #expect(b.isExecuting && !c.isExecuting && scene.asked == ["a", "b"])
        try await scene.finish(b, c)
        #expect(queue.maxConcurrentOperationCount == 1)
    }

    /// The barrier waits for the paused operation; that one must not wait behind the barrier.
    @Test(arguments: Kind.allCases, [1, 2]) func aBarrierBehindAPauseDoesNotDeadlock(
        _ kind: Kind,
        _ limit: Int
    )
        async throws
    {
        let scene = try Scene("a", "b")
        let queue = kind.queue(limit: limit)
        let (a, b, c) = (scene.operation("a"), scene.operation("b"), scene.operation("c"))
        let order = Recorder<String>()
        queue.addOperation(a)
        queue.addOperation(b)
        try await scene.waitForRequests(limit)
        a.pause()
        try await scene.waitForRequests(2)
        queue.addBarrierBlock { order.append("barrier") }
        c.setCompletion(success: { _, _ in order.append("c") }, failure: nil)
        queue.addOperation(c)
        a.resume()
        try await scene.finish(a, b)
        #expect(try await order.wait(count: 2) == ["barrier", "c"])
        #expect(queue.maxConcurrentOperationCount == limit)
    }

    @Test(arguments: Kind.allCases) func aPauseWhileItWaitsWaitsNoLonger(_ kind: Kind) async throws {
        let scene = try Scene("a", "b")
        let queue = kind.queue(limit: 1)
        let (a, _, c) = try await scene.pauseFirst(in: queue)
        for _ in 0..<100 {
            a.resume()
            a.pause()
        }
        // One ticket at most stands in the queue.
        #expect(queue.operations.count <= 4)
        scene.open("b")
        try await scene.expectBody(c)
        #expect(a.isPaused && scene.asked == ["a", "b", "c"])
        a.resume()
        try await scene.finish(a)
        #expect(queue.maxConcurrentOperationCount == 1)
    }

    @Test func aSuspendedQueueLetsNothingContinue() async throws {
        let scene = try Scene("a")
        let queue = Kind.ours.queue(limit: 2)
        let a = scene.operation("a")
        queue.addOperation(a)
        try await scene.waitForRequests(1)
        a.pause()
        try await scene.server.waitForOpenConnections(0)
        queue.isSuspended = true
        a.resume()
        #expect(!a.isExecuting && !a.isPaused)
        queue.isSuspended = false
        try await scene.finish(a)
        #expect(scene.asked == ["a", "a"])
    }

    @Test(arguments: Kind.allCases, [0, OperationQueue.defaultMaxConcurrentOperationCount])
    func noLimitAndTheLimitZeroAreLeftAlone(_ kind: Kind, _ limit: Int) async throws {
        let scene = try Scene("a")
        let queue = kind.queue(limit: 1)
        let a = scene.operation("a")
        queue.addOperation(a)
        try await scene.waitForRequests(1)
        queue.maxConcurrentOperationCount = limit
        a.pause()
        #expect(queue.maxConcurrentOperationCount == limit)
        // It keeps a place that it asks for before it was lent.
        let isLent = Gate()
        QueueSlots.of(queue).settle(a) { isLent.open() }
        try await isLent.wait()
        a.resume()
        #expect(limit != 0 || !a.isExecuting)
        #expect(queue.maxConcurrentOperationCount == limit)
        if limit == 0 {
            queue.maxConcurrentOperationCount = 1
            // A plain queue is looked at then.
            a.pause()
            a.resume()
        }
        try await scene.finish(a)
    }

    @Test func withoutAQueueItContinuesAtOnce() async throws {
        let scene = try Scene("a")
        let a = scene.operation("a")
        a.start()
        try await scene.expectNoWait(a)
    }

    /// A block in a queue that calls `start()` does not make the operation one of that queue.
    @Test func aQueueThatDoesNotHoldItLendsNothing() async throws {
        let scene = try Scene("a", "b")
        let queue = Kind.foundations.queue(limit: 1)
        let (a, b) = (scene.operation("a"), scene.operation("b"))
        queue.addOperation { a.start() }
        try await scene.waitForRequests(1)
        queue.addOperation(b)
        try await scene.waitForRequests(2)
        a.pause()
        a.resume()
        try await scene.waitForRequests(3)
        #expect(a.isExecuting && queue.maxConcurrentOperationCount == 1)
        try await scene.finish(a, b)
    }

    @Test func onTheMainQueueItContinuesAtOnce() async throws {
        let scene = try Scene("a")
        let a = scene.operation("a")
        OperationQueue.main.addOperation(a)
        try await scene.expectNoWait(a)
    }

    @Test func aDependentOfAPausedOperationWaits() async throws {
        let scene = try Scene("a")
        let queue = Kind.ours.queue(limit: 1)
        let (a, b, c) = (scene.operation("a"), scene.operation("b"), scene.operation("c"))
        b.addDependency(a)
        for operation in [a, b, c] { queue.addOperation(operation) }
        try await scene.waitForRequests(1)
        a.pause()
        try await scene.expectBody(c)
        #expect(scene.asked == ["a", "c"])
        a.resume()
        scene.open("a")
        try await scene.expectBody(b)
        #expect(scene.asked == ["a", "c", "a", "b"])
    }

    /// Foundation asks it whether it is ready whenever a limit is set.
    private final class Asked: Operation, @unchecked Sendable {
        // @unchecked: what changes is behind the lock of the test and in `Gate`.

        let lock: NSLock
        /// Opens when the thread that asks is about to take the lock.
        let isAsked = Gate()
        private let isAnswered = Gate()
        private let isWatching = Locked(false)

        init(_ lock: NSLock) {
            self.lock = lock
        }

        func watch() { isWatching.withLock { $0 = true } }

        /// The first caller waits for the lock.
        override var isReady: Bool {
            guard isWatching.withLock({ $0 }) else { return false }
            let isFirst = !isAsked.isOpen
            isAsked.open()
            guard isFirst else { return isAnswered.isOpen && super.isReady }
            lock.withLock {}
            isAnswered.open()
            return super.isReady
        }
    }

    enum Call: CaseIterable, Sendable {
        case pause, resume, cancel, limit
    }

    /// An overridden property of an operation may want a lock that is held by a thread that pauses another
    /// one.
    @Test(arguments: Kind.allCases, Call.allCases)
    func aHolderOfALockThatOperationsWantIsNotBlocked(_ kind: Kind, _ call: Call) async throws {
        let scene = try Scene("a", "b")
        let queue = kind.queue(limit: 2)
        let (a, b) = (scene.operation("a"), scene.operation("b"))
        queue.addOperation(a)
        queue.addOperation(b)
        try await scene.waitForRequests(2)
        let lock = NSLock()
        let asked = Asked(lock)
        queue.addOperation(asked)
        if call == .resume {
            b.pause()
            try await scene.server.waitForOpenConnections(1)
        }
        let (isHeld, isDone) = (Gate(), Gate())
        Thread.detachNewThread {
            lock.withLock {
                asked.watch()
                isHeld.open()
                do {
                    try asked.isAsked.waitSynchronously()
                } catch {
                    Issue.record(error)
                }
                switch call {
                case .pause: b.pause()
                case .resume: b.resume()
                case .cancel: b.cancel()
                case .limit: queue.maxConcurrentOperationCount = 7
                }
            }
            isDone.open()
        }
        try await isHeld.wait()
        a.pause()
        try await isDone.wait(within: .waitingLimit)
        a.resume()
        b.resume()
        scene.open("a")
        scene.open("b")
        try await scene.expectBody(a)
        if call != .cancel { try await scene.expectBody(b) }
        try await eventually { asked.isFinished }
        if call == .limit { #expect(queue.maxConcurrentOperationCount == 7) }
    }

    /// The operations that were paused keep a queue's ledger.
    @Test func nothingOutlivesTheQueue() async throws {
        weak var queue: OperationQueue?
        weak var slots: QueueSlots?
        weak var operation: HTTPRequestOperation?
        try await {
            let scene = try Scene("a")
            let own = Kind.foundations.queue(limit: 1)
            let a = scene.operation("a")
            (queue, operation) = (own, a)
            own.addOperation(a)
            try await scene.waitForRequests(1)
            a.pause()
            try await eventually {
                slots = a.state.withLock { $0.place.slots }
                return slots != nil
            }
            a.resume()
            scene.open("a")
            try await scene.expectBody(a)
            a.completionQueue?.sync {}
        }()
        try await eventually { queue == nil && slots == nil && operation == nil }
    }
}
