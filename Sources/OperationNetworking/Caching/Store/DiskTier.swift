import Foundation
internal import OperationNetworkingSystem

/// The disk tier of a store: the index and the files of bodies, in one directory.
///
/// | Name                        | Is                                                                |
/// |-----------------------------|-------------------------------------------------------------------|
/// | `index.sqlite`, `-wal`, `-shm` | the index                                                      |
/// | `<number>.body`             | the body of the entry with that number, if it is too long for the index |
/// | `<random>.part`             | one that is being written; locked                                 |
///
/// Used on the index's queue, but for the calls on files. No error leaves it: what cannot be stored is
/// dropped, what cannot be read is not found.
///
/// The first six properties are its settings and the directory; the others are the state of the
/// index, which one queue changes.
final class DiskTier: @unchecked Sendable {
    // @unchecked: `index`, `indexIdentity`, `lastLook`, `counter`, `lastID`, `removed`, `restarts`,
    // `mustSweep`, `mayReopen`, `isImpatient`, `isReading` and `damaged` are used on the index's queue only;
    // the rest is immutable or under a lock.

    static let indexName = "index.sqlite"
    /// Seconds after which the kernel has written most of a new file by itself.
    static let writeback: Int64 = 30
    /// Seconds for which look-ups take the open index for the one that has the name.
    static let trust = 1.0

    private let path: String
    private let boot: String
    private let patience: Int32
    private let limit: Locked<Int64>
    private let now: @Sendable () -> MonotonicTime
    let folder = Locked<CacheFolder?>(nil)
    private var index: DiskIndex? {
        didSet { isReading = false }
    }
    private var indexIdentity: FileIdentity?
    /// Whether a transaction of ``whileReading(_:)`` is open.
    private var isReading = false
    /// Rows that a look-up has found damaged.
    private var damaged: [Int64] = []
    /// Whether an index that was open is closed for a reason that may pass.
    private var mayReopen = false
    /// When the index was last seen to have its name, or to be opened.
    private var lastLook: MonotonicTime?
    private var counter: Int64 = 0
    /// The greatest number of an entry that was seen.
    private var lastID: Int64 = 0
    /// Names of files whose entries were removed.
    private var removed: [String] = []
    /// The times that the index was found damaged, and begun anew.
    private var restarts = 0
    /// Whether another index was begun or opened, which does not know the files of the one before.
    private var mustSweep = false
    /// Whether changes do not wait for other processes.
    private var isImpatient = false

    /// - Parameters:
    ///   - path: of the directory.
    ///   - capacity: in bytes.
    ///   - boot: names the run of the machine. Where the kernel does not tell, no other process believes what
    ///     was not written through.
    ///   - patience: the milliseconds for which a change waits for other processes.
    ///   - now: the clock.
    init(
        path: String,
        capacity: Int64,
        boot: String?,
        patience: Int32,
        now: @escaping @Sendable () -> MonotonicTime
    ) {
        self.now = now
        self.patience = patience
        self.path = path
        self.boot = boot ?? "process \(UInt64.random(in: .min ... .max))"
        limit = Locked(capacity)
    }

    /// Whether there is an index, or may be one at a later look.
    var isUsable: Bool { index != nil || mayReopen }

    /// In bytes.
    var capacity: Int64 { limit.withLock { $0 } }

    /// The longest body: half of the capacity, and as the process may write files.
    var maximumLength: Int64 { min(capacity / 2, CacheFolder.longestFile ?? .max) }

    // MARK: - Opening

    /// Opens the directory and the index.
    /// - Returns: whether they can be believed and used.
    func open() -> Bool {
        do {
            let opened = try CacheFolder(path: path)
            folder.withLock { $0 = opened }
            try opened.whileLocked(patience) {
                do {
                    try openIndex(opened)
                } catch {
                    try recover(opened, from: error)
                }
            }
            return true
        } catch {
            index = nil
            // An index that was never open is not tried again.
            mayReopen = lastLook != nil && Self.mayPass(error)
            return false
        }
    }

    /// With the folder locked, so that no other process opens an index that is made or removed meanwhile.
    private func openIndex(_ folder: CacheFolder) throws {
        // SQLite's files grow beside the bodies, and a limit would end the process.
        if let longest = CacheFolder.longestFile, longest < 64 << 20 {
            throw SystemError(SystemError.tooLarge, "RLIMIT_FSIZE")
        }
        indexIdentity = try folder.provide(Self.indexName, without: Self.logNames)
        let opened = try DiskIndex(
            path: folder.path + "/" + Self.indexName,
            boot: boot,
            patience: patience,
            longestFile: CacheFolder.longestFile
        )
        do {
            removed += try opened.removeUnbelievable().map(Self.bodyName)
        } catch let error as DatabaseError where error.isBusy {
            // They are not found, and a later process removes them.
            becomeImpatient(opened)
        } catch let error as DatabaseError where error.isReadOnly {
            // If the file may be written, it is a bit of its header that forbids it.
            let isWritable = FileManager.default.isWritableFile(atPath: folder.path + "/" + Self.indexName)
            guard isWritable else { throw error }
            throw DiskIndex.Unusable(finding: .damaged)
        }
        counter = try opened.changeCounter()
        lastLook = now()
        (index, mayReopen) = (opened, false)
    }

