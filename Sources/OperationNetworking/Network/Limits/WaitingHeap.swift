/// The first transfers of several lines, by rank: a binary heap.
struct WaitingHeap {
    private var heap: [(rank: WaitingRank, line: Int)] = []

    var isEmpty: Bool { heap.isEmpty }

    /// The transfer with this rank is the first of that line.
    mutating func insert(_ rank: WaitingRank, _ line: Int) {
        heap.append((rank, line))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].rank < heap[parent].rank else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes out the one that comes first.
    /// - Returns: its number, and its line.
    mutating func removeFirst() -> (number: UInt64, line: Int)? {
        guard let first = heap.first else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].rank < heap[least].rank { least = child }
            }
            guard least != parent else { return (first.rank.number, first.line) }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
