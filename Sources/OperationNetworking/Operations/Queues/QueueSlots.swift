import Dispatch
import Foundation
internal import OperationNetworkingSystem
import Synchronization

/// The places of one queue: lends those that operations do not need, and gives them back.
///
/// Whatever is done to the queue, and to its operations, may run code of the user's: Foundation asks
/// operations whether they are ready, and properties may be overridden. So all of it is done on a serial
/// queue of its own, and no caller waits for that: a caller that pauses an operation while it holds a lock of
/// its own is not held up by code that wants the lock.
///
/// Nothing here remembers what was asked. ``settle(_:then:)`` has the use looked at that an operation has for
/// its place *then*, and makes the loans fit it (``SlotLedger``); so it does not matter in which order two
/// threads that paused and resumed it arrive, and a wait that is over by then has lent nothing.
///
/// It is made when an operation first lends its place, and goes with the last operation that did.
final class QueueSlots: @unchecked Sendable {
    // @unchecked: `queue` is weak and never assigned again; `isCounted` is used on `work`, and in `deinit`.

    typealias Ledger = SlotLedger<Holder>

    /// An operation, by its identity.
    struct Holder: Hashable, Sendable {
        let operation: ConnectionOperation

        static func == (left: Holder, right: Holder) -> Bool { left.operation === right.operation }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(operation)) }
    }

    /// An event that waits for its turn on `work`.
    private enum Event {
        case settle(ConnectionOperation, then: (@Sendable () -> Void)?)
        case ticket(SlotTicket)
        case look
    }

    /// The number of queues in which an operation rests.
    private static let restingQueues = Atomic(0)

    private weak var queue: OperationQueue?
    private let work = DispatchQueue(label: "OperationNetworking.slots")
    /// Many members of a batch are paused at once: they are settled together.
    private let inbox = Locked<[Event]>([])
    private let ledger = Locked(Ledger())
    /// Whether this one is counted in `restingQueues`.
    private var isCounted = false

    init(_ queue: OperationQueue) {
        self.queue = queue
    }

    deinit { count(false) }

    /// Makes the loans fit the use that `operation` has for its place, some time later; then calls `then`, on
    /// any thread.
    func settle(_ operation: ConnectionOperation, then: (@Sendable () -> Void)? = nil) {
        post(.settle(operation, then: then))
    }

    /// The queue has a place for one of those that wait for one. The ticket is used up afterwards.
    fileprivate func use(_ ticket: SlotTicket) {
        post(.ticket(ticket))
    }

    private func post(_ event: Event) {
        let isFirst = inbox.withLock { inbox in
            inbox.append(event)
            return inbox.count == 1
        }
        if isFirst { work.async { self.empty() } }
    }

    /// Loans first, then the limit that fits them, and then what may only be seen once the limit is right.
    private func empty() {
        let events = inbox.withLock { inbox in
            defer { inbox = [] }
            return inbox
        }
        let queue = queue
        if let queue { lookAtLimit(of: queue) }
        let members = Members(queue)
        for event in events {
            switch event {
            case .settle(let operation, _): settle(operation, among: members)
            case .ticket: if let holder = ledger.withLock({ $0.useTicket() }) { goOn(holder) }
            case .look: break
            }
        }
        while let holder = ledger.withLock({ $0.nextWithoutLimit() }) { goOn(holder) }
        let (tickets, hasResting) = ledger.withLock { ($0.takeTickets(), $0.hasResting) }
        // Before another one can start in a place that is lent.
        count(hasResting)
        if let queue { writeLimit(of: queue) }
        for event in events {
            switch event {
            case .settle(_, let then): then?()
            case .ticket(let ticket): ticket.finish()
            case .look: break
            }
        }
        if let queue {
            for _ in 0..<tickets { SlotTicket(self).enter(queue) }
        }
    }

    private func settle(_ operation: ConnectionOperation, among members: Members) {
        let use = operation.slotUse
        switch use {
        case .lends, .rests, .isHeldBack:
            guard let queue, members.contains(operation), operation.lendsSlot(to: self) else {
                operation.takeSlot()
                return
            }
            if case .rests(let hosts) = use { return rest(operation, because: hosts, in: queue) }
        case .runs, .returns, .isOver:
            break
        }
        let holder = Holder(operation: operation)
        if ledger.withLock({ $0.settle(holder, use) }) { goOn(holder) }
    }

    /// Where it is the first one that rests because of a host, the ends of those that run count from now on.
    private func rest(
        _ operation: ConnectionOperation,
        because hosts: Set<HostWaits.Host>,
        in queue: OperationQueue
    ) {
        let new = ledger.withLock { ledger in
            let new = hosts.filter { !ledger.rests($0) }
            _ = ledger.settle(Holder(operation: operation), .rests(hosts))
            return new
        }
        guard !new.isEmpty else { return }
        // Before the look at those that run: one that starts meanwhile sees that it is held back.
        count(true)
        for case let runner as ConnectionOperation in queue.operations
        where runner.runs(toOneOf: new, countedBy: self) {
            let host = runner.host
            _ = ledger.withLock { $0.settle(Holder(operation: runner), .runs(host)) }
        }
    }

    /// The place is the holder's again, unless it was paused or cancelled meanwhile.
    private func goOn(_ holder: Holder) {
        holder.operation.takeSlot()
        var use = holder.operation.slotUse
        switch use {
        case .lends, .rests, .isHeldBack:
            // Its end has to know of the loan, or it would be seen before the limit is right again. If it lends
            // nothing by now, an event of its own follows.
            if !holder.operation.lendsSlot(to: self) { use = .isOver }
        case .runs, .returns, .isOver:
            break
        }
        _ = ledger.withLock { $0.settle(holder, use) }
    }

    private func count(_ hasResting: Bool) {
        guard hasResting != isCounted else { return }
        isCounted = hasResting
        Self.restingQueues.add(hasResting ? 1 : -1, ordering: .relaxed)
    }

    /// The operations that a queue holds. To look one up takes time in proportion to the queue, so all are
    /// told at the first look that it has them.
    private final class Members {
        private let queue: OperationQueue?
        private var hasLooked = false

        init(_ queue: OperationQueue?) {
            self.queue = queue
        }

        func contains(_ operation: ConnectionOperation) -> Bool {
            guard let queue else { return false }
            if !hasLooked, !operation.isMember(of: queue) {
                hasLooked = true
                for case let member as ConnectionOperation in queue.operations { member.join(queue) }
            }
            return operation.isMember(of: queue)
        }
    }
}

