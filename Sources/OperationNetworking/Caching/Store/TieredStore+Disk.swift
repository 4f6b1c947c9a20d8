import Dispatch
import Foundation
internal import OperationNetworkingSystem

extension TieredStore {
    // MARK: - Opening

    /// Opens the index and reads the hashes of its keys, on its queue.
    func open() {
        guard let disk else { return }
        index.async { [self] in
            guard disk.open() else { return giveUpDisk() }
            state.withLock { $0.lastLook = now() }
            index.async { [self] in
                readHashes(disk)
                finishRemovals(disk)
                beginHousekeeping()
            }
        }
        // No file is made before the directory is open.
        bodies.async { [index] in index.sync {} }
    }

    private func readHashes(_ disk: DiskTier) {
        guard let hashes = disk.hashes() else { return }
        var filter = KeyFilter(capacity: hashes.count * 2)
        for hash in hashes { filter.insert(hash) }
        // What is stored from now on is noted by this queue, after this.
        state.withLock { $0.filter = filter }
    }

    /// Memory works on.
    private func giveUpDisk() {
        let lookups = state.withLock { state in
            state.disk = .off
            defer { state.changes = [:] }
            return state.changes.values.flatMap(\.lookups)
        }
        for lookup in lookups { lookup() }
    }

    // MARK: - Changes

    /// Has the index changed after all that was asked for before. Called with the lock held, so that changes
    /// come in the order in which memory changed; `then` hears on the index's queue whether it succeeded.
    func passOn(
        _ work: @escaping @Sendable (DiskTier) throws -> Void,
        then: @escaping @Sendable (TieredStore, Bool) -> Void
    ) {
        guard let disk else { return }
        bodies.async { [self] in
            index.async { [self] in
                let succeeded = disk.perform(work)
                then(self, succeeded)
                finishRemovals(disk)
            }
        }
    }

    /// After work on the index: removes the files of removed entries, which may take its time, and those that
    /// another index has left.
    func finishRemovals(_ disk: DiskTier) {
        if !disk.isUsable { giveUpDisk() }
        if disk.takeSweep() { housekeeping.async { [self] in removeOrphans(disk) } }
        let names = disk.takeRemovedNames()
        guard !names.isEmpty else { return }
        bodies.async { disk.removeFiles(names) }
    }

    /// A change of the key is over.
    func end(_ key: CacheKey) {
        let lookups = state.withLock { $0.end(key) }
        for lookup in lookups { lookup() }
    }

    /// Collects a use; the index hears of it with the next entry that is stored, or when there are many.
    func noteUse(_ id: Int64, _ state: inout StoreState) {
        guard state.isDiskOn else { return }
        state.used[id] = WallClock.microseconds
        guard state.used.count > StoreState.maximumUses else { return }
        let used = state.used
        state.used = [:]
        passOn { disk in
            try disk.note(used)
        } then: { _, _ in
        }
    }

    /// The entries that were used since the index was told.
    func takeUsed() -> [Int64: Int64] {
        state.withLock { state in
            defer { state.used = [:] }
            return state.used
        }
    }

    // MARK: - Look-ups

    /// Asks the disk, when no change of the key is on its way to it. The look-ups that are asked for before
    /// the index has its turn are answered together.
    func lookUp(_ lookUp: StoreState.LookUp) {
        guard let disk else { return lookUp.later([]) }
        let isFirst = state.withLock { state in
            guard state.changes[lookUp.key] == nil else {
                // Another change may come meanwhile: then it waits again.
                state.changes[lookUp.key]?.lookups.append { [self] in self.lookUp(lookUp) }
                return false
            }
            return state.append(lookUp)
        }
        if isFirst { answers.async { [self] in answerLookUps(disk) } }
    }

    /// On the queue of answers, which goes on with them, so that a look-up changes threads once.
    private func answerLookUps(_ disk: DiskTier) {
        let (lookUps, found) = index.sync { () -> ([StoreState.LookUp], [[CacheEntry]?]) in
            let (lookUps, areMore) = state.withLock { $0.takeLookUps() }
            if areMore { answers.async { [self] in answerLookUps(disk) } }
            return (lookUps, entries(for: lookUps, disk))
        }
        for index in lookUps.indices {
            // `nil`: its key was changed meanwhile, and it waits again.
            if let entries = found[index] { lookUps[index].later(entries) } else { lookUp(lookUps[index]) }
        }
    }

