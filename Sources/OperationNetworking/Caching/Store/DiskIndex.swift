import Foundation
internal import OperationNetworkingSystem

/// The index of the disk tier: one row for each entry, in an SQLite database. Used on the index's queue.
///
/// A body of up to ``EntryTarget/inlineLength`` bytes is in its row, so that storing it is one transaction,
/// and the checksums of SQLite's log tell whether it came to the disk. The others are in files, and their
/// rows have their checksums (``BodyChecksums``). `boot` names the run of the machine in which a file was
/// written, until it is known to be on the disk: rows of another run are not believed.
///
/// The pages of the database have no checksums, so a row has one, of all that is believed of it: a row that
/// does not agree with it counts as none.
final class DiskIndex {

    /// SQLite keeps each text as it is written here.
    static let schema = [
        """
        CREATE TABLE entries(
            id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, url TEXT NOT NULL, partition TEXT NOT NULL,
            head BLOB NOT NULL, cost INTEGER NOT NULL, used INTEGER NOT NULL, checksum INTEGER NOT NULL,
            boot TEXT, body BLOB, blocks BLOB)
        """,
        "CREATE INDEX by_hash ON entries(hash)",
        "CREATE INDEX by_use ON entries(used)",
        "CREATE INDEX by_boot ON entries(boot) WHERE boot IS NOT NULL",
        "CREATE INDEX by_partition ON entries(partition) WHERE partition <> ''",
        "CREATE TABLE total(bytes INTEGER NOT NULL)",
        "CREATE TRIGGER inserted AFTER INSERT ON entries BEGIN UPDATE total SET bytes = bytes + new.cost; END",
        "CREATE TRIGGER deleted AFTER DELETE ON entries BEGIN UPDATE total SET bytes = bytes - old.cost; END",
        """
        CREATE TRIGGER resized AFTER UPDATE OF cost ON entries
            BEGIN UPDATE total SET bytes = bytes + new.cost - old.cost; END
        """,
    ]

    /// The file cannot be used as it is.
    struct Unusable: Error {
        let finding: IndexFinding
    }

    /// In bytes; the sum of as many as there can be is a number still.
    static let greatestCost: Int64 = 1 << 42

    let database: Database
    private let boot: String
    private var statements: [String: Database.Statement] = [:]
    /// The statements of a look-up, which need no search for their texts.
    private var lookUps: Database.Statement?
    private var counter: Database.Statement?
    private var begin: Database.Statement?
    private var end: Database.Statement?

