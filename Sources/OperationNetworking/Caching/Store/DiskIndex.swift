import Foundation
internal import OperationNetworkingSystem

/// The index of the disk tier: one row for each entry, in an SQLite database. Used on the index's queue.
///
/// A body of up to ``EntryTarget/inlineLength`` bytes is in its row, so that storing it is one transaction,
/// and SQLite's checksums tell whether it came to the disk. The others are in files. `boot` names the run of
/// the machine in which a file was written, until it is known to be on the disk: rows of another run are not
/// believed.
final class DiskIndex {
    /// The schema's number.
    private static let version: Int64 = 1

    private static let schema = """
        CREATE TABLE entries(
            id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, url TEXT NOT NULL, partition TEXT NOT NULL,
            head BLOB NOT NULL, invalidated INTEGER NOT NULL, length INTEGER NOT NULL, cost INTEGER NOT NULL,
            used INTEGER NOT NULL, boot TEXT, body BLOB);
        CREATE INDEX by_hash ON entries(hash);
        CREATE INDEX by_use ON entries(used);
        CREATE INDEX by_boot ON entries(boot) WHERE boot IS NOT NULL;
        CREATE TABLE total(bytes INTEGER NOT NULL);
        INSERT INTO total VALUES(0);
        CREATE TRIGGER inserted AFTER INSERT ON entries BEGIN UPDATE total SET bytes = bytes + new.cost; END;
        CREATE TRIGGER deleted AFTER DELETE ON entries BEGIN UPDATE total SET bytes = bytes - old.cost; END;
        CREATE TRIGGER resized AFTER UPDATE OF cost ON entries
            BEGIN UPDATE total SET bytes = bytes + new.cost - old.cost; END;
        PRAGMA user_version = 1;
        """

    /// The schema is another version's.
    struct UnknownVersion: Error {}

    /// One entry, as it is found.
    struct Row: Sendable {
        var id: Int64
        var head: CachedHead
        /// Short bodies only.
        var body: Data?
    }

    private let database: Database
    private let boot: String
    private var statements: [String: Database.Statement] = [:]