// MARK: - Resting

extension QueueSlots {
    /// Whether an operation that `queue` starts, with a request to the host, has to wait since another one
    /// rests. That costs next to nothing while none does in any queue.
    static func holdsBack(_ queue: OperationQueue?, _ host: () -> HostWaits.Host) -> Bool {
        guard isAnyResting, let queue, let slots = known(of: queue) else { return false }
        return slots.ledger.withLock { $0.hasResting } && slots.rests(host())
    }

    /// Whether an operation rests in any queue.
    static var isAnyResting: Bool { restingQueues.load(ordering: .relaxed) > 0 }

    private func rests(_ host: HostWaits.Host) -> Bool { ledger.withLock { $0.rests(host) } }
}

// MARK: - The limit

extension QueueSlots {
    /// The limit that the user of a ``TransferQueue`` has set; `nil`: the one that the queue has.
    var userLimit: Int? { ledger.withLock { $0.isKnown ? $0.userLimit : nil } }

    /// Takes over what the user of a ``TransferQueue`` wants to run at once. When it returns, it counts.
    func set(userLimit: Int, of queue: TransferQueue) {
        lookAtLimit(of: queue)
        ledger.withLock { $0.set(userLimit: userLimit) }
        writeLimit(of: queue)
        if ledger.withLock({ $0.lent > 0 }) { post(.look) }
    }

    /// A plain queue does not report that its limit is set.
    private func lookAtLimit(of queue: OperationQueue) {
        if let queue = queue as? TransferQueue {
            let limit = queue.foundationLimit
            ledger.withLock { if !$0.isKnown { $0.find(limit) } }
        } else {
            let limit = queue.maxConcurrentOperationCount
            ledger.withLock { $0.find(limit) }
        }
    }

    /// On any thread. The queue is called without the lock of the ledger.
    private func writeLimit(of queue: OperationQueue) {
        var next = ledger.withLock { $0.write() }
        while let write = next {
            if let queue = queue as? TransferQueue {
                queue.foundationLimit = write.limit
            } else {
                queue.maxConcurrentOperationCount = write.limit
            }
            next = ledger.withLock { $0.write(after: write.turn) }
        }
    }
}

// MARK: - Queues that have one

extension QueueSlots {
    private struct Entry {
        weak var queue: OperationQueue?
        weak var slots: QueueSlots?
    }

    private static let entries = Locked<[ObjectIdentifier: Entry]>([:])

    /// The slots of `queue`; the same object as long as it has an owner.
    static func of(_ queue: OperationQueue) -> QueueSlots {
        if let queue = queue as? TransferQueue { return queue.slots }
        return entries.withLock { entries in
            let key = ObjectIdentifier(queue)
            if let entry = entries[key], entry.queue === queue, let slots = entry.slots { return slots }
            entries = entries.filter { $0.value.slots != nil }
            let slots = QueueSlots(queue)
            entries[key] = Entry(queue: queue, slots: slots)
            return slots
        }
    }

    /// The same, if there is one.
    private static func known(of queue: OperationQueue) -> QueueSlots? {
        if let queue = queue as? TransferQueue { return queue.slots }
        return entries.withLock { entries in
            guard let entry = entries[ObjectIdentifier(queue)], entry.queue === queue else { return nil }
            return entry.slots
        }
    }
}

/// Waits in the queue for a place, at the front of the line; who gets the place is decided then.
final class SlotTicket: Operation, @unchecked Sendable {
    // @unchecked: the only stored property is an immutable Sendable.

    private let slots: QueueSlots

    init(_ slots: QueueSlots) {
        self.slots = slots
        super.init()
        name = "Slot for an operation that goes on"
        queuePriority = .veryHigh
    }

    /// Enters the line, past every barrier: a barrier in the queue waits for the operation to finish, so the
    /// ticket must not wait for the barrier.
    func enter(_ queue: OperationQueue) {
        queue.addOperation(self)
        guard !isReady else { return }
        queue.addOperation(BarrierKeeper(self))
        // What is cancelled waits for nothing but a slot.
        cancel()
    }

    override var isAsynchronous: Bool { true }

    /// The ticket ends when the operation runs and the limit is right, so that nothing else gets the place.
    override func start() {
        slots.use(self)
    }

    func finish() {
        super.start()
    }
}

/// Keeps an operation that went past a barrier until the barrier has passed.
///
/// Foundation's barriers point, without retaining them, to the operations behind them. One that was cancelled
/// does not wait for the barrier; finished and released before, it would leave such a pointer behind.
final class BarrierKeeper: Operation, @unchecked Sendable {
    // @unchecked: the only stored property is never used.

    private let kept: Operation

    init(_ kept: Operation) {
        self.kept = kept
        super.init()
        name = "Keeper of \(kept.name ?? kept.description)"
    }

    /// Does nothing, or it would leave a pointer behind itself.
    override func cancel() {}
}
