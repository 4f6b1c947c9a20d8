internal import Foundation
internal import OperationNetworkingSystem

/// What a store knows without reading the disk: the responses in memory, and the changes that the disk has
/// yet to make. Decides what a lookup needs.
///
/// | State of the URL                                         | A lookup                         |
/// |----------------------------------------------------------|----------------------------------|
/// | no disk                                                  | uses memory                      |
/// | everything is being removed                              | uses memory                      |
/// | its head file was read within the last second            | uses memory                      |
/// | changes are pending                                      | waits for them, reads the disk   |
/// | the same, and memory knows the version of the head file  | uses memory                      |
/// | anything else                                            | reads the disk                   |
struct StoreState: Sendable {
    /// How long, in seconds, memory answers without reading the head file, which another process may have
    /// changed.
    static let trust = 1.0
    /// The number of bytes that may wait for the disk. If a stalled disk has more to write, new responses are
    /// stored in memory only, or not at all.
    static let maximumWaiting = 64 << 20

    /// The pending changes of a URL, and the lookups that wait for them.
    private struct Changes: Sendable {
        var count = 0
        var lookUps: [@Sendable () -> Void] = []
    }

    var memory: MemoryTier
    /// Whether a working disk exists.
    private(set) var isDiskOn: Bool
    var moments = StoreMoments()
    /// The number of bytes that wait for the disk.
    var waiting = 0
    private var changes: [String: Changes] = [:]
    /// The number of pending removals of everything.
    private var removalsOfAll = 0
    /// The number of changes that the disk has made. If it changes during a lookup, the file may have changed
    /// since it was read.
    private(set) var finishedChanges = 0

    init(memoryCapacity: Int, hasDisk: Bool) {
        memory = MemoryTier(capacity: memoryCapacity, hasDisk: hasDisk)
        isDiskOn = hasDisk
    }

    /// Whether the disk can accept more.
    var takesForDisk: Bool { isDiskOn && waiting < Self.maximumWaiting }

    // MARK: - Lookups

    /// The entries of a key in memory; `nil` if the disk has to be read.
    mutating func find(_ key: CacheKey, now: MonotonicTime) -> [CacheEntry]? {
        let record = memory.record(key.url)
        if isDiskOn, removalsOfAll == 0 {
            guard let time = record?.lookTime, now - time <= Self.trust else { return nil }
        }
        guard let record else { return [] }
        memory.use(key.url)
        return record.entries(of: key.partition)
    }

    /// Makes a lookup wait for the pending changes of the URL.
    mutating func wait(for url: String, _ lookUp: @escaping @Sendable () -> Void) {
        changes[url]?.lookUps.append(lookUp)
    }

    /// The next step of a lookup after the disk was read.
    enum Answer: Sendable {
        case entries([CacheEntry])
        /// Read the disk again.
        case again
        /// Wait for the pending changes of the URL.
        case wait
    }

    /// Merges what a lookup has found on the disk into memory.
    ///
    /// - Parameters:
    ///   - look: the result of the lookup.
    ///   - generation: the version of the head file that was known before.
    ///   - key: the requested key.
    ///   - now: the time.
    /// - Returns: the entries of the key, or the next step.
    mutating func take(
        _ look: DiskTier.Look,
        known generation: UInt64?,
        for key: CacheKey,
        now: MonotonicTime
    ) -> Answer {
        guard isDiskOn, removalsOfAll == 0 else { return .entries(find(key, now: now) ?? []) }
        let record = memory.record(key.url)
        if changes[key.url] != nil {
            // Memory includes the changes already, based on the version that the disk still has.
            guard case .same = look, record?.generation == generation, record?.lookTime != nil else {
                return .wait
            }
        }
        var found: HeadFile?
        switch look {
        case .other(let file):
            found = file
            merge(file, of: key.url, now: now)
        case .same:
            if var record {
                record.lookTime = now
                memory.set(key.url, to: record)
            } else {
                // The URL was evicted from memory in the meantime.
                guard generation == nil else { return .again }
                merge(nil, of: key.url, now: now)
            }
        }
        // The URL may be too large for memory.
        guard let record = memory.record(key.url) else {
            let all = found.map { MemoryTier.Record(variants: $0.variants).entries(of: key.partition) }
            return .entries(all ?? [])
        }
        memory.use(key.url)
        return .entries(record.entries(of: key.partition))
    }

    /// Combines the responses of a URL on the disk with those in memory only.
    mutating func merge(_ file: HeadFile?, of url: String, now: MonotonicTime) {
        let old = memory.record(url)?.variants ?? []
        var variants = file?.variants ?? []
        for index in variants.indices where variants[index].entry.body == nil {
            let id = variants[index].entry.id
            variants[index].entry.body = old.first { $0.entry.id == id }?.entry.body
        }
        variants += old.filter { !$0.isOnDisk }
        memory.set(
            url,
            to: MemoryTier.Record(variants: variants, generation: file?.generation, lookTime: now)
        )
    }

    /// Keeps a body that was read in memory.
    mutating func keep(_ body: Data, of id: Int64, _ url: String) {
        guard body.count <= memory.maximumCost else { return }
        change(id, url) { $0.entry.body = body }
    }

    /// Records that the disk has not stored an entry.
    mutating func isNotOnDisk(_ id: Int64, _ url: String) {
        change(id, url) { $0.isOnDisk = false }
    }

    private mutating func change(_ id: Int64, _ url: String, _ body: (inout StoredVariant) -> Void) {
        guard var record = memory.record(url),
            let index = record.variants.firstIndex(where: { $0.entry.id == id })
        else { return }
        body(&record.variants[index])
        memory.set(url, to: record)
    }

    // MARK: - Changes

    /// Adds a response. A response without a body in memory is looked up on the disk later.
    mutating func insert(_ variant: StoredVariant, by change: StoreChange, _ url: String) {
        memory.apply(change, to: url)
        guard variant.entry.body == nil, var record = memory.record(url) else { return }
        record.lookTime = nil
        memory.set(url, to: record)
    }

    /// Records that a change of the URL is pending.
    mutating func begin(_ url: String) {
        changes[url, default: Changes()].count += 1
    }

    /// Records that the disk has made a change.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - file: the head file after the change.
    ///   - now: the time.
    /// - Returns: the waiting lookups, if this was the last pending change of the URL.
    mutating func finish(_ url: String, _ file: HeadFile?, now: MonotonicTime) -> [@Sendable () -> Void] {
        finishedChanges += 1
        changes[url]?.count -= 1
        guard let last = changes[url], last.count == 0 else { return [] }
        changes[url] = nil
        if removalsOfAll == 0, memory.record(url) != nil { merge(file, of: url, now: now) }
        return last.lookUps
    }

    mutating func beginRemovalOfAll() {
        removalsOfAll += 1
    }

    mutating func finishRemovalOfAll() {
        finishedChanges += 1
        removalsOfAll -= 1
    }

    /// Records that the disk has failed. Memory continues to work.
    ///
    /// - Returns: the waiting lookups.
    mutating func disableDisk() -> [@Sendable () -> Void] {
        isDiskOn = false
        defer { changes = [:] }
        return changes.values.flatMap(\.lookUps)
    }
}
