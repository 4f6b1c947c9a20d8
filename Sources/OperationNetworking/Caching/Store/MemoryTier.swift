import Foundation

/// The knowledge of keys without a look at the disk: the entries of a key, and bodies that are short.
///
/// A key goes as a whole, the one that was not used for the longest time first, when the bytes of all exceed
/// the capacity.
struct MemoryTier: Sendable {
    /// One entry of a key.
    struct Variant: Sendable {
        var entry: CacheEntry
        /// `nil`: on the disk only.
        var body: CacheBody?
        /// Whether the disk has it too, or is about to.
        var isOnDisk: Bool

        /// The entry, with the body that is known of it.
        var found: CacheEntry {
            var entry = entry
            entry.body = body
            return entry
        }

        /// Bytes: those of the head are counted, and what the tables need beside them is estimated.
        var cost: Int {
            let fields = entry.head.head.fields
            let head = 512 + entry.head.url.utf8.count + 64 * fields.count + fields.octetCount
            return head + (body?.count ?? 0)
        }
    }

    /// All that is known of a key.
    struct Record: Sendable {
        var variants: [Variant] = []
        /// Whether the disk has no others.
        var isComplete: Bool
        /// The number of changes by other processes that were seen before the disk was asked.
        var epoch: Int
        fileprivate(set) var cost = 0
    }

    /// An entry of more bytes keeps its body elsewhere, or is not stored.
    private(set) var maximumCost: Int
    private(set) var capacity: Int
    private(set) var usage = 0
    private let hasDisk: Bool
    private var records: [CacheKey: Record] = [:]
    private var order = RecencyList<CacheKey>()

    init(capacity: Int, hasDisk: Bool) {
        self.capacity = capacity
        self.hasDisk = hasDisk
        maximumCost = 0
        setCapacity(capacity)
    }

    /// One entry has at most half of it; an eighth, if the disk takes larger ones.
    mutating func setCapacity(_ capacity: Int) {
        self.capacity = max(capacity, 0)
        maximumCost = self.capacity / (hasDisk ? 8 : 2)
        shrink()
    }

    var count: Int { records.count }

    var keys: [CacheKey] { Array(records.keys) }

    func record(_ key: CacheKey) -> Record? { records[key] }

    /// Makes the key the one that was used last.
    mutating func use(_ key: CacheKey) {
        guard records[key] != nil else { return }
        order.use(key)
    }

    /// Changes, or makes, what is known of a key; `nil` forgets it.
    mutating func set(_ key: CacheKey, to record: Record?) {
        usage -= records[key]?.cost ?? 0
        guard var record else {
            records[key] = nil
            order.remove(key)
            return
        }
        record.cost = record.variants.reduce(128 + key.url.utf8.count) { $0 + $1.cost }
        guard record.cost <= capacity || record.variants.count > 1 else {
            // It would drive out all others, and then itself.
            records[key] = nil
            order.remove(key)
            return
        }
        usage += record.cost
        records[key] = record
        order.use(key)
        shrink()
    }

    mutating func removeAll() {
        records = [:]
        order.removeAll()
        usage = 0
    }

    private mutating func shrink() {
        while usage > capacity, let oldest = order.oldest {
            // A key alone that is too large loses its oldest entries.
            if order.count == 1, var record = records[oldest], record.variants.count > 1 {
                let removed = record.variants.removeFirst()
                record.isComplete = record.isComplete && !removed.isOnDisk
                usage -= removed.cost
                record.cost -= removed.cost
                records[oldest] = record
            } else {
                usage -= records[oldest]?.cost ?? 0
                records[oldest] = nil
                order.remove(oldest)
            }
        }
    }
}
