import Foundation

/// The priority of a waiting transfer.
enum TransferPriority: Int, Comparable, CaseIterable, Sendable {
    case veryLow, low, normal, high, veryHigh

    init(_ priority: Operation.QueuePriority) {
        self =
            switch priority {
            case .veryLow: .veryLow
            case .low: .low
            case .normal: .normal
            case .high: .high
            case .veryHigh: .veryHigh
            @unknown default: .normal
            }
    }

    static func < (one: TransferPriority, other: TransferPriority) -> Bool { one.rawValue < other.rawValue }
}

/// The place of a transfer in a line: a higher priority comes first, then a lower number.
struct WaitingRank: Comparable, Sendable {
    var priority: TransferPriority
    var number: UInt64

    /// Whether `one` comes before `other`.
    static func < (one: WaitingRank, other: WaitingRank) -> Bool {
        one.priority == other.priority ? one.number < other.number : one.priority > other.priority
    }
}

/// Waiting transfers, by priority and then in order. Each step takes amortized constant time, including
/// removal from the middle: a removed transfer stays in the line as a gap until the line reaches it, or has
/// more gaps than transfers.
struct WaitingLine {
    private struct Entry {
        var id: TransferID
        var number: UInt64
    }

    private struct Bucket {
        var entries: [Entry] = []
        /// The number of entries that have been removed.
        var head = 0
        /// The number of moved entries.
        var steps = StepCount()

        var first: Entry? { head < entries.count ? entries[head] : nil }

        mutating func removeFirst() {
            head += 1
            guard head == entries.count || head > 1024 && head > entries.count / 2 else { return }
            steps.add(entries.count - head)
            entries.removeFirst(head)
            head = 0
        }

        /// Inserts an entry: almost always at the end. A transfer that was admitted before returns to its old
        /// place, near the front.
        mutating func insert(_ entry: Entry) {
            guard let last = entries.last, head < entries.count, entry.number < last.number else {
                return entries.append(entry)
            }
            if let first, entry.number < first.number, head > 0 {
                head -= 1
                entries[head] = entry
            } else {
                let place = entries[head...].firstIndex { $0.number > entry.number } ?? entries.endIndex
                steps.add(entries.count - head)
                entries.insert(entry, at: place)
            }
        }

        mutating func removeAll(_ gone: Set<TransferID>) {
            steps.add(entries.count - head)
            entries = entries[head...].filter { !gone.contains($0.id) }
            head = 0
        }
    }

    /// The number of waiting transfers.
    private(set) var count = 0
    private var buckets = [Bucket](repeating: Bucket(), count: TransferPriority.allCases.count)
    private var gaps: Set<TransferID> = []
    /// The number of skipped entries.
    private var passed = StepCount()

    /// The number of moved or skipped entries.
    var steps: Int { buckets.reduce(passed.value) { $0 + $1.steps.value } }

    mutating func insert(_ id: TransferID, _ rank: WaitingRank) {
        buckets[rank.priority.rawValue].insert(Entry(id: id, number: rank.number))
        count += 1
    }

    /// Removes a waiting transfer.
    mutating func remove(_ id: TransferID) {
        count -= 1
        gaps.insert(id)
        guard gaps.count > count + 64 else { return }
        for index in buckets.indices { buckets[index].removeAll(gaps) }
        gaps = []
    }

    /// The next transfer.
    mutating func first() -> (id: TransferID, rank: WaitingRank)? {
        guard count > 0 else { return nil }
        for priority in TransferPriority.allCases.reversed() {
            while let entry = buckets[priority.rawValue].first {
                if gaps.isEmpty || gaps.remove(entry.id) == nil {
                    return (entry.id, WaitingRank(priority: priority, number: entry.number))
                }
                passed.add()
                buckets[priority.rawValue].removeFirst()
            }
        }
        return nil
    }

    /// Removes the transfer that ``first()`` returned.
    mutating func removeFirst(_ priority: TransferPriority) {
        buckets[priority.rawValue].removeFirst()
        count -= 1
    }
}
