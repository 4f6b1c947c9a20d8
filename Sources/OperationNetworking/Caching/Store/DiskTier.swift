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
final class DiskTier: @unchecked Sendable {
    // @unchecked: `index`, `indexIdentity`, `counter`, `lastID`, `removed`, `restarts` and `isImpatient` are
    // used on the index's queue only; the rest is immutable or under a lock.

    static let indexName = "index.sqlite"
    /// Seconds after which the kernel has written most of a new file by itself.
    static let writeback: Int64 = 30

    private let path: String
    private let boot: String
    private let patience: Int32
    private let limit: Locked<Int64>
    private let folder = Locked<CacheFolder?>(nil)
    private var index: DiskIndex?
    private var indexIdentity: FileIdentity?
    private var counter: Int64 = 0
    /// The greatest number of an entry that was seen.
    private var lastID: Int64 = 0
    /// Names of files whose entries were removed.
    private var removed: [String] = []
    /// The times that the index was found damaged, and begun anew.
    private var restarts = 0
    /// Whether changes do not wait for other processes.
    private var isImpatient = false

    /// - Parameters:
    ///   - path: of the directory.
    ///   - capacity: in bytes.
    ///   - boot: names the run of the machine. Where the kernel does not tell, no other process believes what
    ///     was not written through.
    ///   - patience: the milliseconds for which a change waits for other processes.
    init(path: String, capacity: Int64, boot: String?, patience: Int32) {
        self.patience = patience
        self.path = path
        self.boot = boot ?? "process \(UInt64.random(in: .min ... .max))"
        limit = Locked(capacity)
    }

