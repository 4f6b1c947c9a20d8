import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Stores responses in memory and, with a directory, on the disk.
///
/// Every call returns at once, on any thread, and does not access files there: it may be the network thread.
/// A lookup after a change sees the change. Every entry has a whole body.
///
/// | Queue          | Work                                                               |
/// |----------------|--------------------------------------------------------------------|
/// | `reading`      | reads head files and bodies                                        |
/// | `writing`      | writes bodies and head files, and removes them, in the order of the calls |
/// | `housekeeping` | counts the files, and removes those that exceed the capacity       |
final class ResponseStore: Sendable {
    /// The longest body that is read with its head, if the entry is the only one.
    private static let shortLength: Int64 = 64 << 10
    /// The longest body that is read in one piece and then kept in memory.
    private static let promotedLength: Int64 = 1 << 20
    /// How long after a write the files are counted, in seconds.
    private static let countingDelay = 30.0

    let reading = DispatchQueue(label: "OperationNetworking.cache.reading")
    let writing = DispatchQueue(label: "OperationNetworking.cache.writing")
    let housekeeping = DispatchQueue(label: "OperationNetworking.cache.housekeeping", qos: .utility)
    let state: Locked<StoreState>
    /// `nil` for memory only.
    let disk: DiskTier?
    private let counting = Locked(Counting())
    private let now: @Sendable () -> MonotonicTime

    /// When the files are counted next.
    private struct Counting {
        /// The bytes written since the files were counted; `nil` if they have never been counted.
        var written: Int64?
        var isScheduled = false
    }

    /// - Parameters:
    ///   - memoryCapacity: the capacity in memory, in bytes.
    ///   - diskCapacity: the capacity on the disk, in bytes.
    ///   - directory: the directory; without one, or without a capacity, only memory is used.
    ///   - watch: called before each change of a file.
    ///   - now: the clock.
    init(
        memoryCapacity: Int,
        diskCapacity: Int,
        directory: URL?,
        watch: (@Sendable (FileChange) throws -> Void)? = nil,
        now: @escaping @Sendable () -> MonotonicTime = { .now }
    ) {
        self.now = now
        let path = diskCapacity > 0 ? directory?.absoluteURL.path : nil
        state = Locked(StoreState(memoryCapacity: memoryCapacity, hasDisk: path != nil))
        disk = path.map { DiskTier(path: $0, capacity: Int64(diskCapacity), watch: watch) }
    }

    // MARK: - Reading

    /// Returns all variants of a key if memory has them. Otherwise it returns `nil`, and calls `later` once
    /// on any thread.
    func find(_ key: CacheKey, later: @escaping @Sendable ([CacheEntry]) -> Void) -> [CacheEntry]? {
        if let known = state.withLock({ $0.find(key, now: now()) }) { return known }
        reading.async { [self] in lookUp(key, later) }
        return nil
    }

    /// The variants of a key that memory has. The disk may have more.
    func known(_ key: CacheKey) -> [CacheEntry] {
        state.withLock { $0.memory.record(key.url)?.entries(of: key.partition) ?? [] }
    }

    /// Looks up a key on the disk. Called on the reading queue.
    private func lookUp(_ key: CacheKey, _ later: @escaping @Sendable ([CacheEntry]) -> Void) {
        guard let disk else { return later([]) }
        while true {
            let (known, record, changes) = state.withLock { state in
                (state.find(key, now: now()), state.memory.record(key.url), state.finishedChanges)
            }
            if let known { return later(known) }
            let generation = record?.generation
            var look = disk.look(at: key.url, known: generation, using: key.partition)
            if case .other(var file?) = look {
                readShortBody(into: &file, key, known: record)
                look = .other(file)
            }
            let answer = state.withLock { state in
                // A change may have finished since the lookup.
                guard state.finishedChanges == changes else { return StoreState.Answer.again }
                let answer = state.take(look, known: generation, for: key, now: now())
                if case .wait = answer {
                    state.wait(for: key.url) { [self] in reading.async { [self] in lookUp(key, later) } }
                }
                return answer
            }
            switch answer {
            case .entries(let entries): return later(entries)
            case .wait: return
            case .again: continue
            }
        }
    }

