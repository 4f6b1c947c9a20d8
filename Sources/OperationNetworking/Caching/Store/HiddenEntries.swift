/// The entries that the disk could not remove or change, which must not be found on it again.
///
/// A disk that fails for long makes them many. Beyond ``limit`` one number stands for the older half: all
/// entries below it are hidden, those that could be used among them. What is stored later has a greater one.
struct HiddenEntries: Sendable {
    /// The entries, keys and URLs that are remembered one by one, at most.
    static let limit = 10_000

    private var entries: Set<Int64> = []
    /// Of keys whose entries the disk could not remove: those with a lower number are hidden.
    private var keys: [CacheKey: Int64] = [:]
    /// The same for URLs.
    private var urls: [String: Int64] = [:]
    /// The same for all keys.
    private var bound = Int64.min

    /// The number of those that are remembered one by one.
    var count: Int { entries.count + keys.count + urls.count }

    func contains(_ id: Int64, _ key: CacheKey) -> Bool {
        id < bound || entries.contains(id) || id < keys[key] ?? .min || id < urls[key.url] ?? .min
    }

    /// Keeps entries from being found on the disk again.
    mutating func insert(_ ids: [Int64]) {
        for id in ids where id >= bound { entries.insert(id) }
        shrink()
    }

    /// The same for all entries of a key with a lower number than `id`.
    mutating func insert(_ key: CacheKey, before id: Int64) {
        keys[key] = id
        shrink()
    }

    /// The same for all entries of a URL.
    mutating func insert(url: String, before id: Int64) {
        urls[url] = id
        shrink()
    }

    /// The same for all entries.
    mutating func insertAll(before id: Int64) {
        bound = max(bound, id)
        entries = entries.filter { $0 >= bound }
        keys = keys.filter { $0.value > bound }
        urls = urls.filter { $0.value > bound }
    }

    /// The disk has removed everything, at last. What it could not remove as a whole before stays hidden: the
    /// index may have been another one, as when a directory is mounted again.
    mutating func didRemoveAll() {
        (entries, keys, urls) = ([], [:], [:])
    }

    private mutating func shrink() {
        guard count > Self.limit else { return }
        let numbers = (Array(entries) + keys.values + urls.values).sorted()
        insertAll(before: numbers[numbers.count / 2])
    }
}
