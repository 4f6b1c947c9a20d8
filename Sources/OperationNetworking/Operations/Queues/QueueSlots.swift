import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The slots of one queue: lends those of operations that are paused, and gives them back.
///
/// Nothing here remembers what was asked. ``settle(_:)`` looks at the phase an operation is in, and makes the loans fit
/// it; so it does not matter in which order two threads that paused and resumed it arrive.
///
/// | phase                                    | loan | ticket in the queue             |
/// |------------------------------------------|------|---------------------------------|
/// | paused while executing, ending           | yes  | as it is: it will find nothing  |
/// | waiting for a slot                       | yes  | yes                             |
/// | executing, finished                      | no   | as it is: it will find nothing  |
///
/// It is made when an operation is first paused, and goes with the last operation that was.
final class QueueSlots: @unchecked Sendable {
    // @unchecked: `queue` is weak and never assigned again; what changes is guarded by `lock`.

    /// How often a limit that the queue's owner may have changed is looked at, while something is lent.
    private static let lookInterval = DispatchTimeInterval.milliseconds(250)

    private struct Loan {
        let operation: ConnectionOperation
        var ticket: SlotTicket?
    }

    private weak var queue: OperationQueue?
    /// Recursive: setting a limit makes the queue look at its operations' `isReady`, and that may be anybody's code. All
    /// such calls come last. Taken before an operation's own lock, never inside it.
    private let lock = NSRecursiveLock()
    private var ledger: SlotLedger
    private var loans: [ObjectIdentifier: Loan] = [:]
    private var timer: (any DispatchSourceTimer)?

    init(_ queue: OperationQueue) {
        self.queue = queue
        ledger = SlotLedger(limit: queue.startLimit)
    }

    deinit { timer?.cancel() }

    /// What the user wants to run at once.
    var userLimit: Int {
        get { lock.withLock { ledger.userLimit } }
        set {
            lock.withLock {
                let limit = ledger.set(userLimit: newValue)
                queue?.startLimit = limit
            }
        }
    }

    /// Makes the loans fit the phase that `operation` is in.
    func settle(_ operation: ConnectionOperation) {
        lock.withLock {
            let key = ObjectIdentifier(operation)
            let phase = operation.phase
            guard phase.lendsSlot, let queue else {
                loans[key] = nil
                if phase == .waitingForSlot { operation.takeSlot() }
                return settleLimit()
            }
            var loan = loans[key] ?? Loan(operation: operation)
            let newTicket = phase == .waitingForSlot && loan.ticket == nil ? SlotTicket(operation, self) : nil
            loan.ticket = loan.ticket ?? newTicket
            loans[key] = loan
            settleLimit()
            newTicket?.enter(queue)
        }
    }

    /// The queue has a slot for the holder of `ticket`: it goes on if it still waits.
    func grant(_ ticket: SlotTicket) {
        lock.withLock {
            let key = ObjectIdentifier(ticket.operation)
            guard var loan = loans[key], loan.ticket === ticket else { return }
            loan.ticket = nil
            loans[key] = ticket.operation.takeSlot() ? nil : loan
            settleLimit()
        }
    }

    private func settleLimit() {
        watch(!loans.isEmpty)
        guard let queue, let limit = ledger.settle(lent: loans.count, found: queue.startLimit) else { return }
        queue.startLimit = limit
    }

    /// Nobody tells when the limit of a plain queue is set. Lowered while slots are lent, it would let nothing start.
    private func watch(_ isOn: Bool) {
        guard isOn != (timer != nil), !(queue is TransferQueue) else { return }
        timer?.cancel()
        timer = nil
        guard isOn else { return }
        let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
        timer.schedule(
            deadline: .now() + Self.lookInterval,
            repeating: Self.lookInterval,
            leeway: Self.lookInterval
        )
        timer.setEventHandler { [weak self] in self?.look() }
        timer.activate()
        self.timer = timer
    }

    private func look() {
        lock.withLock { settleLimit() }
    }
}

// MARK: - Queues that have one

extension QueueSlots {
    private struct Entry {
        weak var queue: OperationQueue?
        weak var slots: QueueSlots?
    }

    private static let entries = Locked<[ObjectIdentifier: Entry]>([:])

    /// The slots of `queue`; the same object as long as somebody keeps it.
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
}

/// Waits in the queue for a slot, at the front of the line.
///
/// The priority of the operation it stands for would put it behind everything that was queued meanwhile.
final class SlotTicket: Operation, @unchecked Sendable {
    // @unchecked: every stored property is an immutable Sendable.

    let operation: ConnectionOperation
    private let slots: QueueSlots

    init(_ operation: ConnectionOperation, _ slots: QueueSlots) {
        self.operation = operation
        self.slots = slots
        super.init()
        name = "Slot for \(operation.name ?? operation.description)"
        queuePriority = .veryHigh
    }

    /// Enters the line, past every barrier: a barrier in the queue waits for the operation to finish, so the ticket must
    /// not wait for the barrier.
    func enter(_ queue: OperationQueue) {
        queue.addOperation(self)
        guard !isReady else { return }
        queue.addOperation(BarrierKeeper(self))
        // What is cancelled waits for nothing but a slot.
        cancel()
    }

    override func start() {
        // The operation runs before the ticket ends, so that nothing else gets the slot.
        slots.grant(self)
        super.start()
    }
}

/// Keeps an operation that went past a barrier until the barrier has passed.
///
/// Foundation's barriers point, without retaining them, to the operations behind them. One that was cancelled does not
/// wait for the barrier; finished and released before, it would leave such a pointer behind.
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
