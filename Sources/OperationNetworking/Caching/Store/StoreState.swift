internal import OperationNetworkingSystem

/// What a store knows without the disk: what is in memory, and which changes are on their way to the disk.
/// Decides what a look-up needs.
///
/// | Of the URL                                               | A look-up                        |
/// |----------------------------------------------------------|----------------------------------|
/// | there is no disk                                         | memory answers                   |
/// | everything is being removed                              | memory answers                   |
/// | its head file was looked at within a second              | memory answers                   |
/// | changes are on their way to the disk                     | waits for them, then the disk    |
/// | the same, and its head file is the one that memory knew  | memory answers                   |
/// | anything else                                            | the disk                         |
struct StoreState: Sendable {
    /// The seconds for which memory answers without a look at the head file, which another process may have
    /// changed.
    static let trust = 1.0
    /// The bytes that may wait for the disk. A stalled one gets no more until it has written some: what comes
    /// meanwhile is kept in memory, or not at all.
    static let maximumWaiting = 64 << 20

    /// Changes of a URL on their way to the disk, and the look-ups that wait for them.
    private struct Changes: Sendable {
        var count = 0
        var lookUps: [@Sendable () -> Void] = []
    }

    var memory: MemoryTier
    /// Whether there is a disk, and it works.
    private(set) var isDiskOn: Bool
    var moments = StoreMoments()
    /// Bytes that wait for the disk.
    var waiting = 0
    private var changes: [String: Changes] = [:]
    /// The removals of everything on their way to the disk.
    private var removalsOfAll = 0
    /// The number of changes that the disk has made. If it differs before and after a look at a file, the
    /// file may have changed since.
    private(set) var finishedChanges = 0

    init(memoryCapacity: Int, hasDisk: Bool) {
        memory = MemoryTier(capacity: memoryCapacity, hasDisk: hasDisk)
        isDiskOn = hasDisk
    }

    /// Whether the disk takes more, and keeps up.
    var takesForDisk: Bool { isDiskOn && waiting < Self.maximumWaiting }

    // MARK: - Look-ups

    /// The entries of a key as memory knows them; `nil`: the disk has to be asked.
    mutating func find(_ key: CacheKey, now: MonotonicTime) -> [CacheEntry]? {
        let record = memory.record(key.url)
        if isDiskOn, removalsOfAll == 0 {
            guard let time = record?.lookTime, now - time <= Self.trust else { return nil }
        }
        memory.use(key.url)
        return record?.entries(of: key.partition) ?? []
    }

    /// Has a look-up wait for the changes of the URL, of which there are some.
    mutating func wait(for url: String, _ lookUp: @escaping @Sendable () -> Void) {
        changes[url]?.lookUps.append(lookUp)
    }

    /// What becomes of a look-up after a look at the disk.
    enum Answer: Sendable {
        case entries([CacheEntry])
        /// The disk has to be looked at again.
        case again
        /// It waits for the changes of the URL.
        case wait
    }

    /// Takes over what a look at the disk has found.
    ///
    /// - Parameters:
    ///   - look: the finding.
    ///   - generation: the version of the head file that was known before.
    ///   - key: the one that is looked up.
    ///   - now: the time.
    /// - Returns: the entries of the key, or what is to be done.
    mutating func take(
        _ look: DiskTier.Look,
        known generation: UInt64?,
        for key: CacheKey,
        now: MonotonicTime
    ) -> Answer {
        guard isDiskOn, removalsOfAll == 0 else { return .entries(find(key, now: now) ?? []) }
        let record = memory.record(key.url)
        if changes[key.url] != nil {
            // Memory has them already, on top of the version that is on the disk still.
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
                // It has left memory meanwhile.
                guard generation == nil else { return .again }
                merge(nil, of: key.url, now: now)
            }
        }
        // Memory may be too small for it.
        guard let record = memory.record(key.url) else {
            let all = found.map { MemoryTier.Record(variants: $0.variants).entries(of: key.partition) }
            return .entries(all ?? [])
        }
        memory.use(key.url)
        return .entries(record.entries(of: key.partition))
    }

    /// Takes over what the disk has of a URL, beside what is in memory only.
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

    /// Keeps a body that was read.
    mutating func keep(_ body: CacheBody, of id: Int64, _ url: String) {
        guard body.count <= memory.maximumCost else { return }
        change(id, url) { $0.entry.body = body }
    }

    /// The disk does not take an entry.
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

    /// Adds a response to those in memory. One whose body only the disk takes is found there later.
    mutating func insert(_ variant: StoredVariant, by change: StoreChange, _ url: String) {
        memory.apply(change, to: url)
        guard variant.entry.body == nil, var record = memory.record(url) else { return }
        record.lookTime = nil
        memory.set(url, to: record)
    }

    /// A change of the URL is on its way to the disk.
    mutating func begin(_ url: String) {
        changes[url, default: Changes()].count += 1
    }

    /// The disk has made a change.
    ///
    /// - Parameters:
    ///   - url: of the responses.
    ///   - file: the head file after it.
    ///   - now: the time.
    /// - Returns: the look-ups that waited, if it was the last change of the URL.
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

    /// The disk has failed: memory works on.
    ///
    /// - Returns: the look-ups that waited.
    mutating func giveUpDisk() -> [@Sendable () -> Void] {
        isDiskOn = false
        defer { changes = [:] }
        return changes.values.flatMap(\.lookUps)
    }
}