    /// - Parameters:
    ///   - path: of the file, which is there, perhaps empty.
    ///   - boot: names the run of the machine.
    ///   - patience: the milliseconds for which a change waits for other processes.
    ///   - longestFile: in bytes; `nil`: any.
    /// - Throws: `DatabaseError`, ``UnknownVersion``.
    init(path: String, boot: String, patience: Int32, longestFile: Int64?) throws {
        self.boot = boot
        database = try Database(path: path, patience: patience)
        // A change, for which another process would be waited for: only where nothing is there.
        if try database.number("PRAGMA user_version") == 0 {
            try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        }
        // A transaction is not waited for: after a power loss the last ones may be missing, and the others
        // are whole.
        try database.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
            PRAGMA secure_delete = FAST; PRAGMA journal_size_limit = 4194304;
            """
        )
        if let longestFile { try database.execute("PRAGMA max_page_count = \(longestFile / 2 / 4096)") }
        switch try database.number("PRAGMA user_version") {
        case Self.version: addPartitions()
        case 0:
            try database.transaction {
                // Another process may have been first.
                guard try database.number("PRAGMA user_version") == 0 else { return }
                try database.execute(Self.schema)
            }
            addPartitions()
        default: throw UnknownVersion()
        }
    }

    /// An index that came after the first version of the schema. A process that knows nothing of it keeps it
    /// up all the same. Where another one holds the database now, a later one makes it.
    private func addPartitions() {
        try? database.execute(
            "CREATE INDEX IF NOT EXISTS by_partition ON entries(partition) WHERE partition <> ''"
        )
    }

    private func statement(_ sql: String) throws -> Database.Statement {
        if let statement = statements[sql] { return statement }
        let statement = try database.prepare(sql)
        statements[sql] = statement
        return statement
    }

    /// The milliseconds for which a change waits for other processes from now on.
    func setPatience(_ milliseconds: Int32) { database.setPatience(milliseconds) }

    func transaction<Result>(_ work: () throws -> Result) throws -> Result { try database.transaction(work) }

    // MARK: - Reading

    /// A number that another one's change makes another.
    func changeCounter() throws -> Int64 {
        let statement = try statement("PRAGMA data_version")
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }

    func find(_ key: CacheKey, _ hash: Int64) throws -> [Row] {
        let statement = try statement(
            """
            SELECT id, head, invalidated, length, body, url, partition FROM entries
            WHERE hash = ? AND (boot IS NULL OR boot = ?) ORDER BY id
            """
        )
        defer { statement.reset() }
        try statement.bind(hash, at: 1)
        try statement.bind(boot, at: 2)
        var rows: [Row] = []
        while try statement.step() {
            guard statement.text(5) == key.url, statement.text(6) == key.partition else { continue }
            guard var head = CachedHead(encoded: Data(statement.bytes(1))) else { continue }
            if statement.integer(2) != 0 { head.isInvalidated = true }
            guard Int64(head.body.range.count) <= statement.integer(3) else { continue }
            let body = statement.isNull(4) ? nil : Data(statement.bytes(4)).prefix(head.body.range.count)
            rows.append(Row(id: statement.integer(0), head: head, body: body))
        }
        return rows
    }

    /// The body of an entry; `nil`: it is none of those in the index.
    func body(_ id: Int64) throws -> [UInt8]? {
        let statement = try statement("SELECT body FROM entries WHERE id = ?")
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        guard try statement.step(), !statement.isNull(0) else { return nil }
        return statement.bytes(0)
    }

    private func head(_ id: Int64) throws -> CachedHead? {
        let statement = try statement("SELECT head, invalidated FROM entries WHERE id = ?")
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        guard try statement.step(), var head = CachedHead(encoded: Data(statement.bytes(0))) else {
            return nil
        }
        head.isInvalidated = statement.integer(1) != 0
        return head
    }

    /// The length of the body of an entry; `nil`: there is no such entry.
    func length(_ id: Int64) throws -> Int64? {
        let statement = try statement("SELECT length FROM entries WHERE id = ?")
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        return try statement.step() ? statement.integer(0) : nil
    }

    func contains(_ id: Int64) throws -> Bool {
        let statement = try statement("SELECT 1 FROM entries WHERE id = ?")
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        return try statement.step()
    }

    /// The hashes of the entries with a number above `id`, or of all, and the greatest number.
    func hashes(above id: Int64?) throws -> (hashes: [Int64], last: Int64) {
        // All of them are in the index of hashes, which is much smaller than the table.
        let statement = try statement(
            id == nil
                ? "SELECT hash, id FROM entries INDEXED BY by_hash"
                : "SELECT hash, id FROM entries WHERE id > ?"
        )
        defer { statement.reset() }
        if let id { try statement.bind(id, at: 1) }
        var hashes: [Int64] = []
        var last = id ?? 0
        while try statement.step() {
            hashes.append(statement.integer(0))
            last = max(last, statement.integer(1))
        }
        return (hashes, last)
    }

    /// The cost of all entries, in bytes.
    func total() throws -> Int64 { try database.number("SELECT bytes FROM total") ?? 0 }

    // MARK: - Changing

    /// The bytes that an entry takes on the disk: its row, with its places in the indexes, and its body; both
    /// in blocks of 4 KiB, as far as they do not share one.
    static func cost(_ head: Data, _ key: CacheKey, length: Int64, isInline: Bool) -> Int64 {
        func blocks(_ bytes: Int64) -> Int64 { (bytes + 4095) / 4096 * 4096 }
        let row = Int64(head.count + key.url.utf8.count + key.partition.utf8.count) + 200
        guard isInline else { return row + blocks(length) }
        return row + length > 2000 ? blocks(row + length) : row + length
    }

    /// Adds an entry; `body` is `nil` if it is in a file.
    func insert(_ entry: CacheEntry, of key: CacheKey, _ hash: Int64, body: Data?, used: Int64) throws {
        let statement = try statement("INSERT INTO entries VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        defer { statement.reset() }
        let head = entry.head.encoded
        let length = Int64(entry.head.body.range.count)
        try statement.bind(entry.id, at: 1)
        try statement.bind(hash, at: 2)
        try statement.bind(key.url, at: 3)
        try statement.bind(key.partition, at: 4)
        try statement.bind(head.span, at: 5)
        try statement.bind(entry.head.isInvalidated ? 1 : 0, at: 6)
        try statement.bind(length, at: 7)
        try statement.bind(Self.cost(head, key, length: length, isInline: body != nil), at: 8)
        try statement.bind(used, at: 9)
        try bind(body, to: statement, bootAt: 10, bodyAt: 11)
        try statement.run()
    }

    /// Gives an entry, as it was found, a longer body.
    /// - Returns: whether it was still in the index, as long as it was.
    func lengthen(
        _ entry: CacheEntry,
        to longer: CachedHead,
        of key: CacheKey,
        body: Data?,
        used: Int64
    ) throws -> Bool {
        let statement = try statement(
            """
            UPDATE entries SET head = ?, invalidated = ?, length = ?, cost = ?, used = ?, boot = ?, body = ?
            WHERE id = ? AND length = ?
            """
        )
        defer { statement.reset() }
        let head = longer.encoded
        let length = longer.body.count
        try statement.bind(head.span, at: 1)
        try statement.bind(longer.isInvalidated ? 1 : 0, at: 2)
        try statement.bind(length, at: 3)
        try statement.bind(Self.cost(head, key, length: length, isInline: body != nil), at: 4)
        try statement.bind(used, at: 5)
        try bind(body, to: statement, bootAt: 6, bodyAt: 7)
        try statement.bind(entry.id, at: 8)
        try statement.bind(entry.head.body.count, at: 9)
        try statement.run()
        return database.changes == 1
    }

    private func bind(_ body: Data?, to statement: Database.Statement, bootAt: Int32, bodyAt: Int32) throws {
        if let body {
            try statement.bindNull(at: bootAt)
            try statement.bind(body.span, at: bodyAt)
        } else {
            try statement.bind(boot, at: bootAt)
            try statement.bindNull(at: bodyAt)
        }
    }

    /// Gives an entry, as it was found, another head, whatever has come since
    /// (``CachedHead/updated(to:from:)``).
    func update(_ entry: CacheEntry, to head: CachedHead) throws {
        try transaction {
            guard let stored = try self.head(entry.id) else { return }
            let head = stored.updated(to: head, from: entry.head)
            let statement = try statement("UPDATE entries SET head = ?, invalidated = ? WHERE id = ?")
            defer { statement.reset() }
            try statement.bind(head.encoded.span, at: 1)
            try statement.bind(head.isInvalidated ? 1 : 0, at: 2)
            try statement.bind(entry.id, at: 3)
            try statement.run()
        }
    }

    func invalidate(_ key: CacheKey) throws {
        let statement = try statement(
            "UPDATE entries SET invalidated = 1 WHERE hash = ? AND url = ? AND partition = ?"
        )
        defer { statement.reset() }
        try statement.bind(key.storedHash, at: 1)
        try statement.bind(key.url, at: 2)
        try statement.bind(key.partition, at: 3)
        try statement.run()
    }

    func note(_ used: [Int64: Int64]) throws {
        let statement = try statement("UPDATE entries SET used = ? WHERE id = ? AND used < ?")
        defer { statement.reset() }
        for (id, time) in used {
            try statement.bind(time, at: 1)
            try statement.bind(id, at: 2)
            try statement.bind(time, at: 3)
            try statement.run()
        }
    }

    /// - Returns: those with a body in a file.
    func remove(_ ids: [Int64]) throws -> [Int64] {
        let statement = try statement("DELETE FROM entries WHERE id = ? RETURNING id, body IS NULL")
        var withFile: [Int64] = []
        for id in ids {
            try statement.bind(id, at: 1)
            while try statement.step() {
                if statement.integer(1) != 0 { withFile.append(statement.integer(0)) }
            }
            statement.reset()
        }
        return withFile
    }

    /// Removes those whose place an entry takes (``CachedHead/placement(beside:)``): another process may have
    /// completed one.
    /// - Returns: those with a body in a file.
    func remove(_ ids: [Int64], for head: CachedHead) throws -> [Int64] {
        guard !head.body.isComplete else { return try remove(ids) }
        return try remove(
            ids.filter { id in
                guard let stored = try self.head(id) else { return true }
                return head.placement(beside: stored) == .instead
            }
        )
    }

    /// Removes all of a URL, of every partition.
    /// - Returns: those with a body in a file.
    func remove(url: String) throws -> [Int64] {
        let statement = try statement("SELECT DISTINCT partition FROM entries WHERE partition <> ''")
        var partitions = [""]
        do {
            defer { statement.reset() }
            while try statement.step() { partitions.append(statement.text(0)) }
        }
        return try partitions.flatMap { try remove(CacheKey(url: url, partition: $0)) }
    }

    /// - Returns: those with a body in a file.
    func remove(_ key: CacheKey) throws -> [Int64] {
        let statement = try statement(
            "DELETE FROM entries WHERE hash = ? AND url = ? AND partition = ? RETURNING id, body IS NULL"
        )
        defer { statement.reset() }
        try statement.bind(key.storedHash, at: 1)
        try statement.bind(key.url, at: 2)
        try statement.bind(key.partition, at: 3)
        return try withFile(statement)
    }

    /// - Returns: those with a body in a file.
    func removeAll() throws -> [Int64] {
        let statement = try statement("DELETE FROM entries RETURNING id, body IS NULL")
        defer { statement.reset() }
        return try withFile(statement)
    }

    /// Removes the entries whose files may not have come to the disk before the machine went down.
    func removeUnbelievable() throws -> [Int64] {
        let statement = try statement(
            "DELETE FROM entries WHERE boot IS NOT NULL AND boot <> ? RETURNING id, body IS NULL"
        )
        defer { statement.reset() }
        try statement.bind(boot, at: 1)
        return try withFile(statement)
    }

    /// Entries that were used before all others, with their costs.
    func oldest(_ count: Int64) throws -> [(id: Int64, cost: Int64)] {
        let statement = try statement("SELECT id, cost FROM entries ORDER BY used LIMIT ?")
        defer { statement.reset() }
        try statement.bind(count, at: 1)
        var found: [(Int64, Int64)] = []
        while try statement.step() { found.append((statement.integer(0), statement.integer(1))) }
        return found
    }

    /// Gives room back to the file system, as far as that is cheap.
    func shrink() throws {
        try database.execute("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    // MARK: - Files on their way to the disk

    /// Entries, with the lengths of their files, that are not known to be on the disk, of those made before
    /// the one with the number `id`.
    func unsynchronized(before id: Int64, _ count: Int64) throws -> [(id: Int64, length: Int64)] {
        let statement = try statement(
            "SELECT id, length FROM entries WHERE boot IS NOT NULL AND id < ? LIMIT ?"
        )
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        try statement.bind(count, at: 2)
        var found: [(Int64, Int64)] = []
        while try statement.step() { found.append((statement.integer(0), statement.integer(1))) }
        return found
    }

    /// Notes files that are on the disk; one that was lengthened meanwhile is not.
    func noteSynchronized(_ files: [(id: Int64, length: Int64)]) throws {
        let statement = try statement("UPDATE entries SET boot = NULL WHERE id = ? AND length = ?")
        defer { statement.reset() }
        for file in files {
            try statement.bind(file.id, at: 1)
            try statement.bind(file.length, at: 2)
            try statement.run()
        }
    }

    private func withFile(_ statement: Database.Statement) throws -> [Int64] {
        var ids: [Int64] = []
        while try statement.step() {
            if statement.integer(1) != 0 { ids.append(statement.integer(0)) }
        }
        return ids
    }
}