    /// Reads the body of the only entry of a key, if it is short and not in memory.
    private func readShortBody(into file: inout HeadFile, _ key: CacheKey, known: MemoryTier.Record?) {
        let indices = file.variants.indices.filter { file.variants[$0].partition == key.partition }
        guard let index = indices.first, indices.count == 1 else { return }
        let entry = file.variants[index].entry
        guard entry.head.length <= Self.shortLength,
            known?.variants.contains(where: { $0.entry.id == entry.id && $0.entry.body != nil }) != true
        else { return }
        file.variants[index].entry.body = wholeBody(of: entry)
    }

    private func wholeBody(of entry: CacheEntry) -> Data? {
        let length = Int(entry.head.length)
        guard let body = try? disk?.openBody(entry)?.read(length, at: 0), body.count == length else {
            return nil
        }
        return body
    }

    /// Returns a reader if the body is in memory. Otherwise it returns `nil`, and calls `later` once on any
    /// thread, with `nil` if the body is gone.
    func read(
        _ entry: CacheEntry,
        of key: CacheKey,
        later: @escaping @Sendable (StoredBodyReader?) -> Void
    ) -> StoredBodyReader? {
        if let body = entry.body ?? known(key).first(where: { $0.id == entry.id })?.body {
            return StoredBodyReader(body)
        }
        reading.async { [self] in
            let reader = reader(of: entry, key)
            // The entry would be useless the next time as well.
            if reader == nil { remove(entry.id, of: key) }
            later(reader)
        }
        return nil
    }

    private func reader(of entry: CacheEntry, _ key: CacheKey) -> StoredBodyReader? {
        guard entry.head.length <= Self.promotedLength else {
            return disk?.openBody(entry).map {
                StoredBodyReader($0, length: entry.head.length, queue: reading)
            }
        }
        guard let body = wholeBody(of: entry) else { return nil }
        state.withLock { $0.keep(body, of: entry.id, key.url) }
        return StoredBodyReader(body)
    }

    // MARK: - Changing

    /// The current moment.
    var moment: StoreMoments.Moment { state.withLock { $0.moments.now } }

    /// Begins a new entry, which can be found once it is committed.
    ///
    /// - Parameters:
    ///   - head: the head of the response; its `length` decides whether the entry can fit.
    ///   - target: the key, and the entries to replace.
    ///   - inMemoryOnly: whether the entry must not be written to the disk.
    /// - Returns: `nil` if the response is too large.
    func write(
        _ head: CachedHead,
        at target: StoredBodyWriter.Target,
        inMemoryOnly: Bool = false
    ) -> StoredBodyWriter? {
        let limits = state.withLock { state in
            StoredBodyWriter.Limits(
                memory: Int64(state.memory.maximumCost),
                disk: state.takesForDisk && !inMemoryOnly ? disk?.maximumLength ?? 0 : 0
            )
        }
        guard head.length <= max(limits.memory, limits.disk) else { return nil }
        return StoredBodyWriter(self, target, limits, declaredLength: head.length)
    }

