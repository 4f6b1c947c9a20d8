internal import OperationNetworkingSystem

/// The state of a store, without the disk: what is in memory, what is surely absent, and which changes are on
/// their way to the disk. Decides what a look-up needs.
///
/// | Of the key                                              | A look-up                            |
/// |---------------------------------------------------------|--------------------------------------|
/// | there is no disk                                        | memory answers                       |
/// | everything is being removed, and nothing came after     | memory answers                       |
/// | a record is complete, and changes by others were looked for within a second | memory answers   |
/// | no record, no change on its way, the filter has not its hash, and the same second | none       |
/// | changes are on their way to the disk                    | after them, the disk                 |
/// | anything else                                           | the disk                             |
///
/// All properties change together, under the one lock of the store: which look-up memory
/// answers depends on the changes and removals on their way, and on what was hidden.
///
/// Another process on the directory is noticed by SQLite's counter of changes, which the disk's queue reads
/// before each look-up there. So what another process stored, replaced, or removed is seen here a second
/// later at most, and once a second a look-up takes the way to that queue.
struct StoreState: Sendable {
    /// The seconds for which memory answers without a look for changes by others.
    static let trust = 1.0
    /// The bytes that may wait for the disk. A stalled one gets no more until it has written some: what comes
    /// meanwhile is kept in memory, or not at all.
    static let maximumWaiting = 64 << 20
    /// The look-ups that are answered together, at most: changes wait for them.
    static let maximumLookUps = 64
    /// The entries of a key that are kept.
    static let maximumVariants = 64
    /// The uses that are collected before the index is told.
    static let maximumUses = 1000

    /// Whether there is a disk tier.
    enum Disk: Sendable {
        /// None was asked for, or it cannot be believed or used.
        case off
        /// The index is being opened, or is open.
        case on
    }

    /// Changes of a key on their way to the disk, and the look-ups that wait for them.
    struct Changes: Sendable {
        var count = 0
        var lookups: [@Sendable () -> Void] = []
    }

    /// A question to the disk.
    struct LookUp: Sendable {
        let key: CacheKey
        let hash: Int64
        let later: @Sendable ([CacheEntry]) -> Void

        func isEqual(to other: LookUp) -> Bool { hash == other.hash && key == other.key }
    }

    var memory: MemoryTier
    var disk: Disk
    /// Look-ups on their way to the disk.
    private var lookUps: [LookUp] = []
    /// `nil` until the hashes of the index are read.
    var filter: KeyFilter?
    /// The number of changes by other processes.
    var epoch = 0
    /// When they were looked for; `nil`: not yet.
    var lastLook: MonotonicTime?
    var changes: [CacheKey: Changes] = [:]
    /// The removals of everything on their way to the disk.
    var removalsOfAll = 0
    var moments = StoreMoments()
    /// Bytes that wait for the disk.
    var waiting = 0
    /// Whether a time for writing through is set.
    var isWritingScheduled = false
    /// Entries that the disk could not remove or change.
    var hidden = HiddenEntries()
    /// Entries that were used since the index was told.
    var used: [Int64: Int64] = [:]

    init(memoryCapacity: Int, hasDisk: Bool) {
        memory = MemoryTier(capacity: memoryCapacity, hasDisk: hasDisk)
        disk = hasDisk ? .on : .off
    }

    var isDiskOn: Bool {
        if case .on = disk { true } else { false }
    }

    /// Whether the disk takes more, and keeps up.
    var takesForDisk: Bool { isDiskOn && waiting < Self.maximumWaiting }

    // MARK: - Look-ups

    enum Lookup: Sendable {
        case known([MemoryTier.Variant])
        case disk
    }

    mutating func find(_ key: CacheKey, now: MonotonicTime) -> Lookup {
        let record = memory.record(key)
        if case .off = disk { return known(record, key) }
        let isTrusted = lastLook.map { now - $0 <= Self.trust } ?? false
        if let record, isTrusted, record.isComplete, record.epoch == epoch { return known(record, key) }
        if changes[key] == nil, removalsOfAll > 0 { return known(record, key) }
        return record == nil && isTrusted && isSurelyAbsent(key, key.storedHash) ? .known([]) : .disk
    }

    private mutating func known(_ record: MemoryTier.Record?, _ key: CacheKey) -> Lookup {
        memory.use(key)
        return .known(record?.variants ?? [])
    }

    /// Whether the disk is known to have no entry of the key.
    func isSurelyAbsent(_ key: CacheKey, _ hash: Int64) -> Bool {
        if case .off = disk { return true }
        guard changes[key] == nil else { return false }
        return removalsOfAll > 0 || filter.map { !$0.mayContain(hash) } ?? false
    }

    /// Adds a look-up to the ones that are on their way.
    /// - Returns: whether it is the first of them, so that no turn of the index is asked for yet.
    mutating func append(_ lookUp: LookUp) -> Bool {
        lookUps.append(lookUp)
        return lookUps.count == 1
    }

    /// Takes the look-ups that came first.
    /// - Returns: them, and whether there are more.
    mutating func takeLookUps() -> (taken: [LookUp], areMore: Bool) {
        guard lookUps.count > Self.maximumLookUps else {
            defer { lookUps = [] }
            return (lookUps, false)
        }
        let taken = Array(lookUps.prefix(Self.maximumLookUps))
        lookUps.removeFirst(taken.count)
        return (taken, true)
    }

