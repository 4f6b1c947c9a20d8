import Foundation

/// The place of an operation in the queue that started it.
struct QueuePlace {
    /// The queue that called `start()`.
    private(set) weak var queue: OperationQueue?
    /// Whether that queue is known to have the operation.
    private var isMember = false
    /// The slots of that queue, from the first pause or wait to the end.
    private(set) var slots: QueueSlots?
    /// The hosts because of which it waits for a time; `nil`: it does not.
    @Rare private(set) var resting: Set<HostWaits.Host>?
    /// Goes on after a wait, once it has a place again.
    @Rare private var goOn: (@Sendable () -> Void)?
    /// Whether it was cancelled while a dependency or a barrier blocked it.
    private var mayHavePassedBarrier = false
    /// Whether the queue hears only later that the operation has become ready.
    private var keepsReadiness = false
    /// Whether it has become ready meanwhile.
    private var owesReadiness = false

    /// Whether a queue may have the operation: each asks for the readiness when the operation is added. Not
    /// only then is it asked for, so this says nothing for certain: see *Configuring* in Operations.md.
    private(set) var mayBeInQueue = false
    /// Whether a queue was told, before the operation was started, that it is not ready.
    private(set) var wasHeldBack = false
    /// Whether `start()` was called.
    private(set) var isStarted = false
    /// Whether the operation had ended in an earlier process.
    private(set) var isRestored = false
    /// Whether the operation has ended, and Foundation was not told.
    private var owesEnd = false

    /// A queue asks whether the operation is ready, or other code does.
    mutating func isAskedForReadiness() {
        mayBeInQueue = true
    }

    /// The answer was no.
    mutating func holdBack() {
        if !isStarted { wasHeldBack = true }
    }

    /// The operation is from an archive, and had ended: as one that was cancelled in no queue.
    mutating func restoreEnd() {
        (owesEnd, isRestored) = (true, true)
    }

    /// `start()` was called.
    mutating func start() {
        isStarted = true
        wasHeldBack = false
    }

    /// The operation has ended.
    /// - Returns: whether Foundation is to be told now; else by ``tellEnd()``. One that was never started can
    ///   be in a queue by now, which starts it, and would lose count if it heard of the end before.
    mutating func end() -> Bool {
        owesEnd = !isStarted
        return isStarted
    }

    /// - Returns: whether Foundation is to be told now of an end that came before.
    mutating func tellEnd() -> Bool {
        defer { owesEnd = false }
        return owesEnd
    }

    /// The operation is started; by `queue`, unless it was known before.
    mutating func enter(_ queue: OperationQueue?) {
        if self.queue == nil { self.queue = queue }
    }

    /// The queue has the operation.
    mutating func join(_ queue: OperationQueue) {
        guard !isMember else { return }
        self.queue = queue
        isMember = true
    }

    func isMember(of queue: OperationQueue) -> Bool { isMember && self.queue === queue }

    /// The queue, if its limit can be set.
    var lendingQueue: OperationQueue? { queue.flatMap { $0 === OperationQueue.main ? nil : $0 } }

    /// It waits: for a time, because of the hosts, or (`nil`) for something else.
    mutating func wait(because hosts: Set<HostWaits.Host>?) {
        resting = hosts
    }

    /// The wait is over; `goOn` is called when there is a place.
    mutating func wait(then goOn: @escaping @Sendable () -> Void) {
        resting = nil
        self.goOn = goOn
    }

    mutating func takeGoOn() -> (@Sendable () -> Void)? {
        defer { goOn = nil }
        return goOn
    }

    mutating func lendSlot(to slots: QueueSlots) {
        self.slots = slots
    }

    /// The operation goes past what blocks it: perhaps past a barrier.
    mutating func goPastWhatBlocks() {
        mayHavePassedBarrier = true
    }

    /// The queue is not told that the operation has become ready, until ``tellReadiness()``.
    mutating func keepReadiness() {
        keepsReadiness = true
    }

    /// The operation has become ready, or is not ready any more.
    /// - Returns: whether the queue is to be told now. Told without a queue, Foundation would ask for the
    ///   readiness as a queue does.
    mutating func becomeReady() -> Bool {
        if keepsReadiness { owesReadiness = true }
        return !keepsReadiness && mayBeInQueue
    }

    /// - Returns: whether the queue is to be told now what it was not told before.
    mutating func tellReadiness() -> Bool {
        defer { (keepsReadiness, owesReadiness) = (false, false) }
        return owesReadiness && mayBeInQueue
    }

    /// The operation ends.
    /// - Returns: the queue whose barrier it may have passed, and the slots to give a loan back to.
    mutating func leave() -> (passed: OperationQueue?, slots: QueueSlots?) {
        defer { (slots, goOn) = (nil, nil) }
        return (mayHavePassedBarrier ? queue : nil, slots)
    }
}
