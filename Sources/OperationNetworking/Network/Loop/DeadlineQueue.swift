internal import OperationNetworkingSystem

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
