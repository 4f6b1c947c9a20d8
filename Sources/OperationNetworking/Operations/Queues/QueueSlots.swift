import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// An operation that holds a slot of its queue, and lends it while it is paused: ``ConnectionOperation``.
protocol SlotHolder: Operation {
    var phase: OperationStateMachine.Phase { get }

    /// Whether the slot is one of `slots`. A queue is believed only if it holds the operation: a block of
    /// some queue may have called `start()`.
    func lendsSlot(to slots: QueueSlots, isMember: (Operation) -> Bool) -> Bool

    /// Goes on if it waits for that.
    /// - Returns: whether it did.
    @discardableResult
    func takeSlot() -> Bool
}

/// A queue that keeps its slots, and reports at once when its user sets its limit: ``TransferQueue``.
protocol SlotQueue: OperationQueue {
    var slots: QueueSlots { get }
    /// The limit of Foundation's own.
    var foundationLimit: Int { get set }
}

/// The slots of one queue: lends those of operations that are paused, and gives them back.
///
/// Whatever is done to the queue, and to its operations, may run code of the user's: Foundation asks
/// operations whether they are ready, and properties may be overridden. So all of it is done on a serial
/// queue of its own, and no caller waits for that: a caller that pauses an operation while it holds a lock of
/// its own is not held up by code that wants the lock.
///
/// Nothing here remembers what was asked. ``settle(_:then:)`` has the phase looked at that an operation is
/// in, and makes the loans fit it; so it does not matter in which order two threads that paused and resumed
/// it arrive.
///
/// | phase                                    | loan | ticket in the queue             |
/// |------------------------------------------|------|---------------------------------|
/// | paused while executing, ending           | yes  | as it is: it will find nothing  |
/// | waiting for a slot                       | yes  | yes                             |
/// | executing, finished                      | no   | as it is: it will find nothing  |
///
/// It is made when an operation is first paused, and goes with the last operation that was.
final class QueueSlots: @unchecked Sendable {
    // @unchecked: `queue` is weak and never assigned again; `loans` and `timer` are used on `work` only.

    /// The interval of looking at a limit that the queue's owner may have changed, while something is lent.
    private static let lookInterval = DispatchTimeInterval.milliseconds(250)

    private struct Loan {
        let operation: any SlotHolder
        var ticket: SlotTicket?
    }

    /// The operations that a queue holds. To look one up takes time in proportion to the queue, so it is done
    /// once for all that are looked up together, and only if one is.
    private final class Members {
        private let queue: OperationQueue?
        private lazy var members = Set((queue?.operations ?? []).map { ObjectIdentifier($0) })

        init(_ queue: OperationQueue?) {
            self.queue = queue
        }

        func contains(_ operation: Operation) -> Bool { members.contains(ObjectIdentifier(operation)) }
    }

    /// An event that waits for its turn on `work`.
    private enum Event {
        case settle(any SlotHolder, then: (@Sendable () -> Void)?)
        case grant(SlotTicket)
        case look
    }

    private weak var queue: OperationQueue?
    private let work = DispatchQueue(label: "OperationNetworking.slots")
    /// Many members of a batch are paused at once: they are settled together.
    private let inbox = Locked<[Event]>([])
    /// `nil`: the queue's limit was not looked at yet.
    private let ledger = Locked<SlotLedger?>(nil)
    private var loans: [ObjectIdentifier: Loan] = [:]
    private var timer: (any DispatchSourceTimer)?

    init(_ queue: OperationQueue) {
        self.queue = queue
    }

    deinit { timer?.cancel() }

    /// Makes the loans fit the phase that `operation` is in, some time later; then calls `then`, on any
    /// thread.
    func settle(_ operation: any SlotHolder, then: (@Sendable () -> Void)? = nil) {
        post(.settle(operation, then: then))
    }

    /// The queue has a slot for the holder of `ticket`: it goes on if it still waits. The ticket is used up
    /// afterwards.
    func grant(_ ticket: SlotTicket) {
        post(.grant(ticket))
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
        let members = Members(queue)
        var newTickets: [SlotTicket] = []
        for event in events {
            switch event {
            case .settle(let operation, _):
                if let ticket = settleLoan(of: operation, among: members) { newTickets.append(ticket) }
            case .grant(let ticket):
                use(ticket)
            case .look:
                break
            }
        }
        watch(!loans.isEmpty)
        if let queue { writeLimit(of: queue, lent: loans.count) }
        for event in events {
            switch event {
            case .settle(_, let then): then?()
            case .grant(let ticket): ticket.finish()
            case .look: break
            }
        }
        if let queue {
            for ticket in newTickets { ticket.enter(queue) }
        }
    }

