import Dispatch
import Foundation
internal import OperationNetworkingSystem
import Synchronization

/// The slots of one queue: lends those that operations do not need, and returns them.
///
/// Anything done to the queue and its operations may run user code: Foundation reads `isReady`, and
/// properties may be overridden. So it is all done on a dedicated serial queue, and no caller waits for it: a
/// caller that pauses an operation while holding a lock is not blocked by code that wants the lock.
///
/// Nothing here stores requests. ``settle(_:then:)`` reads the operation's use of its slot at the time it
/// runs, and adjusts the loans (``SlotLedger``). So the order in which two threads that paused and resumed
/// the operation arrive does not matter, and a wait that has already ended lends nothing.
///
/// It is created when an operation first lends its slot, and released with the last operation that did.
final class QueueSlots: @unchecked Sendable {
    // @unchecked: `queue` is weak and never assigned again; `isCounted` is used on `work`, and in `deinit`.

    typealias Ledger = SlotLedger<Holder>

    /// An operation, by its identity.
    struct Holder: Hashable, Sendable {
        let operation: ConnectionOperation

        static func == (left: Holder, right: Holder) -> Bool { left.operation === right.operation }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(operation)) }
    }

    /// An event that is pending on `work`.
    private enum Event {
        case settle(ConnectionOperation, then: (@Sendable () -> Void)?)
        case ticket(SlotTicket)
        case look
    }

    /// The number of queues in which an operation rests: waits for a delay because of a host.
    private static let restingQueues = Atomic(0)

    private weak var queue: OperationQueue?
    private let work = DispatchQueue(label: "OperationNetworking.slots")
    /// Collects events, so that the members of a batch that are paused together are settled together.
    private let inbox = Locked<[Event]>([])
    private let ledger = Locked(Ledger())
    /// Whether this queue is counted in `restingQueues`.
    private var isCounted = false

    init(_ queue: OperationQueue) {
        self.queue = queue
    }

    deinit { count(false) }

    /// Adjusts the loans to the use of `operation`'s slot, asynchronously; then calls `then`, on any thread.
    func settle(_ operation: ConnectionOperation, then: (@Sendable () -> Void)? = nil) {
        post(.settle(operation, then: then))
    }

    /// Uses a slot that the queue has for one of the waiting operations. The ticket is then used up.
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

    /// Updates the loans first, then the limit, and then everything that may only be visible once the limit
    /// is right.
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
            case .ticket: if let holder = ledger.withLock({ $0.useTicket() }) { returnSlot(to: holder) }
            case .look: break
            }
        }
        while let holder = ledger.withLock({ $0.nextWithoutLimit() }) { returnSlot(to: holder) }
        let (tickets, hasResting) = ledger.withLock { ($0.takeTickets(), $0.hasResting) }
        // Before another operation can start in a lent slot.
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
        case .runs, .returns, .ended:
            break
        }
        let holder = Holder(operation: operation)
        if ledger.withLock({ $0.settle(holder, use) }) { returnSlot(to: holder) }
    }

    /// Records that the operation rests. If it is the first because of a host, running operations to that
    /// host are counted from now on.
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
        // Before the running operations are counted: one that starts in between sees that it is held back.
        count(true)
        for case let runner as ConnectionOperation in queue.operations
        where runner.runs(toOneOf: new, countedBy: self) {
            let host = runner.host
            _ = ledger.withLock { $0.settle(Holder(operation: runner), .runs(host)) }
        }
    }

    /// Returns the slot to the holder, unless it was paused or cancelled in between.
    private func returnSlot(to holder: Holder) {
        holder.operation.takeSlot()
        var use = holder.operation.slotUse
        switch use {
        case .lends, .rests, .isHeldBack:
            // Its end has to know of the loan, or it would be visible before the limit is right again. If it
            // no longer lends the slot, a separate event follows.
            if !holder.operation.lendsSlot(to: self) { use = .ended }
        case .runs, .returns, .ended:
            break
        }
        _ = ledger.withLock { $0.settle(holder, use) }
    }

    private func count(_ hasResting: Bool) {
        guard hasResting != isCounted else { return }
        isCounted = hasResting
        Self.restingQueues.add(hasResting ? 1 : -1, ordering: .relaxed)
    }

    /// The operations that a queue holds. A lookup takes time proportional to the length of the queue, so the
    /// first one marks all operations as members.
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
    /// Whether an operation that `queue` starts, with a request to the host, has to wait because another one
    /// rests. Costs almost nothing while none does in any queue.
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
    /// The limit that the user of a ``TransferQueue`` has set; `nil` if the queue's own limit applies.
    var userLimit: Int? { ledger.withLock { $0.isKnown ? $0.userLimit : nil } }

    /// Sets the user's limit of a ``TransferQueue``. In effect when this returns.
    func set(userLimit: Int, of queue: TransferQueue) {
        lookAtLimit(of: queue)
        ledger.withLock { $0.set(userLimit: userLimit) }
        writeLimit(of: queue)
        if ledger.withLock({ $0.lent > 0 }) { post(.look) }
    }

    /// Reads the limit: a plain queue does not report when it is set.
    private func lookAtLimit(of queue: OperationQueue) {
        if let queue = queue as? TransferQueue {
            let limit = queue.foundationLimit
            ledger.withLock { if !$0.isKnown { $0.find(limit) } }
        } else {
            let limit = queue.maxConcurrentOperationCount
            ledger.withLock { $0.find(limit) }
        }
    }

    /// Writes the limit, on any thread. The queue is called without the ledger's lock.
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

    /// Returns the slots of `queue`: the same object while it has an owner.
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

    /// Returns the slots of `queue`, if there are any.
    private static func known(of queue: OperationQueue) -> QueueSlots? {
        if let queue = queue as? TransferQueue { return queue.slots }
        return entries.withLock { entries in
            guard let entry = entries[ObjectIdentifier(queue)], entry.queue === queue else { return nil }
            return entry.slots
        }
    }
}

/// Waits in the queue for a slot, at the front; the operation that gets the slot is chosen when the ticket
/// starts.
final class SlotTicket: Operation, @unchecked Sendable {
    // @unchecked: the only stored property is an immutable Sendable.

    private let slots: QueueSlots

    init(_ slots: QueueSlots) {
        self.slots = slots
        super.init()
        name = "Slot for an operation that continues"
        queuePriority = .veryHigh
    }

    /// Enters the queue, ignoring barriers: a barrier in the queue waits for the operation to finish, so the
    /// ticket must not wait for the barrier.
    func enter(_ queue: OperationQueue) {
        queue.addOperation(self)
        guard !isReady else { return }
        queue.addOperation(BarrierKeeper(self))
        // A cancelled operation waits for nothing but a slot.
        cancel()
    }

    override var isAsynchronous: Bool { true }

    /// The ticket finishes when the operation runs and the limit is right, so that nothing else gets the
    /// slot.
    override func start() {
        slots.use(self)
    }

    func finish() {
        super.start()
    }
}

/// Retains an operation that ignored a barrier until the barrier has finished.
///
/// Foundation's barriers have unretained pointers to the operations behind them. A cancelled operation does
/// not wait for the barrier; if it were released earlier, it would leave a dangling pointer.
final class BarrierKeeper: Operation, @unchecked Sendable {
    // @unchecked: the only stored property is never used.

    private let kept: Operation

    init(_ kept: Operation) {
        self.kept = kept
        super.init()
        name = "Keeper of \(kept.name ?? kept.description)"
    }

    /// Does nothing: otherwise this operation would leave a dangling pointer itself.
    override func cancel() {}
}
