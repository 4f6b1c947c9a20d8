/// A binary heap: values by key, the smallest key first.
///
/// Inserting and removing take logarithmic time. Values with equal keys are removed in any order.
package struct BinaryHeap<Key: Comparable, Value> {
    private var entries: [(key: Key, value: Value)] = []
    /// The number of comparisons.
    private(set) var steps = StepCount()

    package init() {}

    package var count: Int { entries.count }

    package var isEmpty: Bool { entries.isEmpty }

    /// The entry with the smallest key.
    package var first: (key: Key, value: Value)? { entries.first }

    package mutating func insert(_ value: Value, _ key: Key) {
        entries.append((key, value))
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            steps.add()
            guard entries[child].key < entries[parent].key else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes the entry with the smallest key.
    package mutating func removeFirst() -> (key: Key, value: Value)? {
        guard let first = entries.first else { return nil }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while true {
            var least = parent
            // Not an array of the two, which would be an allocation for each level.
            for child in (2 * parent + 1)...(2 * parent + 2) where child < entries.count {
                steps.add()
                if entries[child].key < entries[least].key { least = child }
            }
            guard least != parent else { return first }
            entries.swapAt(parent, least)
            parent = least
        }
    }

    package mutating func removeAll(where isOver: (Value) -> Bool) {
        steps.add(entries.count)
        entries.removeAll { isOver($0.value) }
        // A sorted array is a heap.
        entries.sort { $0.key < $1.key }
    }

    /// All values, in any order.
    var values: some Sequence<Value> { entries.lazy.map(\.value) }
}

extension BinaryHeap: Sendable where Key: Sendable, Value: Sendable {}
