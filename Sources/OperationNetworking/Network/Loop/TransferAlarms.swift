internal import OperationNetworkingSystem

/// The times at which transfers have to be looked at, whether or not anything moves.
struct TransferAlarms {
    /// The seconds within which times count as one.
    private static let sameMoment = 0.0005
    /// The seconds after which a stalled transfer no longer keeps others waiting for a connection.
    static let longestStall = 1.0
    /// The maximum number of entries of ended transfers, beyond those of running ones.
    private static let staleLimit = 1024

    /// The seconds after which a transfer is reported as lasting.
    private static let moment = 0.05

    /// The transfers whose clients are to be notified when they last, in order.
    private var young = Fifo<(id: TransferID, end: MonotonicTime)>()
    /// The next checks for idleness.
    private var idle = DeadlineQueue()
    /// The times at which transfers held by a limit continue.
    private var held = DeadlineQueue()
    /// The next checks of transfers held by their clients.
    private var stalled = DeadlineQueue()

    /// The time of the next check.
    var next: MonotonicTime? {
        var earliest = idle.next
        if let next = held.next { earliest = min(next, earliest ?? next) }
        if let next = stalled.next { earliest = min(next, earliest ?? next) }
        if let next = young.first?.end { earliest = min(next, earliest ?? next) }
        return earliest
    }

    /// Schedules a check whether the transfer has been idle for `timeout` seconds; none if that is 0,
    /// negative or infinite.
    mutating func watchIdleness(of id: TransferID, since now: MonotonicTime, timeout: Double) {
        guard timeout > 0, timeout.isFinite else { return }
        idle.insert(id, at: now + timeout)
    }

    mutating func lookAgain(at id: TransferID, _ moment: MonotonicTime) {
        idle.insert(id, at: moment)
    }

    mutating func hold(_ id: TransferID, until moment: MonotonicTime) {
        held.insert(id, at: moment)
    }

    mutating func watchStall(of id: TransferID, since moment: MonotonicTime) {
        stalled.insert(id, at: moment + Self.longestStall)
    }

    mutating func watchYouth(of id: TransferID, since now: MonotonicTime) {
        young.append((id, now + Self.moment))
    }

    /// The next transfer that has lasted for a moment, or has ended.
    mutating func nextLasting(now: MonotonicTime) -> TransferID? {
        guard let first = young.first, first.end <= now else { return nil }
        return young.popFirst()?.id
    }

    /// The next transfer to check for idleness.
    mutating func nextIdle(now: MonotonicTime) -> TransferID? { idle.removeFirst(dueAt: now) }

    /// The next transfer whose limit should allow bytes again.
    mutating func nextHeld(now: MonotonicTime) -> TransferID? {
        held.removeFirst(dueAt: now + Self.sameMoment)
    }

    /// The next transfer that may have stalled for too long.
    mutating func nextStalled(now: MonotonicTime) -> TransferID? { stalled.removeFirst(dueAt: now) }

    /// Removes the checks of ended transfers once there are many: most transfers end long before their
    /// deadline, and the thread should not wake up for them.
    ///
    /// - Parameters:
    ///   - running: the transfers that have not ended.
    ///   - isAlone: whether there are no transfers.
    mutating func forget(keeping running: RunningTransfers, isAlone: Bool) {
        if isAlone { young = Fifo() }
        guard idle.count > (running.count == 0 ? 0 : 2 * running.count + Self.staleLimit) else { return }
        idle.removeAll { running[$0] == nil }
    }
}

/// The transfers to check, by time: a binary heap.
///
/// An entry is only a reminder: a transfer that made progress since is entered again, so that a byte costs
/// nothing here.
struct DeadlineQueue {
    private var heap = BinaryHeap<MonotonicTime, TransferID>()

    var count: Int { heap.count }

    /// The number of comparisons.
    var steps: Int { heap.steps.value }

    /// The earliest deadline.
    var next: MonotonicTime? { heap.first?.key }

    mutating func insert(_ id: TransferID, at deadline: MonotonicTime) {
        heap.insert(id, deadline)
    }

    /// Removes the entries of transfers that have ended.
    mutating func removeAll(where isOver: (TransferID) -> Bool) {
        heap.removeAll(where: isOver)
    }

    /// Removes and returns one entry that is due.
    mutating func removeFirst(dueAt now: MonotonicTime) -> TransferID? {
        guard let next, next <= now else { return nil }
        return heap.removeFirst()?.value
    }
}