    /// On the index's queue: the answers, as of one moment; `nil`: a change of the key is on its way. The
    /// index is asked once for look-ups that are equal.
    private func entries(for lookUps: [StoreState.LookUp], _ disk: DiskTier) -> [[CacheEntry]?] {
        let firsts = lookUps.indices.map { index in
            lookUps[..<index].firstIndex { $0.isEqual(to: lookUps[index]) } ?? index
        }
        var found: [[MemoryTier.Variant]] = []
        disk.whileReading {
            noticeOthers(disk)
            let asked = state.withLock { state in
                lookUps.indices.map { firsts[$0] == $0 && state.mayHave(lookUps[$0]) }
            }
            found = lookUps.indices.map { asked[$0] ? disk.find(lookUps[$0].key, lookUps[$0].hash) : [] }
        }
        let entries = state.withLock { state in
            var entries: [[CacheEntry]?] = []
            for index in lookUps.indices {
                let first = firsts[index]
                let isFirst = first == index
                entries.append(isFirst ? state.answer(to: lookUps[index].key, found[index]) : entries[first])
            }
            return entries
        }
        finishRemovals(disk)
        return entries
    }

    /// Looks for changes by other processes.
    private func noticeOthers(_ disk: DiskTier) {
        let others = disk.changesByOthers()
        state.withLock { state in
            state.lastLook = now()
            guard let others else { return }
            state.epoch += 1
            for hash in others { state.filter?.insert(hash) }
        }
    }

    /// Notes that a hash is in the index.
    func note(_ hash: Int64, _ disk: DiskTier) {
        let isOverfull = state.withLock { state in
            state.filter?.insert(hash)
            return state.filter?.isOverfull ?? false
        }
        if isOverfull { readHashes(disk) }
    }

    // MARK: - Bodies

    func readFromDisk(
        _ entry: CacheEntry,
        of key: CacheKey,
        _ later: @escaping @Sendable ((any CacheReading)?) -> Void
    ) {
        guard let disk else {
            index.async { later(nil) }
            return
        }
        if entry.head.length > EntryTarget.inlineLength {
            // Its row is in the index when all that was asked for before is done.
            bodies.async { [self] in index.async { [self] in findFile(entry, of: key, disk, later) } }
        } else {
            index.async { [self] in
                guard case .found(let row) = disk.row(entry.id), row.key == key, let bytes = row.body else {
                    return later(nil)
                }
                later(promote(bytes, entry, key))
            }
        }
    }

    /// On the queue of the index, which has the checksums of a file.
    private func findFile(
        _ entry: CacheEntry,
        of key: CacheKey,
        _ disk: DiskTier,
        _ later: @escaping @Sendable ((any CacheReading)?) -> Void
    ) {
        switch disk.row(entry.id) {
        case .found(let row) where row.key == key && row.head.length == entry.head.length:
            if !row.isInline { return bodies.async { [self] in openFile(entry, of: key, row, disk, later) } }
        case .unknown:
            return later(nil)
        case .found, .missing: break
        }
        // It is not what memory says, and so will it be the next time.
        remove(entry.id, of: key)
        later(nil)
    }

    /// On the queue of bodies.
    private func openFile(
        _ entry: CacheEntry,
        of key: CacheKey,
        _ row: DiskIndex.Row,
        _ disk: DiskTier,
        _ later: @escaping @Sendable ((any CacheReading)?) -> Void
    ) {
        do {
            guard let checksums = row.checksums, let file = try disk.openBody(entry.id) else {
                throw BodyError.missing
            }
            let length = entry.head.length
            if length <= min(EntryTarget.promotedLength, Int64(state.withLock { $0.memory.maximumCost })) {
                later(promote(try checksums.read(0..<length, of: file), entry, key))
            } else {
                guard try file.status.size >= length else { throw BodyError.missing }
                later(FileReader(file, checksums, length: length, queue: bodies))
            }
        } catch let error as SystemError where ![ENOENT, EIO].contains(error.code) {
            // The process may have too many files open: the entry is as good as before.
            later(nil)
        } catch {
            // It is not what the index says, and so will it be the next time.
            remove(entry.id, of: key)
            later(nil)
        }
    }

    private func promote(_ bytes: Data, _ entry: CacheEntry, _ key: CacheKey) -> MemoryReader {
        let body = CacheBody(bytes)
        state.withLock { state in
            state.change(entry.id, of: key) { variant in
                var variant = variant
                variant.body = body
                return variant
            }
        }
        return MemoryReader(body)
    }
}