    private static let logNames = ["-wal", "-shm"].map { indexName + $0 }

    /// Opens the index that has the name now, or makes one, where another program has removed or replaced the
    /// one that is open, or the directory. Each change looks at that, and a look-up once a second; once a
    /// second, too, an index is tried that could not be opened.
    private func noticeReplacement(isChange: Bool) {
        guard !isReading, isUsable, let folder = folder.withLock({ $0 }), let identity = indexIdentity
        else { return }
        let time = now()
        let isDue = lastLook.map { time - $0 > Self.trust } ?? true
        guard isDue || (isChange && index != nil) else { return }
        lastLook = time
        guard index == nil || !folder.has(identity, named: Self.indexName) else { return }
        // Closed before another one is opened under its name.
        index = nil
        if open() { forget() }
    }

    /// Drops the state that was read of the index before.
    private func forget() {
        (counter, lastID, mustSweep) = (.min, 0, true)
    }

    /// Whether files have to be looked for that the index does not know; once.
    func takeSweep() -> Bool {
        defer { mustSweep = false }
        return mustSweep
    }

    /// Begins a new index, unless another process has already; the files of bodies are swept. With the folder
    /// locked.
    private func recover(_ folder: CacheFolder, from error: any Error) throws {
        index = nil
        var error = error
        while true {
            restarts += 1
            guard Self.isCurable(error), restarts < 5 else { throw error }
            let isMoved = (error as? DatabaseError)?.isReplacement == true
            if !isMoved, try folder.provide(Self.indexName, without: Self.logNames) == indexIdentity {
                for name in [Self.indexName] + Self.logNames { folder.remove(name) }
            }
            do {
                try openIndex(folder)
                return forget()
            } catch let next {
                error = next
            }
        }
    }

    // MARK: - Work on the index

    /// Runs a change.
    /// - Returns: whether it was made.
    func perform(_ work: (DiskTier) throws -> Void) -> Bool {
        let isMade: Bool? = attempt(isChange: true) { _ in
            try work(self)
            return true
        }
        guard isMade == true else { return false }
        if isImpatient {
            isImpatient = false
            index?.setPatience(patience)
        }
        return true
    }

    /// Another process has kept the index for longer than the patience: changes do not wait any more, since
    /// look-ups come after them, until one succeeds.
    private func becomeImpatient(_ index: DiskIndex) {
        isImpatient = true
        index.setPatience(0)
    }

    func attempt<Result>(isChange: Bool = false, _ work: (DiskIndex) throws -> Result) -> Result? {
        noticeReplacement(isChange: isChange)
        guard let index else { return nil }
        do {
            return try work(index)
        } catch {
            if (error as? DatabaseError)?.isBusy == true { becomeImpatient(index) }
            guard Self.isCurable(error), let folder = folder.withLock({ $0 }) else { return nil }
            endReading()
            do {
                try folder.whileLocked(patience) { try recover(folder, from: error) }
            } catch let next {
                // `index` stays `nil`.
                mayReopen = Self.mayPass(next)
            }
            return nil
        }
    }

    /// For what a user has removed: it is waited for, whatever look-ups come after it.
    private func patientIndex() throws -> DiskIndex {
        let index = try opened()
        if isImpatient { index.setPatience(patience) }
        return index
    }

    func opened() throws -> DiskIndex {
        guard let index else { throw BodyError.missing }
        return index
    }

    /// The hashes of all keys; `nil`: they cannot be read.
    func hashes() -> [Int64]? {
        attempt { index in
            let (hashes, last) = try index.hashes(above: nil)
            lastID = max(lastID, last)
            return hashes
        }
    }

    /// The hashes of the keys that other processes stored since the last call; `nil`: none changed anything.
    func changesByOthers() -> [Int64]? {
        attempt { index -> [Int64]? in
            let counter = try index.changeCounter()
            guard counter != self.counter else { return nil }
            // A minute more: entries come into the index a little later than they get their numbers. Numbers
            // of a clock that was ahead say nothing about those that come now.
            let last = min(lastID, EntryIdentifiers.present)
            let (hashes, newest) = try index.hashes(above: EntryIdentifiers.earliest(60, before: last))
            self.counter = counter
            lastID = max(lastID, newest)
            return hashes
        } ?? nil
    }

    /// Runs look-ups as of one moment, for which SQLite takes its locks once. `work` changes nothing; damaged
    /// rows that it finds are removed after it.
    func whileReading(_ work: () -> Void) {
        noticeReplacement(isChange: false)
        // Without a transaction each look-up is as of its own moment.
        isReading = index.map { (try? $0.beginReading()) != nil } ?? false
        work()
        endReading()
        removeDamaged()
    }

    /// Another index may have been begun since the transaction was.
    private func endReading() {
        guard isReading else { return }
        isReading = false
        try? index?.endReading()
    }