    /// Stores a response with a whole body.
    ///
    /// - Parameters:
    ///   - head: the head; its `length` is that of the body.
    ///   - body: the body; `nil` if it is too long for memory.
    ///   - target: the key, and the entries to replace.
    ///   - file: the body on the disk; `nil` if it is not written there.
    ///   - rest: the bytes that are not in the file yet.
    ///   - then: called once, on any thread, perhaps before this returns; with `nil` if the response was
    ///     discarded.
    func insert(
        _ head: CachedHead,
        _ body: Data?,
        at target: StoredBodyWriter.Target,
        _ file: DiskTier.Body?,
        _ rest: Data,
        then: (@Sendable (CacheEntry?) -> Void)?
    ) {
        let url = target.key.url
        let id = Int64.random(in: 0 ... .max)
        var entry = CacheEntry(id: id, head: head, body: body)
        let isStored = state.withLock { state in
            let (isWanted, isInvalidated) = state.moments.fate(of: target.key, since: target.start)
            let isForDisk = isWanted && file != nil && state.isDiskOn
            guard isWanted, isForDisk || body != nil else {
                if let file { writing.async { file.abandon() } }
                return false
            }
            if isInvalidated { entry.head.isInvalidated = true }
            let variant = StoredVariant(
                partition: target.key.partition,
                entry: entry,
                isOnDisk: isForDisk
            )
            let change = StoreChange.insert(
                variant,
                replacing: target.replacing,
                invalidated: target.invalidated
            )
            // The replaced entries are outdated, even if the disk does not accept the new one.
            let removal = StoreChange.remove(target.replacing)
            state.insert(variant, by: body == nil ? removal : change, url)
            if let kept = state.memory.record(url)?.variants.first(where: { $0.entry.id == id }) {
                entry.head = kept.entry.head
            }
            guard isForDisk, let file else {
                if let file { writing.async { file.abandon() } }
                if state.isDiskOn, !target.replacing.isEmpty { pass(removal, to: url, &state) }
                return true
            }
            let count = rest.count
            state.waiting += count
            state.begin(url)
            let stored = entry
            writing.async { [self] in
                countFirst()
                if !rest.isEmpty { file.write(rest) }
                let isWritten = file.finish(as: id)
                self.state.withLock { $0.waiting -= count }
                if !isWritten { self.state.withLock { $0.isNotOnDisk(id, url) } }
                let isFound = changeDisk(url, by: isWritten ? change : removal) && isWritten
                if isWritten, !isFound { disk?.removeBody(id) }
                if isFound { noteWritten(Int64(count) + 2 * DiskTier.blockLength) }
                if body == nil { then?(isFound ? stored : nil) }
            }
            return true
        }
        if !isStored { then?(nil) } else if body != nil { then?(entry) }
    }

    /// Gives an entry a new head after a validation. Its body stays. A later invalidation is kept, and so is
    /// the head from a later request.
    ///
    /// - Parameters:
    ///   - entry: the entry as it was found.
    ///   - key: its key.
    ///   - head: the new head.
    ///   - start: when the validating request was sent. An invalidation since then is kept, even if the entry
    ///     was invalidated before as well.
    func update(
        _ entry: CacheEntry,
        of key: CacheKey,
        to head: CachedHead,
        since start: StoreMoments.Moment
    ) {
        state.withLock { state in
            let head = state.moments.overtaking(head, of: key, since: start)
            apply(.update(entry, to: head), to: key.url, &state)
        }
    }

    /// Removes an entry.
    func remove(_ id: Int64, of key: CacheKey) {
        state.withLock { apply(.remove([id]), to: key.url, &$0) }
    }

    /// Removes all entries of a URL, for every user and all trust settings, and prevents responses that are
    /// being received from being stored.
    func remove(url: String) {
        state.withLock { state in
            state.moments.didRemove(url)
            apply(.removeAll, to: url, &state)
        }
    }

    /// Marks all entries of the key so that they are validated before they are used.
    func invalidate(_ key: CacheKey) {
        state.withLock { state in
            state.moments.didInvalidate(key)
            apply(.invalidate(partition: key.partition), to: key.url, &state)
        }
    }

    /// Removes everything.
    func removeAll() {
        state.withLock { state in
            state.memory.removeAll()
            state.moments.didRemoveAll()
            guard state.isDiskOn, let disk else { return }
            state.beginRemovalOfAll()
            writing.async { [self] in
                let isDone = (try? disk.removeAll()) != nil
                if !isDone { disableDisk() }
                self.state.withLock { $0.finishRemovalOfAll() }
            }
        }
    }

    /// Changes memory, and the disk after it.
    private func apply(_ change: StoreChange, to url: String, _ state: inout StoreState) {
        state.memory.apply(change, to: url)
        if state.isDiskOn { pass(change, to: url, &state) }
    }

    /// Schedules a change of the disk. Called with the lock held, so that the disk changes in the same order
    /// as memory.
    private func pass(_ change: StoreChange, to url: String, _ state: inout StoreState) {
        state.begin(url)
        writing.async { [self] in changeDisk(url, by: change) }
    }

