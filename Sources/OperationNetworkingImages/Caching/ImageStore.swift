/// The entries of an image cache with a memory limit, and its eviction policy.
///
/// | Event                                   | Effect                                                 |
/// |-----------------------------------------|--------------------------------------------------------|
/// | add, new key                            | its cost is added                                      |
/// | add, existing key                       | it replaces the old image, whose cost is subtracted    |
/// | more than the capacity after an add     | the least recently used are evicted down to the preferred usage |
/// | more than ``maximumCount`` after an add | the least recently used are evicted down to six tenths |
/// | found                                   | it becomes the most recently used                      |
/// | not found                               | nothing                                                |
struct ImageStore<Key: Hashable, Image> {
    private struct Entry {
        var image: Image
        var cost: Int
        var use: UInt64
    }

    /// The maximum number of images: the entry of a tiny image is larger than the image.
    static var maximumCount: Int { 100_000 }

    /// The maximum usage, in bytes.
    let capacity: Int
    /// The maximum usage after an eviction, in bytes.
    let preferredUsage: Int
    /// The bytes of all images.
    private(set) var usage = 0
    private var entries: [Key: Entry] = [:]
    private var uses: UInt64 = 0

    init(capacity: Int, preferredUsage: Int) {
        self.capacity = max(0, capacity)
        self.preferredUsage = min(max(0, preferredUsage), self.capacity)
    }

    var count: Int { entries.count }

    /// Adds an image. Returns the evicted images, to be released by the caller.
    mutating func add(_ image: Image, for key: Key, cost: Int) -> [Image] {
        uses += 1
        var removed: [Image] = []
        if let old = entries.updateValue(Entry(image: image, cost: max(0, cost), use: uses), forKey: key) {
            usage -= old.cost
            removed.append(old.image)
        }
        usage += max(0, cost)
        guard usage > capacity || entries.count > Self.maximumCount else { return removed }
        let preferredCount =
            entries.count > Self.maximumCount ? Self.maximumCount / 10 * 6 : Self.maximumCount
        let preferredUsage = usage > capacity ? preferredUsage : capacity
        for (key, entry) in entries.sorted(by: { $0.value.use < $1.value.use }) {
            guard usage > preferredUsage || entries.count > preferredCount else { break }
            usage -= entry.cost
            entries[key] = nil
            removed.append(entry.image)
        }
        return removed
    }

    /// Returns the image with this key, and marks it as most recently used.
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

    /// Removes the images whose keys match. Scans all keys. Returns the images, to be released by the caller.
    mutating func remove(where isMeant: (Key) -> Bool) -> [Image] {
        entries.keys.filter(isMeant).compactMap { remove($0) }
    }

    /// Removes all images and returns them, to be released by the caller.
    mutating func removeAll() -> [Image] {
        defer {
            entries = [:]
            usage = 0
        }
        return entries.values.map(\.image)
    }
}