    /// Whether the disk has to be asked.
    func mayHave(_ lookUp: LookUp) -> Bool {
        changes[lookUp.key] != nil || !isSurelyAbsent(lookUp.key, lookUp.hash)
    }

    // MARK: - Changes

    /// Puts an entry among those of its key, in place of the one that has its number and of `replaced`.
    mutating func insert(
        _ variant: MemoryTier.Variant,
        of key: CacheKey,
        _ hash: Int64,
        replacing replaced: [Int64]
    ) {
        var record =
            memory.record(key) ?? MemoryTier.Record(isComplete: isSurelyAbsent(key, hash), epoch: epoch)
        record.variants.removeAll { $0.entry.id == variant.entry.id || replaced.contains($0.entry.id) }
        record.variants.append(variant)
        memory.set(key, to: record)
    }

    /// The entries to remove of a key that has too many: a server can name a field in `Vary` that is another
    /// in each request. The oldest go first.
    func excess(_ key: CacheKey) -> [Int64] {
        guard let variants = memory.record(key)?.variants, variants.count > Self.maximumVariants else {
            return []
        }
        return variants.prefix(variants.count - Self.maximumVariants).map(\.entry.id)
    }

    /// Whether memory knows an entry of the key that is invalidated and is none of `known`.
    func hasInvalidated(_ key: CacheKey, besides known: Set<Int64>) -> Bool {
        memory.record(key)?.variants.contains { variant in
            variant.entry.head.isInvalidated && !known.contains(variant.entry.id)
        } ?? false
    }

    /// Changes an entry; `nil` from `body` removes it. One that memory does not know stays as it is.
    mutating func change(
        _ id: Int64,
        of key: CacheKey,
        _ body: (MemoryTier.Variant) -> MemoryTier.Variant?
    ) {
        guard var record = memory.record(key),
            let index = record.variants.firstIndex(where: { $0.entry.id == id })
        else { return }
        if let changed = body(record.variants[index]) {
            record.variants[index] = changed
        } else {
            record.variants.remove(at: index)
        }
        memory.set(key, to: record)
    }

    /// Removes an entry, or all of a key.
    mutating func remove(_ id: Int64?, of key: CacheKey) {
        guard let id else {
            // What is left is known: nothing, when the disk has heard of it.
            memory.set(
                key,
                to: memory.record(key).map { MemoryTier.Record(isComplete: true, epoch: $0.epoch) }
            )
            moments.didRemove(key.url)
            return
        }
        change(id, of: key) { _ in nil }
    }

    /// Removes all of a URL that memory knows, whatever the trust and the jar.
    mutating func remove(url: String) {
        for key in memory.keys where key.url == url {
            memory.set(
                key,
                to: memory.record(key).map { MemoryTier.Record(isComplete: true, epoch: $0.epoch) }
            )
        }
        moments.didRemove(url)
    }

    mutating func removeAll() {
        memory.removeAll()
        moments.didRemoveAll()
        used = [:]
    }

    mutating func invalidate(_ key: CacheKey) {
        moments.didInvalidate(key)
        guard var record = memory.record(key) else { return }
        for index in record.variants.indices { record.variants[index].entry.head.isInvalidated = true }
        memory.set(key, to: record)
    }

    /// Has the next look-up ask the disk, when it has taken what is on its way to it.
    mutating func forgetCompleteness(_ key: CacheKey) {
        guard var record = memory.record(key) else { return }
        record.isComplete = false
        memory.set(key, to: record)
    }

    // MARK: - The disk's answers

    /// Takes over what the disk has of a key, when no change of it is on its way.
    mutating func merge(_ found: [MemoryTier.Variant], of key: CacheKey) -> [MemoryTier.Variant] {
        let old = memory.record(key)?.variants ?? []
        var variants = found.filter { !hidden.contains($0.entry.id, key) }
        for index in variants.indices where variants[index].body == nil {
            let entry = variants[index].entry
            variants[index].body = old.first { $0.entry.id == entry.id }?.body
        }
        variants += old.filter { one in !one.isOnDisk && !variants.contains { $0.entry.id == one.entry.id } }
        memory.set(key, to: MemoryTier.Record(variants: variants, isComplete: true, epoch: epoch))
        return variants
    }

    /// The answer to a look-up for which the disk has found these entries; `nil`: a change of the key is on
    /// its way.
    mutating func answer(to key: CacheKey, _ found: [MemoryTier.Variant]) -> [CacheEntry]? {
        guard changes[key] == nil else { return nil }
        // What the disk still has is about to be removed, or it is not to be used any more.
        guard isDiskOn, removalsOfAll == 0 else { return memory.record(key)?.variants.map(\.found) ?? [] }
        return merge(found, of: key).map(\.found)
    }

    mutating func begin(_ key: CacheKey) {
        changes[key, default: Changes()].count += 1
    }

    /// - Returns: the look-ups that waited, if it was the last change.
    mutating func end(_ key: CacheKey) -> [@Sendable () -> Void] {
        changes[key]?.count -= 1
        guard let one = changes[key], one.count == 0 else { return [] }
        changes[key] = nil
        return one.lookups
    }
}