    var isOpen: Bool { index != nil }

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
            do {
                try openIndex(opened)
            } catch {
                try recover(opened, from: error)
            }
            return true
        } catch {
            index = nil
            return false
        }
    }

    private func openIndex(_ folder: CacheFolder) throws {
        // SQLite's files grow beside the bodies, and a limit would end the process.
        if let longest = CacheFolder.longestFile, longest < 64 << 20 {
            throw SystemError(SystemError.tooLarge, "RLIMIT_FSIZE")
        }
        indexIdentity = try folder.provide(Self.indexName)
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
        }
        counter = try opened.changeCounter()
        index = opened
    }

    /// Whether another try to open the index may help: it is of no use to any process, or another one has
    /// just replaced it.
    private static func isCurable(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return error is DiskIndex.UnknownVersion }
        return error.isCorruption || error.isReplacement
    }

    /// Begins a new index, unless another process has already; the files of bodies are swept.
    private func recover(_ folder: CacheFolder, from error: any Error) throws {
        index = nil
        var error = error
        while true {
            restarts += 1
            guard Self.isCurable(error), restarts < 5 else { throw error }
            let isMoved = (error as? DatabaseError)?.isReplacement == true
            if !isMoved, try folder.provide(Self.indexName) == indexIdentity {
                for suffix in ["", "-wal", "-shm"] { folder.remove(Self.indexName + suffix) }
            }
            do {
                return try openIndex(folder)
            } catch let next {
                error = next
            }
        }
    }

    // MARK: - Work on the index

    /// Runs a change.
    /// - Returns: whether it was made.
    func perform(_ work: (DiskTier) throws -> Void) -> Bool {
        let isMade: Bool? = attempt { _ in
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

    private func attempt<Result>(_ work: (DiskIndex) throws -> Result) -> Result? {
        guard let index else { return nil }
        do {
            return try work(index)
        } catch {
            if (error as? DatabaseError)?.isBusy == true { becomeImpatient(index) }
            guard Self.isCurable(error), let folder = folder.withLock({ $0 }) else { return nil }
            // Without success, `index` stays `nil`.
            try? recover(folder, from: error)
            return nil
        }
    }

    /// For what a user has removed: it is waited for, whatever look-ups come after it.
    private func patientIndex() throws -> DiskIndex {
        let index = try opened()
        if isImpatient { index.setPatience(patience) }
        return index
    }

    private func opened() throws -> DiskIndex {
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
            // A minute more: entries come into the index a little later than they get their numbers.
            let (hashes, last) = try index.hashes(above: EntryIdentifiers.earliest(60, before: lastID))
            self.counter = counter
            lastID = max(lastID, last)
            return hashes
        } ?? nil
    }

    func find(_ key: CacheKey, _ hash: Int64) -> [MemoryTier.Variant] {
        let rows = attempt { try $0.find(key, hash) } ?? []
        return rows.map { row in
            MemoryTier.Variant(
                entry: CacheEntry(id: row.id, head: row.head),
                body: row.body.map { CacheBody(Data($0)) },
                isOnDisk: true
            )
        }
    }

    /// Whether the index has the entry; `nil`: it cannot be read.
    func contains(_ id: Int64) -> Bool? { attempt { try $0.contains(id) } }

    /// Files of entries before the one with the number `id` that may not be on the disk, some at a time; and
    /// whether these are the last ones.
    func unsynchronized(before id: Int64) -> (files: [(id: Int64, length: Int64)], isLast: Bool) {
        let limit: Int64 = 256
        let files = attempt { try $0.unsynchronized(before: id, limit) } ?? []
        return (files, files.count < limit)
    }

    func noteSynchronized(_ files: [(id: Int64, length: Int64)]) throws {
        let index = try opened()
        try index.transaction { try index.noteSynchronized(files) }
    }

    /// The length of the body of an entry; `nil`: it is not there.
    func length(_ id: Int64) -> Int64? { attempt { try $0.length(id) } ?? nil }

    /// A body that is in the index.
    func body(_ id: Int64) -> [UInt8]? { attempt { try $0.body(id) } ?? nil }

    /// In bytes.
    func usage() -> Int64 { attempt { try $0.total() } ?? 0 }

    func store(
        _ entry: CacheEntry,
        of key: CacheKey,
        _ hash: Int64,
        replacing replaced: [Int64],
        lengthening found: CacheEntry?,
        content: EntryContent,
        used: [Int64: Int64]
    ) throws {
        let index = try opened()
        let body: Data?
        switch content {
        case .inline(let bytes): body = bytes
        case .file: body = nil
        case .none:
            // What it was to replace is out of date all the same.
            if !replaced.isEmpty {
                let names = try index.transaction { try index.remove(replaced, for: entry.head) }
                removed += names.map(Self.bodyName)
            }
            throw BodyError.missing
        }
        let now = WallClock.microseconds
        let names = try index.transaction {
            var ids = try index.remove(replaced, for: entry.head)
            if let found {
                guard try index.lengthen(found, to: entry.head, of: key, body: body, used: now) else {
                    throw BodyError.missing
                }
            } else {
                try index.insert(entry, of: key, hash, body: body, used: now)
            }
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
        guard rest > capacity else { return [] }
        var withFile: [Int64] = []
        while rest > capacity - capacity / 16 {
            let oldest = try index.oldest(32)
            guard !oldest.isEmpty else { break }
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

    func note(_ used: [Int64: Int64]) throws {
        let index = try opened()
        try index.transaction { try index.note(used) }
    }

    func update(_ entry: CacheEntry, to head: CachedHead) throws {
        try opened().update(entry, to: head)
    }

    func invalidate(_ key: CacheKey) throws { try opened().invalidate(key) }

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

    // MARK: - Files, on any queue

    static func bodyName(_ id: Int64) -> String { "\(id).body" }

    /// The entry whose body has the name; `nil` for other names.
    static func entry(of name: String) -> Int64? {
        name.hasSuffix(".body") ? Int64(name.dropLast(5)) : nil
    }

    /// The names of files for bodies, and of those on their way.
    func fileNames() -> [String] {
        guard let folder = folder.withLock({ $0 }), let names = try? folder.names() else { return [] }
        return names.filter { name in
            Self.entry(of: name) != nil || (name.hasSuffix(".part") && UInt64(name.dropLast(5)) != nil)
        }
    }

    /// Removes a file that no process writes, if `isUseless`, which is asked with the file locked.
    func removeUnlessLocked(_ name: String, if isUseless: () -> Bool) {
        folder.withLock { $0 }?.removeUnlessLocked(name, if: isUseless)
    }

    /// Waits until files, and their names, are on the disk.
    /// - Returns: those that are.
    func synchronize(_ files: [(id: Int64, length: Int64)]) -> [(id: Int64, length: Int64)] {
        do {
            let folder = try openedFolder()
            let written = files.filter { file in
                guard let body = try? openBody(file.id) else { return false }
                return (try? body.synchronizeData()) != nil
            }
            if !written.isEmpty { try folder.synchronize() }
            return written
        } catch {
            return []
        }
    }

    private func openedFolder() throws -> CacheFolder {
        guard let folder = folder.withLock({ $0 }) else { throw BodyError.missing }
        return folder
    }

    /// Makes a file for a body on its way.
    func createFile() throws -> (name: String, file: PartFile) {
        let folder = try openedFolder()
        while true {
            let name = "\(UInt64.random(in: .min ... .max)).part"
            do {
                return (name, try folder.create(name))
            } catch let error as SystemError where error.code == SystemError.busy {
                // A sweep took it for a leftover in the moment before it was locked. They are seldom.
                continue
            }
        }
    }

    func openBody(_ id: Int64, isWritten: Bool = false) throws -> PartFile? {
        try openedFolder().open(Self.bodyName(id), isWritten: isWritten)
    }

    func rename(_ old: String, to new: String) throws { try openedFolder().rename(old, to: new) }

    func removeFiles(_ names: [String]) {
        guard let folder = folder.withLock({ $0 }) else { return }
        for name in names { folder.remove(name) }
    }
}