    /// - Returns: a ticket that has to enter the queue.
    private func settleLoan(of operation: any SlotHolder, among members: Members) -> SlotTicket? {
        let key = ObjectIdentifier(operation)
        let phase = operation.phase
        guard phase.lendsSlot, queue != nil, operation.lendsSlot(to: self, isMember: members.contains) else {
            loans[key] = nil
            if phase == .waitingForSlot { operation.takeSlot() }
            return nil
        }
        var loan = loans[key] ?? Loan(operation: operation)
        let newTicket = phase == .waitingForSlot && loan.ticket == nil ? SlotTicket(operation, self) : nil
        loan.ticket = loan.ticket ?? newTicket
        loans[key] = loan
        return newTicket
    }

    private func use(_ ticket: SlotTicket) {
        let key = ObjectIdentifier(ticket.operation)
        guard var loan = loans[key], loan.ticket === ticket else { return }
        loan.ticket = nil
        loans[key] = ticket.operation.takeSlot() ? nil : loan
    }

    /// A plain queue does not report that its limit is set. Lowered while slots are lent, it would let
    /// nothing start.
    private func watch(_ isOn: Bool) {
        guard isOn != (timer != nil), !(queue is any SlotQueue) else { return }
        timer?.cancel()
        timer = nil
        guard isOn else { return }
        let timer = DispatchSource.makeTimerSource(queue: work)
        timer.schedule(
            deadline: .now() + Self.lookInterval,
            repeating: Self.lookInterval,
            leeway: Self.lookInterval
        )
        timer.setEventHandler { [weak self] in self?.post(.look) }
        timer.activate()
        self.timer = timer
    }
}

// MARK: - The limit

extension QueueSlots {
    /// The limit that the user of a ``TransferQueue`` has set.
    var userLimit: Int? { ledger.withLock { $0?.userLimit } }

    /// Takes over what the user of a ``TransferQueue`` wants to run at once. When it returns, it counts.
    func set(userLimit: Int, of queue: any SlotQueue) {
        change(of: queue) { $0.set(userLimit: userLimit) }
    }

    private func writeLimit(of queue: OperationQueue, lent: Int) {
        let shown = queue is any SlotQueue ? nil : queue.startLimit
        change(of: queue) { $0.settle(lent: lent, found: shown) }
    }

    /// On any thread. The queue is called without the lock of the ledger.
    private func change(of queue: OperationQueue, _ body: (inout SlotLedger) -> Void) {
        let found = queue.startLimit
        ledger.withLock { ledger in
            var changed = ledger ?? SlotLedger(limit: found)
            body(&changed)
            ledger = changed
        }
        while true {
            switch ledger.withLock({ $0?.next() ?? .done }) {
            case .write(let number, let turn):
                queue.startLimit = number
                ledger.withLock { $0?.hasWritten(turn) }
            case .wait(let number, let turn):
                // The number is there as soon as the other thread's call has begun, however long the call
                // then takes.
                if queue.startLimit == number {
                    ledger.withLock { $0?.hasWritten(turn) }
                } else {
                    sched_yield()
                }
            case .done:
                return
            }
        }
    }
}

extension OperationQueue {
    /// The number of operations that Foundation lets be unfinished at once after it has started them.
    var startLimit: Int {
        get { (self as? any SlotQueue)?.foundationLimit ?? maxConcurrentOperationCount }
        set {
            if let queue = self as? any SlotQueue {
                queue.foundationLimit = newValue
            } else {
                maxConcurrentOperationCount = newValue
            }
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
        if let queue = queue as? any SlotQueue { return queue.slots }
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

    let operation: any SlotHolder
    private let slots: QueueSlots

    init(_ operation: any SlotHolder, _ slots: QueueSlots) {
        self.operation = operation
        self.slots = slots
        super.init()
        name = "Slot for \(operation.name ?? operation.description)"
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

    /// The ticket ends when the operation runs and the limit is right, so that nothing else gets the slot.
    override func start() {
        slots.grant(self)
    }

    func finish() {
        super.start()
    }
}
