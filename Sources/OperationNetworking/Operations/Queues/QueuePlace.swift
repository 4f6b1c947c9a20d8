import Foundation

/// The place of an operation in the queue that started it.
struct QueuePlace {
    /// The queue that called `start()`, or will.
    private(set) weak var queue: OperationQueue?
    /// Whether that queue is known to hold the operation.
    private var isMember = false
    /// The slots of that queue, from the first pause or wait until the end.
    private(set) var slots: QueueSlots?
    /// The hosts because of which the operation waits for a delay; `nil` if it does not.
    @Rare private(set) var resting: Set<HostWaits.Host>?
    /// Continues the exchange after a wait, once there is a slot.
    @Rare private var continuation: (@Sendable () -> Void)?
    /// Whether it was cancelled while a dependency or a barrier blocked it.
    private var mayHavePassedBarrier = false
    /// Whether the queue is notified only later that the operation has become ready.
    private var holdsReadiness = false
    /// Whether such a notification is pending.
    private var owesReadiness = false

    /// Whether a queue may have the operation: each asks for the readiness when the operation is added. Other code asks,
    /// too, so this is a guess; a wrong one only delays the end of an operation that is cancelled.
    private(set) var mayBeInQueue = false
    /// Whether `isReady` was `false` when a queue read it, before the operation was started.
    private(set) var wasHeldBack = false
    /// Whether `start()` was called.
    private(set) var isStarted = false
    /// Whether the operation had finished in an earlier process.
    private(set) var isRestored = false
    /// Whether the operation has finished and Foundation has not been notified.
    private var owesEnd = false

    /// Records that a queue, or other code, reads `isReady`.
    mutating func noteReadinessRead() {
        mayBeInQueue = true
    }

    /// Records that `isReady` was `false`.
    mutating func holdBack() {
        if !isStarted { wasHeldBack = true }
    }

    /// Restores an operation that had finished, from an archive: like one that was cancelled in no queue.
    mutating func restoreEnd() {
        (owesEnd, isRestored) = (true, true)
    }

    /// Records that `start()` was called.
    mutating func start() {
        isStarted = true
        wasHeldBack = false
    }

    /// Records that the operation has finished.
    /// - Returns: whether to notify Foundation now; otherwise ``takeOwedEnd()`` does. An operation that was
    ///   never started may be in a queue, which will start it, and would miscount if it were notified of the
    ///   end before.
    mutating func end() -> Bool {
        owesEnd = !isStarted
        return isStarted
    }

    /// - Returns: whether to notify Foundation now of an earlier end.
    mutating func takeOwedEnd() -> Bool {
        defer { owesEnd = false }
        return owesEnd
    }

    /// Records that the operation is started, by `queue` unless the queue is already known.
    mutating func enter(_ queue: OperationQueue?) {
        if self.queue == nil { self.queue = queue }
    }

    /// Records that the queue holds the operation.
    mutating func join(_ queue: OperationQueue) {
        guard !isMember else { return }
        self.queue = queue
        isMember = true
    }

    func isMember(of queue: OperationQueue) -> Bool { isMember && self.queue === queue }

    /// The queue, if its limit can be set.
    var lendingQueue: OperationQueue? { queue.flatMap { $0 === OperationQueue.main ? nil : $0 } }

    /// Records a wait: for a delay, because of the hosts, or (`nil`) for something else.
    mutating func wait(because hosts: Set<HostWaits.Host>?) {
        resting = hosts
    }

    /// Records the end of the wait; `continuation` is called when there is a slot.
    mutating func wait(then continuation: @escaping @Sendable () -> Void) {
        resting = nil
        self.continuation = continuation
    }

    mutating func takeContinuation() -> (@Sendable () -> Void)? {
        defer { continuation = nil }
        return continuation
    }

    mutating func lendSlot(to slots: QueueSlots) {
        self.slots = slots
    }

    /// Records that the operation ignores what blocks it, possibly a barrier.
    mutating func ignoreBlockers() {
        mayHavePassedBarrier = true
    }

    /// Holds notifications about readiness until ``releaseReadiness()``.
    mutating func holdReadiness() {
        holdsReadiness = true
    }

    /// Records that the operation has become ready, or is no longer ready.
    /// - Returns: whether to notify Foundation now. Without a queue, Foundation would react by reading
    ///   `isReady` as a queue does.
    mutating func becomeReady() -> Bool {
        if holdsReadiness { owesReadiness = true }
        return !holdsReadiness && mayBeInQueue
    }

    /// - Returns: whether to notify the queue now of a held notification.
    mutating func releaseReadiness() -> Bool {
        defer { (holdsReadiness, owesReadiness) = (false, false) }
        return owesReadiness && mayBeInQueue
    }

    /// Records that the operation ends.
    /// - Returns: the queue whose barrier it may have passed, and the slots to return a loan to.
    mutating func leave() -> (passed: OperationQueue?, slots: QueueSlots?) {
        defer { (slots, continuation) = (nil, nil) }
        return (mayHavePassedBarrier ? queue : nil, slots)
    }
}
