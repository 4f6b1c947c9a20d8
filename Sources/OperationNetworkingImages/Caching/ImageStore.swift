/// Images under keys with a limit of memory, as a value: which are kept, and which go.
///
/// | event                                | what happens                                                    |
/// |--------------------------------------|-----------------------------------------------------------------|
/// | add, key unknown                     | its cost is added                                               |
/// | add, key known                       | it replaces the old one, whose cost is subtracted               |
/// | more than the capacity after an add  | the least recently used go until the usage is what is preferred |
/// | more than ``maximumCount`` after an add | the least recently used go until six tenths are left         |
/// | found                                | it is the most recently used now                                |
/// | not found                            | nothing                                                         |
struct ImageStore<Key: Hashable, Image> {
    private struct Entry {
        var image: Image
        var cost: Int
        var use: UInt64
    }

    /// The number from which images go: the entry of a tiny image takes more than the image.
    static var maximumCount: Int { 100_000 }

    /// Bytes from which images go.
    let capacity: Int
    /// Bytes that are left after they went.
    let preferredUsage: Int
    /// The bytes of all images that are kept.
    private(set) var usage = 0
    private var entries: [Key: Entry] = [:]
    private var uses: UInt64 = 0

    init(capacity: Int, preferredUsage: Int) {
        self.capacity = max(0, capacity)
        self.preferredUsage = min(max(0, preferredUsage), self.capacity)
    }

    var count: Int { entries.count }

    /// Adds an image. Answers the images that are no longer kept, to be released by the caller.
    mutating func add(_ image: Image, for key: Key, cost: Int) -> [Image] {
        uses += 1
        var gone: [Image] = []
        if let old = entries.updateValue(Entry(image: image, cost: max(0, cost), use: uses), forKey: key) {
            usage -= old.cost
            gone.append(old.image)
        }
        usage += max(0, cost)
        guard usage > capacity || entries.count > Self.maximumCount else { return gone }
        let preferredCount =
            entries.count > Self.maximumCount ? Self.maximumCount / 10 * 6 : Self.maximumCount
        let preferredUsage = usage > capacity ? preferredUsage : capacity
        for (key, entry) in entries.sorted(by: { $0.value.use < $1.value.use }) {
            guard usage > preferredUsage || entries.count > preferredCount else { break }
            usage -= entry.cost
            entries[key] = nil
            gone.append(entry.image)
        }
        return gone
    }

    /// The image under a key, which is the most recently used one then.
    mutating func image(for key: Key) -> Image? {
        guard let index = entries.index(forKey: key) else { return nil }
        uses += 1
        entries.values[index].use = uses
        return entries.values[index].image
    }

    mutating func remove(_ key: Key) -> Image? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        usage -= entry.cost
        return entry.image
    }

    /// Looks at all keys. Answers what was kept under those, to be released by the caller.
    mutating func remove(where isMeant: (Key) -> Bool) -> [Image] {
        entries.keys.filter(isMeant).compactMap { remove($0) }
    }

    /// Answers what was kept, to be released by the caller.
    mutating func removeAll() -> [Image] {
        defer {
            entries = [:]
            usage = 0
        }
        return entries.values.map(\.image)
    }
}