    /// Called on the writing queue. If a change cannot be written, the URL's responses are removed. If that
    /// fails too, the disk is no longer used, because it would return outdated responses.
    ///
    /// - Returns: whether the change was written.
    @discardableResult
    private func changeDisk(_ url: String, by change: StoreChange) -> Bool {
        guard let disk, state.withLock({ $0.isDiskOn }) else { return false }
        var file: HeadFile?
        var isChanged = true
        do {
            file = try disk.change(url, by: change)
        } catch {
            isChanged = false
            guard (try? disk.remove(url)) != nil else {
                disableDisk()
                return false
            }
        }
        let lookUps = state.withLock { state in
            if !isChanged, case .insert(let variant, _, _) = change {
                state.isNotOnDisk(variant.entry.id, url)
            }
            return state.finish(url, file, now: now())
        }
        for lookUp in lookUps { lookUp() }
        return isChanged
    }

    /// Continues with memory only.
    private func disableDisk() {
        let lookUps = state.withLock { $0.disableDisk() }
        for lookUp in lookUps { lookUp() }
    }

    // MARK: - Room

    /// Counts the files before the first response of this process is stored, if that was not done for a day:
    /// a process that soon ends does not come to a count in the background.
    private func countFirst() {
        guard let disk, counting.withLock({ $0.written }) == nil, disk.isCountDue else { return }
        disk.shrink()
    }

    /// Schedules a count of the files: after the first bytes, then after many bytes or some time.
    func noteWritten(_ bytes: Int64) {
        guard let disk else { return }
        let delay: Double? = counting.withLock { counting in
            guard let written = counting.written else {
                counting.written = 0
                housekeeping.async { disk.removeEarlierFiles() }
                return 0
            }
            counting.written = written + bytes
            if written + bytes > disk.capacity / 20 {
                counting.written = 0
                return 0
            }
            guard !counting.isScheduled else { return nil }
            counting.isScheduled = true
            return Self.countingDelay
        }
        guard let delay else { return }
        guard delay > 0 else { return housekeeping.async { disk.shrink() } }
        housekeeping.asyncAfter(deadline: .now() + delay) { [counting] in
            counting.withLock { ($0.written, $0.isScheduled) = (0, false) }
            disk.shrink()
        }
    }

    func setDiskCapacity(_ capacity: Int) {
        guard let disk else { return }
        disk.capacity = Int64(capacity)
        housekeeping.async { disk.shrink() }
    }
}

// MARK: - Blocking calls

extension ResponseStore {
    /// Returns all variants of a key.
    func entries(of key: CacheKey) -> [CacheEntry] {
        Self.answer { find(key, later: $0) }
    }

    /// Returns the whole body; `nil` if it cannot be read.
    func body(of entry: CacheEntry, _ key: CacheKey) -> Data? {
        let opened: StoredBodyReader? = Self.answer { later in
            read(entry, of: key, later: later).map { .some($0) }
        }
        guard let reader = opened else { return nil }
        var body = Data()
        while Int64(body.count) < reader.length {
            let offset = Int64(body.count)
            let piece: Result<Data, any Error> = Self.answer { later in
                reader.read(at: offset, atMost: 1 << 20, later: later).map { .success($0) }
            }
            guard let bytes = try? piece.get(), !bytes.isEmpty else { return nil }
            // A short body is a single piece, and needs no copy.
            if offset == 0, bytes.count == reader.length { return bytes }
            body.append(bytes)
        }
        return body
    }

    /// Waits until all scheduled changes have been written.
    func waitForChanges() {
        writing.sync {}
    }

    /// Waits until removed files are gone, even after a loss of power.
    func waitForRemovals() {
        writing.sync { disk?.synchronizeNames() }
    }

    /// The bytes used on the disk.
    var diskUsage: Int {
        waitForChanges()
        return housekeeping.sync { Int(disk?.count() ?? 0) }
    }

    /// Waits for the answer of a call that may answer at once or later.
    private static func answer<Answer: Sendable>(
        _ ask: (_ later: @escaping @Sendable (Answer) -> Void) -> Answer?
    ) -> Answer {
        let arrived = DispatchSemaphore(value: 0)
        let late = Locked<Answer?>(nil)
        if let answer = ask({ answer in
            late.withLock { $0 = answer }
            arrived.signal()
        }) {
            return answer
        }
        while true {
            arrived.wait()
            if let answer = late.withLock({ $0 }) { return answer }
        }
    }
}
