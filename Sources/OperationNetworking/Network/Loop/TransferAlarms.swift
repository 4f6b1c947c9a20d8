internal import OperationNetworkingSystem

/// The times at which transfers have to be looked at, whether or not anything moves.
struct TransferAlarms {
    /// Seconds between moments that count as one.
    private static let sameMoment = 0.0005
    /// Seconds after which a transfer that cannot go on does not keep others waiting for a connection.
    static let longestStall = 1.0
    /// Entries of transfers that have ended are kept up to this number beyond those of transfers that run.
    private static let staleLimit = 1024

    /// Seconds after which a transfer counts as one that lasts.
    private static let moment = 0.05

    /// Transfers whose clients want to hear that they last, in order.
    private var young = Fifo<(id: TransferID, end: MonotonicTime)>()
    /// The next looks for idleness.
    private var idle = DeadlineQueue()
    /// The times at which transfers go on that a limit holds.
    private var held = DeadlineQueue()
    /// The next looks at transfers that their clients hold.
    private var stalled = DeadlineQueue()

    /// The time of the next look.
    var next: MonotonicTime? {
        var earliest = idle.next
        if let next = held.next { earliest = min(next, earliest ?? next) }
        if let next = stalled.next { earliest = min(next, earliest ?? next) }
        if let next = young.first?.end { earliest = min(next, earliest ?? next) }
        return earliest
    }

    /// Looks whether the transfer has been idle for `timeout` seconds; never if that is 0, less, or infinite.
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

    /// The next transfer whose idleness is to be judged.
    mutating func nextIdle(now: MonotonicTime) -> TransferID? { idle.removeFirst(dueAt: now) }

    /// The next transfer whose limit should have something by now.
    mutating func nextHeld(now: MonotonicTime) -> TransferID? {
        held.removeFirst(dueAt: now + Self.sameMoment)
    }

    /// The next transfer that may have stalled for too long.
    mutating func nextStalled(now: MonotonicTime) -> TransferID? { stalled.removeFirst(dueAt: now) }

    /// Forgets the looks at transfers that have ended, once they are many: most transfers end long before
    /// their deadline, and the thread need not wake up for those.
    ///
    /// - Parameters:
    ///   - running: those that have not ended.
    ///   - isAlone: whether no transfer is there.
    mutating func forget(keeping running: RunningTransfers, isAlone: Bool) {
        if isAlone { young = Fifo() }
        guard idle.count > (running.count == 0 ? 0 : 2 * running.count + Self.staleLimit) else { return }
        idle.removeAll { running[$0] == nil }
    }
}

/// The transfers to look at, by time: a binary heap.
///
/// An entry is only a reminder. A transfer that moved since is entered again, so that a byte costs nothing
/// here.
struct DeadlineQueue {
    private var heap = BinaryHeap<MonotonicTime, TransferID>()

    var count: Int { heap.count }

    /// Comparisons.
    var steps: Int { heap.steps.value }

    /// The earliest deadline.
    var next: MonotonicTime? { heap.first?.key }

    mutating func insert(_ id: TransferID, at deadline: MonotonicTime) {
        heap.insert(id, deadline)
    }

    /// Forgets the entries of transfers that are over.
    mutating func removeAll(where isOver: (TransferID) -> Bool) {
        heap.removeAll(where: isOver)
    }

    /// Takes out one entry whose time has come.
    mutating func removeFirst(dueAt now: MonotonicTime) -> TransferID? {
        guard let next, next <= now else { return nil }
        return heap.removeFirst()?.value
    }
}
