internal import OperationNetworkingSystem

/// The transfers to look at, by time: a binary heap.
///
/// An entry is only a reminder. A transfer that moved since is entered again, so that a byte costs nothing
/// here.
struct DeadlineQueue {
    private var heap: [(deadline: MonotonicTime, id: TransferID)] = []

    var count: Int { heap.count }

    /// The earliest deadline.
    var next: MonotonicTime? { heap.first?.deadline }

    mutating func insert(_ id: TransferID, at deadline: MonotonicTime) {
        heap.append((deadline, id))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].deadline < heap[parent].deadline else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Forgets the entries of transfers that are over.
    mutating func removeAll(where isOver: (TransferID) -> Bool) {
        heap.removeAll { isOver($0.id) }
        // A sorted array is a heap.
        heap.sort { $0.deadline < $1.deadline }
    }

    /// Takes out one entry whose time has come.
    mutating func removeFirst(dueAt now: MonotonicTime) -> TransferID? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < heap.count }
            guard let child = children.min(by: { heap[$0].deadline < heap[$1].deadline }),
                heap[child].deadline < heap[parent].deadline
            else { return first.id }
            heap.swapAt(parent, child)
            parent = child
        }
    }
}
