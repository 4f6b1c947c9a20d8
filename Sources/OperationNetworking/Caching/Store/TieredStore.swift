import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// A store in memory and, with a directory, on the disk.
///
/// | Queue    | Work                                                              |
/// |----------|-------------------------------------------------------------------|
/// | `bodies` | writes and reads the files of bodies, in the order of the calls   |
/// | `housekeeping` | removes leftovers, and waits until files are on the disk    |
/// | `index`  | reads and changes the index; what changes it went through `bodies` before |
/// | `answers` | asks `index` for what is looked up, and goes on with the answers |
///
/// So a look-up waits for no body, and changes of the index keep the order of the calls.
final class TieredStore: CacheStore {
    let bodies = DispatchQueue(label: "OperationNetworking.cache.bodies")
    let index = DispatchQueue(label: "OperationNetworking.cache.index")
    let answers = DispatchQueue(label: "OperationNetworking.cache.answers")
    let housekeeping = DispatchQueue(label: "OperationNetworking.cache.housekeeping", qos: .utility)
    let state: Locked<StoreState>
    /// `nil`: memory only.
    let disk: DiskTier?
    let now: @Sendable () -> MonotonicTime
    let identifiers = EntryIdentifiers()

    /// - Parameters:
    ///   - memoryCapacity: in bytes.
    ///   - diskCapacity: in bytes.
    ///   - directory: `nil`, or without a capacity: memory only.
    ///   - boot: names the run of the machine.
    ///   - patience: the milliseconds for which a change of the index waits for other processes.
    ///   - now: the clock.
    init(
        memoryCapacity: Int,
        diskCapacity: Int,
        directory: URL?,
        boot: String? = KernelBoot.identifier,
        patience: Int32 = 2000,
        now: @escaping @Sendable () -> MonotonicTime = { .now }
    ) {
        self.now = now
        let path = diskCapacity > 0 ? directory?.absoluteURL.path : nil
        state = Locked(StoreState(memoryCapacity: memoryCapacity, hasDisk: path != nil))
        disk = path.map {
            DiskTier(path: $0, capacity: Int64(diskCapacity), boot: boot, patience: patience, now: now)
        }
        open()
    }

    deinit {
        guard let disk else { return }
        let used = takeUsed()
        if !used.isEmpty { index.async { disk.noteAtEnd(used) } }
    }

    // MARK: - Reading

    func find(_ key: CacheKey, later: @escaping @Sendable ([CacheEntry]) -> Void) -> [CacheEntry]? {
        let time = now()
        let known: [CacheEntry]? = state.withLock { state in
            guard case .known(let variants) = state.find(key, now: time) else { return nil }
            return variants.map(\.found)
        }
        if let known { return known }
        lookUp(StoreState.LookUp(key: key, hash: key.storedHash, later: later))
        return nil
    }

    func known(_ key: CacheKey) -> [CacheEntry] {
        state.withLock { $0.memory.record(key)?.variants.map(\.entry) ?? [] }
    }

    func read(
        _ entry: CacheEntry,
        of key: CacheKey,
        later: @escaping @Sendable ((any CacheReading)?) -> Void
    ) -> (any CacheReading)? {
        if let body = entry.body {
            // Its look-up was the use that memory counts.
            if disk != nil { state.withLock { noteUse(entry.id, &$0) } }
            return MemoryReader(body)
        }
        let body: CacheBody? = state.withLock { state in
            state.memory.use(key)
            noteUse(entry.id, &state)
            guard let variants = state.memory.record(key)?.variants else { return nil }
            guard let variant = variants.first(where: { $0.entry.id == entry.id }) else { return nil }
            return variant.body
        }
        if let body { return MemoryReader(body) }
        readFromDisk(entry, of: key, later)
        return nil
    }

    // MARK: - Changing

    func write(
        _ head: CachedHead,
        for key: CacheKey,
        replacing: [Int64],
        invalidated: Set<Int64>?,
        since start: StoreMoments.Moment,
        inMemoryOnly: Bool
    ) -> (any CacheWriting)? {
        let limits = state.withLock { state in
            EntryLimits(
                memory: Int64(state.memory.maximumCost),
                disk: state.takesForDisk && !inMemoryOnly ? disk?.maximumLength ?? 0 : 0
            )
        }
        guard head.length <= max(limits.memory, limits.disk) else { return nil }
        let target = EntryTarget(replacing: replacing, invalidated: invalidated)
        return EntryWriter(self, key: key, target: target, start: start, limits: limits)
    }

    var moment: StoreMoments.Moment { state.withLock { $0.moments.now } }

    func update(
        _ entry: CacheEntry,
        of key: CacheKey,
        to head: CachedHead,
        since start: StoreMoments.Moment
    ) {
        let id = entry.id
        change(key) { state in
            let head = state.moments.overtaking(head, of: key, since: start)
            state.change(id, of: key) { variant in
                var variant = variant
                variant.entry.head = variant.entry.head.updated(to: head, from: entry.head)
                return variant
            }
            return head
        } onDisk: { disk, head in
            try disk.update(entry, to: head)
        } onFailure: { state, _ in
            state.hidden.insert([id])
        }
    }

    func remove(_ id: Int64?, of key: CacheKey) {
        change(key) { state in
            state.remove(id, of: key)
        } onDisk: { disk, _ in
            if let id { try disk.remove([id]) } else { try disk.remove(key) }
        } onFailure: { state, next in
            if let id { state.hidden.insert([id]) } else { state.hidden.insert(key, before: next) }
        }
    }

    func removeAll(then: (@Sendable () -> Void)? = nil) {
        state.withLock { state in
            state.removeAll()
            guard state.isDiskOn else { return }
            state.removalsOfAll += 1
            passOn { disk in
                try disk.removeAll()
            } then: { store, succeeded in
                let next = store.identifiers.next()
                store.state.withLock { state in
                    if succeeded { state.hidden.didRemoveAll() } else { state.hidden.insertAll(before: next) }
                    state.removalsOfAll -= 1
                }
            }
        }
        guard let then else { return }
        bodies.async { [index] in index.async { then() } }
    }

    func invalidate(_ key: CacheKey) {
        change(key) { state in
            state.invalidate(key)
        } onDisk: { disk, _ in
            try disk.invalidate(key)
        } onFailure: { state, next in
            state.hidden.insert(key, before: next)
        }
    }

    /// Changes memory, and by what that returns the disk, after all that was asked for before; `onFailure`
    /// hides what the disk still has.
    private func change<Change: Sendable>(
        _ key: CacheKey,
        inMemory: (inout StoreState) -> Change,
        onDisk: @escaping @Sendable (DiskTier, Change) throws -> Void,
        onFailure: @escaping @Sendable (inout StoreState, _ next: Int64) -> Void
    ) {
        state.withLock { state in
            let change = inMemory(&state)
            guard state.isDiskOn else { return }
            state.begin(key)
            passOn { disk in
                try onDisk(disk, change)
            } then: { store, succeeded in
                let next = store.identifiers.next()
                if !succeeded { store.state.withLock { onFailure(&$0, next) } }
                store.end(key)
            }
        }
    }
}