    /// - Parameters:
    ///   - path: of the file, which is there, perhaps empty.
    ///   - boot: names the run of the machine.
    ///   - patience: the milliseconds for which a change waits for other processes.
    ///   - longestFile: in bytes; `nil`: any.
    /// - Throws: `DatabaseError`, ``Unusable``.
    init(path: String, boot: String, patience: Int32, longestFile: Int64?) throws {
        self.boot = boot
        database = try Database(path: path, patience: patience)
        // Pages are looked at more closely, for damage, and no function that a schema names is called.
        try database.execute("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
        // Before anything is changed: it may be another program's.
        let finding = try database.transaction(isChange: false) { try self.finding() }
        switch finding {
        case .empty: try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        case .current: try expectSum()
        case .earlier, .later, .damaged, .foreign: throw Unusable(finding: finding)
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
        if finding == .empty { try make() }
    }

    func statement(_ sql: String) throws -> Database.Statement {
        if let statement = statements[sql] { return statement }
        let statement = try database.prepare(sql)
        statements[sql] = statement
        return statement
    }

    /// The milliseconds for which a change waits for other processes from now on.
    func setPatience(_ milliseconds: Int32) { database.setPatience(milliseconds) }

    func transaction<Result>(_ work: () throws -> Result) throws -> Result { try database.transaction(work) }

    // MARK: - Reading

    /// Begins a transaction that changes nothing: what follows sees the index as it was at the first look.
    /// Until ``endReading()`` SQLite takes its locks once.
    func beginReading() throws {
        let statement = try begin ?? database.prepare("BEGIN")
        begin = statement
        try statement.run()
    }

    func endReading() throws {
        let statement = try end ?? database.prepare("COMMIT")
        end = statement
        try statement.run()
    }

    /// A number that another one's change makes another.
    func changeCounter() throws -> Int64 {
        let statement = try counter ?? database.prepare("PRAGMA data_version")
        counter = statement
        defer { statement.rewind() }
        return try statement.step() ? statement.integer(0) : 0
    }

    /// The entries of a key, and the numbers of rows that are damaged.
    func find(_ key: CacheKey, _ hash: Int64) throws -> (rows: [Row], damaged: [Int64]) {
        let statement = try lookUps ?? prepareLookUps()
        defer { statement.rewind() }
        try statement.bind(hash, at: 1)
        var (rows, damaged): ([Row], [Int64]) = ([], [])
        while try statement.step() {
            guard let row = Row(statement) else {
                damaged.append(statement.integer(0))
                continue
            }
            if row.key == key { rows.append(row) }
        }
        return (rows, damaged)
    }

    private func prepareLookUps() throws -> Database.Statement {
        let statement = try database.prepare(Row.byHash)
        // The same for all of them.
        try statement.bind(boot, at: 2)
        lookUps = statement
        return statement
    }

    /// The entry with a number; `nil`: there is none, or it is damaged.
    func row(_ id: Int64) throws -> Row? {
        let statement = try statement(Row.byNumber)
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        return try statement.step() ? Row(statement) : nil
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

    // MARK: - Changing

    /// The bytes that an entry takes on the disk: its row, with its places in the indexes, and its body; both
    /// in blocks of 4 KiB, as far as they do not share one.
    static func cost(_ head: Data, _ key: CacheKey, length: Int64, isInline: Bool) -> Int64 {
        func blocks(_ bytes: Int64) -> Int64 { (bytes + 4095) / 4096 * 4096 }
        let row = Int64(head.count + key.url.utf8.count + key.partition.utf8.count) + 200
        guard isInline else { return row + length / BodyChecksums.blockLength * 4 + blocks(length) }
        return row + length > 2000 ? blocks(row + length) : row + length
    }

    /// Adds an entry.
    func insert(
        _ entry: CacheEntry,
        of key: CacheKey,
        _ hash: Int64,
        _ content: EntryContent,
        used: Int64
    ) throws {
        let statement = try statement("INSERT INTO entries VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        defer { statement.reset() }
        let head = entry.head.encoded
        try statement.bind(entry.id, at: 1)
        try statement.bind(hash, at: 2)
        try statement.bind(key.url, at: 3)
        try statement.bind(key.partition, at: 4)
        try statement.bind(head.span, at: 5)
        let (isInline, octets) =
            switch content {
            case .inline(let body): (true, body)
            case .file(let checksums): (false, checksums.encoded)
            }
        try statement.bind(Self.cost(head, key, length: entry.head.length, isInline: isInline), at: 6)
        try statement.bind(used, at: 7)
        try statement.bind(Row.checksum(entry.id, key, head.span, octets.span, isInline: isInline), at: 8)
        if isInline {
            try statement.bindNull(at: 9)
            try statement.bind(octets.span, at: 10)
            try statement.bindNull(at: 11)
        } else {
            try statement.bind(boot, at: 9)
            try statement.bindNull(at: 10)
            try statement.bind(octets.span, at: 11)
        }
        try statement.run()
    }

    /// Gives an entry, as it was found, another head, whatever has come since
    /// (``CachedHead/updated(to:from:)``).
    func update(_ entry: CacheEntry, to head: CachedHead) throws {
        try transaction {
            guard let row = try row(entry.id) else { return }
            try put(row.head.updated(to: head, from: entry.head), in: row)
        }
    }

    private func put(_ head: CachedHead, in row: Row) throws {
        let statement = try statement("UPDATE entries SET head = ?, checksum = ? WHERE id = ?")
        defer { statement.reset() }
        let encoded = head.encoded
        try statement.bind(encoded.span, at: 1)
        try statement.bind(row.checksum(with: encoded.span), at: 2)
        try statement.bind(row.id, at: 3)
        try statement.run()
    }

    func invalidate(_ key: CacheKey) throws {
        try transaction {
            for id in try ids(of: key) {
                guard var row = try row(id) else { continue }
                row.head.isInvalidated = true
                try put(row.head, in: row)
            }
        }
    }

    /// Of all entries of a key, those that are not believed yet included.
    private func ids(of key: CacheKey) throws -> [Int64] {
        let statement = try statement("SELECT id FROM entries WHERE hash = ? AND url = ? AND partition = ?")
        defer { statement.reset() }
        try statement.bind(key.storedHash, at: 1)
        try statement.bind(key.url, at: 2)
        try statement.bind(key.partition, at: 3)
        var ids: [Int64] = []
        while try statement.step() { ids.append(statement.integer(0)) }
        return ids
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

    /// Entries that were used after `time`, when the clock was ahead, count as used before all others.
    func forgetUses(after time: Int64) throws {
        let statement = try statement("UPDATE entries SET used = 0 WHERE used > ?")
        defer { statement.reset() }
        try statement.bind(time, at: 1)
        try statement.run()
    }

    /// Entries of a key beyond the number that is kept: those that were not used for the longest time.
    func excess(_ key: CacheKey, _ hash: Int64, keeping count: Int) throws -> [Int64] {
        let statement = try statement(
            """
            SELECT id FROM entries WHERE hash = ? AND url = ? AND partition = ?
            ORDER BY used DESC, id DESC LIMIT -1 OFFSET ?
            """
        )
        defer { statement.reset() }
        try statement.bind(hash, at: 1)
        try statement.bind(key.url, at: 2)
        try statement.bind(key.partition, at: 3)
        try statement.bind(Int64(count), at: 4)
        var ids: [Int64] = []
        while try statement.step() { ids.append(statement.integer(0)) }
        return ids
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
        while try statement.step() {
            // A damaged one is no cost that an entry can have.
            let cost = min(max(statement.integer(1), 0), Self.greatestCost)
            found.append((statement.integer(0), cost))
        }
        return found
    }

    /// Gives room back to the file system, as far as that is cheap.
    func shrink() throws {
        try database.execute("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private func withFile(_ statement: Database.Statement) throws -> [Int64] {
        var ids: [Int64] = []
        while try statement.step() {
            if statement.integer(1) != 0 { ids.append(statement.integer(0)) }
        }
        return ids
    }
}
