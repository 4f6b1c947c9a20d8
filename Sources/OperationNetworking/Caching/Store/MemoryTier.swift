internal import OperationNetworkingSystem

/// The responses of URLs that are known without a look at the disk: heads, and bodies that are short.
///
/// A URL goes as a whole. The least recently used one goes first when the bytes of all exceed the capacity.
struct MemoryTier: Sendable {
    /// What is known of a URL.
    struct Record: Sendable {
        var variants: [StoredVariant] = []
        /// The version of the head file that it agrees with; `nil`: there was none.
        var generation: UInt64?
        /// The time of the last look at that file; `nil`: the disk may have more.
        var lookTime: MonotonicTime?
        fileprivate(set) var cost = 0

        func entries(of partition: String) -> [CacheEntry] {
            variants.filter { $0.partition == partition }.map(\.entry)
        }
    }

    /// An entry of more bytes keeps its body elsewhere, or is not stored.
    private(set) var maximumCost = 0
    private(set) var capacity = 0
    private(set) var usage = 0
    private let hasDisk: Bool
    private var records: [String: Record] = [:]
    private var order = RecencyList<String>()

    init(capacity: Int, hasDisk: Bool) {
        self.hasDisk = hasDisk
        setCapacity(capacity)
    }

    /// One entry has at most half of it; an eighth, if the disk takes larger ones.
    mutating func setCapacity(_ capacity: Int) {
        self.capacity = max(capacity, 0)
        maximumCost = self.capacity / (hasDisk ? 8 : 2)
        shrink()
    }

    var urls: [String] { Array(records.keys) }

    func record(_ url: String) -> Record? { records[url] }

    /// Makes the URL the most recently used one.
    mutating func use(_ url: String) {
        guard records[url] != nil else { return }
        order.use(url)
    }

    /// Changes, or makes, what is known of a URL.
    mutating func set(_ url: String, to record: Record) {
        var record = record
        remove(url)
        record.cost = record.variants.reduce(128 + url.utf8.count) { $0 + $1.cost }
        // One that is too large alone would drive out all others, and then itself.
        guard record.cost <= capacity || record.variants.count > 1 else { return }
        usage += record.cost
        records[url] = record
        order.use(url)
        shrink()
    }

    /// Changes the responses of a URL. Of one that is not known only what is inserted is known then.
    mutating func apply(_ change: StoreChange, to url: String) {
        var record = records[url]
        if record == nil, case .insert = change { record = Record() }
        guard var record else { return }
        change.apply(to: &record.variants)
        set(url, to: record)
    }

    mutating func remove(_ url: String) {
        usage -= records.removeValue(forKey: url)?.cost ?? 0
        order.remove(url)
    }

    mutating func removeAll() {
        records = [:]
        order.removeAll()
        usage = 0
    }

    private mutating func shrink() {
        while usage > capacity, let oldest = order.oldest {
            // A URL alone that is too large loses its oldest entries.
            if order.count == 1, var record = records[oldest], record.variants.count > 1 {
                let removed = record.variants.removeFirst()
                if removed.isOnDisk { (record.generation, record.lookTime) = (nil, nil) }
                usage -= removed.cost
                record.cost -= removed.cost
                records[oldest] = record
            } else {
                remove(oldest)
            }
        }
    }
}