    private func removeDamaged() {
        guard !damaged.isEmpty, !isReading else { return }
        let ids = damaged
        damaged = []
        _ = perform { try $0.remove(ids) }
        // Whatever a row says of its body, it may be in a file.
        removed += ids.map(Self.bodyName)
    }

    func find(_ key: CacheKey, _ hash: Int64) -> [MemoryTier.Variant] {
        guard let (rows, damaged) = attempt({ try $0.find(key, hash) }) else { return [] }
        self.damaged += damaged
        removeDamaged()
        return rows.map { row in
            MemoryTier.Variant(
                entry: CacheEntry(id: row.id, head: row.head),
                body: row.body.map { CacheBody($0) },
                isOnDisk: true
            )
        }
    }

    /// In bytes.
    func usage() -> Int64 { attempt { try $0.total() } ?? 0 }

    /// Makes an entry of a body that was written.
    ///
    /// - Parameters:
    ///   - entry: with the head that memory has; then with that of the index.
    ///   - key: its key.
    ///   - hash: of the key.
    ///   - target: the entries whose place it takes.
    ///   - content: the place of the body; `nil`: it could not be written.
    ///   - hidden: the entries that no look-up finds, whatever the index says of them.
    ///   - used: uses to note.
    /// - Throws: what the index throws; `BodyError`: nothing was stored.
    func store(
        _ entry: inout CacheEntry,
        of key: CacheKey,
        _ hash: Int64,
        _ target: EntryTarget,
        content: EntryContent?,
        hidden: HiddenEntries,
        used: [Int64: Int64]
    ) throws {
        let index = try opened()
        guard let content else {
            // What it was to replace is out of date all the same.
            if !target.replacing.isEmpty {
                removed += try index.transaction {
                    try index.takeInvalidation(to: &entry, of: key, hash, target, hidden)
                    return try index.remove(target.replacing)
                }.map(Self.bodyName)
            }
            throw BodyError.missing
        }
        let now = WallClock.microseconds
        let names = try index.transaction {
            try index.takeInvalidation(to: &entry, of: key, hash, target, hidden)
            var ids = try index.remove(target.replacing)
            try index.insert(entry, of: key, hash, content, used: now)
            ids += try index.remove(index.excess(key, hash, keeping: StoreState.maximumVariants))
            try index.note(used)
            ids += try evict(index)
            return ids.map(Self.bodyName)
        }
        lastID = max(lastID, entry.id)
        removed += names
    }

    /// Removes entries until all fit, and some more, so that not each new one removes another.
    private func evict(_ index: DiskIndex) throws -> [Int64] {
        let capacity = capacity
        var rest = try index.total()
        // One entry does not make it so much too large: the sum, or a cost that was taken from it, may be
        // damaged.
        if rest < 0 || rest - capacity > capacity / 8 { rest = try index.recount() }
        guard rest > capacity else { return [] }
        // A minute of difference is none.
        try index.forgetUses(after: WallClock.microseconds + 60_000_000)
        var withFile: [Int64] = []
        var last: Int64?
        while rest > capacity - capacity / 16 {
            let oldest = try index.oldest(32)
            guard let first = oldest.first else {
                _ = try index.recount()
                break
            }
            // What was removed is still there: the table and its indexes contradict each other.
            guard first.id != last else { throw DiskIndex.Unusable(finding: .damaged) }
            last = first.id
            for entry in oldest where rest > capacity - capacity / 16 {
                withFile += try index.remove([entry.id])
                rest -= entry.cost
            }
        }
        return withFile
    }

    func setCapacity(_ capacity: Int64) {
        limit.withLock { $0 = max(capacity, 0) }
    }

    /// Removes what is too much for the capacity.
    func shrink() throws {
        let index = try opened()
        removed += try index.transaction { try evict(index) }.map(Self.bodyName)
    }

    /// Counts the costs of all entries anew, and removes what is too much for the capacity.
    func recount() throws {
        let index = try opened()
        let ids = try index.transaction { () throws -> [Int64] in
            _ = try index.recount()
            return try evict(index)
        }
        removed += ids.map(Self.bodyName)
    }

    /// The same when the store is released: no directory is made anew for that.
    func noteAtEnd(_ used: [Int64: Int64]) {
        guard let folder = folder.withLock({ $0 }), let identity = indexIdentity,
            folder.has(identity, named: Self.indexName)
        else { return }
        _ = perform { try $0.note(used) }
    }

    func remove(_ ids: [Int64]) throws {
        guard !ids.isEmpty else { return }
        removed += try opened().remove(ids).map(Self.bodyName)
    }

    func remove(_ key: CacheKey) throws {
        removed += try patientIndex().remove(key).map(Self.bodyName)
    }

    func remove(url: String) throws {
        let index = try patientIndex()
        removed += try index.transaction { try index.remove(url: url) }.map(Self.bodyName)
    }

    func removeAll() throws {
        let index = try patientIndex()
        removed += try index.removeAll().map(Self.bodyName)
        // If it fails, the room is used again.
        try? index.shrink()
    }

    /// The names of files to remove, once.
    func takeRemovedNames() -> [String] {
        defer { removed = [] }
        return removed
    }
}
