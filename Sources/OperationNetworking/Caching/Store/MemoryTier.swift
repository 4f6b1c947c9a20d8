internal import OperationNetworkingSystem

/// The responses of URLs that are known without reading the disk: their heads, and short bodies.
///
/// A URL is evicted as a whole. The least recently used one goes first when the capacity is exceeded.
struct MemoryTier: Sendable {
    /// What is known about a URL.
    struct Record: Sendable {
        var variants: [StoredVariant] = []
        /// The version of the head file with which it agrees; `nil` if none existed.
        var generation: UInt64?
        /// When that file was last looked up; `nil` if the disk may have more.
        var lookTime: MonotonicTime?
        fileprivate(set) var cost = 0

        func entries(of partition: String) -> [CacheEntry] {
            variants.compactMap { $0.partition == partition ? $0.entry : nil }
        }
    }

    /// The largest cost of an entry with its body. The body of a larger one is only on the disk, or not
    /// stored.
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

    /// Sets the capacity. One entry may use half of it, or an eighth if the disk stores larger ones.
    mutating func setCapacity(_ capacity: Int) {
        self.capacity = max(capacity, 0)
        maximumCost = self.capacity / (hasDisk ? 8 : 2)
        shrink()
    }

    var urls: [String] { Array(records.keys) }

    func record(_ url: String) -> Record? { records[url] }

    /// Makes a URL with a record the most recently used.
    mutating func use(_ url: String) {
        order.use(url)
    }

    /// Sets what is known about a URL.
    mutating func set(_ url: String, to record: Record) {
        var record = record
        remove(url)
        record.cost = record.variants.reduce(128 + url.utf8.count) { $0 + $1.cost }
        // A single response that is too large would evict all others first, and then itself.
        guard record.cost <= capacity || record.variants.count > 1 else { return }
        usage += record.cost
        records[url] = record
        order.use(url)
        shrink()
    }

    /// Changes the responses of a URL. For an unknown URL, only an inserted response is recorded.
    mutating func apply(_ change: StoreChange, to url: String) {
        var record = records[url]
        if record == nil, case .insert = change { record = Record() }
        guard var record else { return }
        change.apply(to: &record.variants)
        set(url, to: record)
    }

    mutating func remove(_ url: String) {
        guard let record = records.removeValue(forKey: url) else { return }
        usage -= record.cost
        order.remove(url)
    }

    mutating func removeAll() {
        records = [:]
        order.removeAll()
        usage = 0
    }

    private mutating func shrink() {
        while usage > capacity, let oldest = order.oldest {
            // If a single URL exceeds the capacity, its oldest entries are removed.
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
