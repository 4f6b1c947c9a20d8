import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Indexes whose values have changed, and indexes that other programs remove or replace.
@Suite(.timeLimit(.minutes(3)))
struct StoreDamageTests {
    private let directory: TemporaryDirectory
    private let scene: DamagedStore
    private let time = ManualTime()
    private let key = CacheKey(url: "http://a/new")

    init() throws {
        directory = try TemporaryDirectory()
        scene = DamagedStore(directory: directory)
    }

    private var index: URL { scene.index }

    private func database() throws -> Database { try scene.database() }

    // MARK: - Damage

    /// - Returns: the number of bodies that are found.
    @discardableResult
    private func expectNothingWrong(_ round: String) async throws -> Int {
        let store = TieredStore.sample(directory)
        store.housekeeping.sync {}
        let count = try await scene.expectNothingWrong(store, round)
        try await scene.expectToWork(round)
        return count
    }

    /// Values that SQLite takes for sound.
    @Test(arguments: [
        "body = zeroblob(length(body)) WHERE body IS NOT NULL",
        "head = (SELECT head FROM entries WHERE url = 'http://a/2') WHERE url <> 'http://a/2'",
        // The flags, without that of an invalidation.
        "head = CAST(substr(head, 1, 1) || X'11' || substr(head, 3) AS BLOB) WHERE url LIKE '%a/_'",
        "url = 'http://a/5' WHERE url <> 'http://a/5'", "partition = 'x'", "id = id + 1",
        "body = NULL WHERE body IS NOT NULL", "checksum = checksum + 1",
        "blocks = zeroblob(length(blocks)) WHERE blocks IS NOT NULL",
        "blocks = body, body = blocks",
    ])
    func valuesThatAreNotTheStoredOnes(change: String) async throws {
        try await scene.fill()
        try database().execute("UPDATE entries SET \(change)")
        #expect(try await expectNothingWrong(change) < scene.count)
    }

    @Test func aDamagedRowIsRemovedAndSoIsItsFile() async throws {
        let first = TieredStore.sample(directory)
        let long = try #require(try await first.put(key, sampleBytes(50_000)))
        try await first.put(key, sampleBytes(100))
        // Memory says at once that they are there.
        first.waitForChanges()
        try database().execute("UPDATE entries SET head = zeroblob(length(head)) WHERE id = \(long.id)")
        let store = TieredStore.sample(directory)
        #expect(try await store.found(key).map(\.head.length) == [100])
        store.waitForChanges()
        #expect(try database().number("SELECT count(*) FROM entries") == 1)
        #expect(try bodyNames(directory) == [])
    }

    @Test(arguments: [
        "CREATE INDEX by_hash ON entries(hash)", "bytes + new.cost;", "head BLOB", "TABLE total",
    ])
    func aSchemaWithAFlippedBit(text: String) async throws {
        try await scene.fill()
        try database().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        var bytes = try Data(contentsOf: index)
        let range = try #require(bytes.range(of: Data(text.utf8)))
        bytes[range.upperBound - 3] ^= 1
        try scene.overwrite(index, with: bytes)
        try await expectNothingWrong(text)
    }

    /// The last one is noticed when the index is opened, without a change.
    @Test(arguments: [-1_000_000_000, 1_000_000_000_000, 0])
    func aWrongSumIsCountedAnewAndCostsNoEntry(sum: Int) async throws {
        try await scene.fill()
        try database().execute("UPDATE total SET bytes = \(sum)")
        let store = TieredStore.sample(directory, disk: 6 << 20)
        if sum != 0 { try await store.put(key, sampleBytes(10)) }
        store.waitForChanges()
        store.housekeeping.sync {}
        let costs = try #require(try database().number("SELECT sum(cost) FROM entries"))
        #expect(store.diskUsage == costs)
        for number in 0..<scene.count {
            #expect(try await store.found(DamagedStore.key(number)).count == 1, "\(number)")
        }
    }

    /// Without a look at it on opening.
    @Test(arguments: [-1_000_000_000, 1_000_000_000_000]) func evictingCountsAWrongSumAnew(sum: Int) throws {
        let tier = try tier(filledWith: 5)
        try database().execute("UPDATE total SET bytes = \(sum)")
        #expect(tier.stores(9, DamagedStore.key(9)))
        #expect(tier.hashes()?.count == 6)
        #expect(try database().number("SELECT sum(cost) FROM entries") == tier.usage())
    }

    /// Statements that take the sum away; the last ones leave a NULL where the schema has none.
    private static let withoutSum = [
        "DELETE FROM total", "UPDATE total SET bytes = 0.5",
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = 'CREATE TABLE total(bytes INTEGER)' WHERE name = 'total';
        PRAGMA writable_schema = RESET; UPDATE total SET bytes = NULL; PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = 'CREATE TABLE total(bytes INTEGER NOT NULL)' WHERE name = 'total';
        PRAGMA writable_schema = RESET
        """,
    ]

    @Test(arguments: withoutSum + ["INSERT INTO total VALUES(1)", "UPDATE total SET bytes = 'many'"])
    func anIndexWithoutItsSumIsBegunAnew(change: String) throws {
        _ = try tier(filledWith: 5)
        try database().execute(change)
        #expect(try works(1))
        #expect(try database().number("SELECT count(*) FROM entries") == 1)
    }

    @Test(arguments: withoutSum) func anOpenIndexThatLosesItsSumIsBegunAnew(change: String) throws {
        let tier = try tier(filledWith: 5)
        try database().execute(change)
        #expect(!tier.stores(9, DamagedStore.key(9)))
        #expect(tier.stores(9, DamagedStore.key(9)))
        #expect(tier.hashes()?.count == 1 && tier.usage() > 0)
    }

    // MARK: - The header of the file

    private func closedTier() -> DiskTier {
        DiskTier(
            path: directory.file("cache").path,
            capacity: 64 << 20,
            boot: "one",
            patience: 10_000,
            now: { .now }
        )
    }

    /// - Returns: an open tier with `count` short entries.
    private func tier(filledWith count: Int) throws -> DiskTier {
        let tier = closedTier()
        try #require(tier.open())
        for number in 0..<count {
            try #require(tier.stores(Int64(number), DamagedStore.key(number)))
        }
        return tier
    }

    /// Whether an entry is stored and found by one of the first `count` processes.
    private func works(_ count: Int) throws -> Bool {
        for _ in 0..<count {
            let tier = closedTier()
            guard tier.open(), tier.stores(1000, key) else { continue }
            if tier.find(key, key.storedHash).map(\.entry.id) == [1000] { return true }
        }
        return false
    }

    /// The write version (18) makes all changes fail, the schema format (47) all look-ups.
    @Test(arguments: 16..<100) func anyBitOfTheHeader(octet: Int) throws {
        _ = try tier(filledWith: 5)
        try database().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let bytes = try Data(contentsOf: index)
        for bit in 0..<8 {
            for name in try FileManager.default.contentsOfDirectory(atPath: scene.cache.path) {
                try FileManager.default.removeItem(at: scene.cache.appendingPathComponent(name))
            }
            var damaged = bytes
            damaged[octet] ^= 1 << UInt8(bit)
            let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            #expect(
                FileManager.default.createFile(atPath: index.path, contents: damaged, attributes: mode)
            )
            #expect(try works(2), "octet \(octet), bit \(bit)")
        }
    }

    /// SQLITE_ERROR: the index is sound.
    @Test func aWrongStatementOfOursCostsNoIndex() async throws {
        let store = TieredStore.sample(directory, memory: 0)
        let entry = try #require(try await store.put(key, sampleBytes(100)))
        let (disk, database) = (try #require(store.disk), try database())
        let isMade = store.index.sync {
            disk.perform { _ in try database.execute("SELECT nothing FROM nowhere") }
        }
        #expect(!isMade)
        #expect(try await store.found(key) == [entry])
        #expect(try await TieredStore.sample(directory).found(key) == [entry])
    }

    // MARK: - Indexes of others

    /// Has the schema an option that SQLite does not know.
    private static let unknownOption = """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = sql || ' UNKNOWN' WHERE name = 'total';
        PRAGMA writable_schema = OFF
        """

    /// Statements that make the index another's, and whether it is left as it is.
    private static let others: [(statements: String, isLeft: Bool)] = [
        // A later version of this library.
        ("PRAGMA user_version = \(IndexFinding.version + 1); ALTER TABLE entries ADD COLUMN more", true),
        ("PRAGMA user_version = \(IndexFinding.version + 1); CREATE TABLE more(a)", true),
        // One that this SQLite cannot read.
        ("PRAGMA user_version = \(IndexFinding.version + 1); \(unknownOption)", true),
        // Another program.
        ("PRAGMA application_id = 9; \(unknownOption)", true),
        ("DROP TABLE entries; DROP TABLE total; CREATE TABLE a(b); PRAGMA application_id = 9", true),
        ("DROP TABLE entries; DROP TABLE total; CREATE TABLE a(b); PRAGMA application_id = 0", true),
        // The first version of this library.
        ("PRAGMA user_version = 1; PRAGMA application_id = 0; ALTER TABLE entries DROP COLUMN blocks", false),
        // A bit of the number.
        ("PRAGMA user_version = \(IndexFinding.version + 1)", false),
    ]

    @Test(arguments: others.indices) func anIndexOfOthersIsLeftAndAnEarlierOneIsNot(row: Int) async throws {
        let (statements, isLeft) = Self.others[row]
        try await scene.fill()
        try database().execute("\(statements); PRAGMA wal_checkpoint(TRUNCATE)")
        let bytes = try Data(contentsOf: index)
        let names = try bodyNames(directory)
        for _ in 0..<2 {
            let store = TieredStore.sample(directory)
            store.housekeeping.sync {}
            #expect(store.state.withLock { $0.isDiskOn } == !isLeft)
            #expect(try await store.found(DamagedStore.key(3)) == [])
            // Memory works on.
            let entry = try #require(try await store.put(key, sampleBytes(100)))
            #expect(try await store.found(key) == [entry])
            store.remove(nil, of: key)
            store.waitForChanges()
        }
        #expect(try (Data(contentsOf: index) == bytes) == isLeft)
        #expect(try (bodyNames(directory) == names) == isLeft)
    }

    /// Of two processes one is of a later version, and replaces the index of the other one.
    @Test func anIndexThatALaterVersionPutsInItsPlaceIsLeft() async throws {
        let store = TieredStore.sample(directory, time: time)
        try await store.put(key, sampleBytes(100))
        store.waitForChanges()
        try FileManager.default.removeItem(at: index)
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        #expect(FileManager.default.createFile(atPath: index.path, contents: nil, attributes: mode))
        do {
            let later = try database()
            try later.execute(
                """
                PRAGMA journal_mode = WAL; CREATE TABLE entries(id); INSERT INTO entries VALUES(5);
                PRAGMA user_version = \(IndexFinding.version + 1); PRAGMA application_id = \(IndexFinding.application)
                """
            )
            time.advance(by: 1.1)
            // Asked for anew, and answered by memory, which has forgotten nothing that it stored.
            _ = try await store.found(key)
            let next = CacheKey(url: "http://a/next")
            let entry = try #require(try await store.put(next, sampleBytes(100)))
            #expect(try await store.found(next) == [entry])
            store.waitForChanges()
            #expect(try later.number("SELECT id FROM entries") == 5)
        }
        #expect(!store.state.withLock { $0.isDiskOn })
        #expect(try database().number("SELECT count(*) FROM entries") == 1)
    }

    // MARK: - Another index while it is open

    enum Removal: CaseIterable {
        case index, all, directory, moved, replaced
    }

    private func remove(_ removal: Removal) throws {
        let files = FileManager.default
        let cache = directory.file("cache")
        switch removal {
        case .index: try files.removeItem(at: index)
        case .all:
            for name in try files.contentsOfDirectory(atPath: cache.path) {
                try files.removeItem(at: cache.appendingPathComponent(name))
            }
        case .directory: try files.removeItem(at: cache)
        case .moved: try files.moveItem(at: cache, to: directory.file("elsewhere"))
        case .replaced:
            try files.moveItem(at: cache, to: directory.file("elsewhere"))
            try files.createDirectory(at: cache, withIntermediateDirectories: false)
            try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: cache.path)
        }
    }

    @Test(arguments: Removal.allCases, [0, 1 << 20])
    func anIndexThatIsRemovedIsNoticed(_ removal: Removal, memory: Int) async throws {
        let store = TieredStore.sample(directory, memory: memory, time: time)
        let (short, long) = (CacheKey(url: "http://a/short"), CacheKey(url: "http://a/long"))
        try await store.put(short, sampleBytes(100))
        try await store.put(long, sampleBytes(50_000))
        store.waitForChanges()
        try remove(removal)
        // Within the second it may be as before, but nothing is wrong.
        for (key, body) in [(short, sampleBytes(100)), (long, sampleBytes(50_000))] {
            for entry in try await store.found(key) {
                let known = try await store.body(entry, key)
                #expect(known == nil || known == body)
            }
        }
        time.advance(by: 1.1)
        #expect(try await store.found(short) == [])
        #expect(try await store.found(long) == [])
        for (key, length) in [(short, 200), (long, 60_000)] {
            let entry = try #require(try await store.put(key, sampleBytes(length)))
            #expect(try await store.found(key) == [entry])
            #expect(try await store.body(entry, key) == sampleBytes(length))
        }
        store.waitForChanges()
        store.housekeeping.sync {}
        #expect(store.state.withLock { $0.isDiskOn })
        let later = TieredStore.sample(directory, memory: 0)
        for (key, length) in [(short, 200), (long, 60_000)] {
            let entry = try #require(try await later.found(key).first)
            #expect(try await later.body(entry, key) == sampleBytes(length))
        }
        // The body that no index names was swept.
        #expect(try bodyNames(directory).count == 1)
    }

    /// At once, without a look-up.
    @Test(arguments: Removal.allCases) func aChangeNoticesIt(_ removal: Removal) async throws {
        let store = TieredStore.sample(directory, memory: 0, time: time)
        try await store.put(CacheKey(url: "http://a/old"), sampleBytes(100))
        try remove(removal)
        try await store.put(key, sampleBytes(100))
        #expect(try await TieredStore.sample(directory).found(key).count == 1)
        // A file of a moment before would be in no directory.
        #expect(try await store.put(key, sampleBytes(50_000)) != nil)
        #expect(try await TieredStore.sample(directory).found(key).count == 2)
    }

    /// The directory above leads nowhere for a while, as one that is mounted may.
    @Test func anIndexThatCannotBeOpenedAgainIsTriedLater() throws {
        let above = directory.file("above")
        let tier = DiskTier(
            path: above.appendingPathComponent("cache").path,
            capacity: 64 << 20,
            boot: "one",
            patience: 10_000,
            now: { [time] in time.now }
        )
        try #require(tier.open())
        try #require(tier.stores(1, key))
        let files = FileManager.default
        try files.removeItem(at: above)
        let nowhere = directory.file("nowhere").path
        try files.createSymbolicLink(atPath: above.path, withDestinationPath: nowhere)
        #expect(!tier.stores(2, key))
        #expect(tier.isUsable)
        try files.removeItem(at: above)
        #expect(!tier.stores(3, key))
        time.advance(by: 1.1)
        #expect(tier.stores(4, key))
        #expect(tier.find(key, key.storedHash).map(\.entry.id) == [4])
    }

    @Test func twoStoresMeetAgainInTheNewIndex() async throws {
        let (one, other) = (
            TieredStore.sample(directory, time: time), TieredStore.sample(directory, time: time)
        )
        try await one.put(key, sampleBytes(100))
        one.waitForChanges()
        try remove(.all)
        let entry = try #require(try await one.put(key, sampleBytes(200)))
        one.waitForChanges()
        time.advance(by: 1.1)
        #expect(try await other.found(key) == [entry])
        #expect(try await other.body(entry, key) == sampleBytes(200))
        time.advance(by: 1.1)
        #expect(try await one.found(key) == [entry])
    }

    /// A new index does not read the log of the one before.
    @Test func theLogOfAnIndexThatWasRemovedIsRemoved() async throws {
        let store = TieredStore.sample(directory, memory: 0, time: time)
        try await store.put(key, sampleBytes(100))
        store.waitForChanges()
        let log = directory.file("cache").appendingPathComponent("index.sqlite-shm")
        let before = try FileManager.default.attributesOfItem(atPath: log.path)[.systemFileNumber] as? Int
        try remove(.index)
        let later = TieredStore.sample(directory, memory: 0)
        #expect(try await later.found(key) == [])
        let after = try FileManager.default.attributesOfItem(atPath: log.path)[.systemFileNumber] as? Int
        #expect(before != nil && after != nil && before != after)
        #expect(try await later.put(key, sampleBytes(200)) != nil)
        #expect(try await store.put(key, sampleBytes(300)) != nil)
        #expect(try await TieredStore.sample(directory).found(key).count == 2)
    }
}

extension DiskTier {
    /// Stores a short response.
    /// - Returns: whether it was stored.
    fileprivate func stores(_ id: Int64, _ key: CacheKey) -> Bool {
        let body = sampleBytes(1000)
        var entry = CacheEntry(id: id, head: sampleHead(key.url, length: body.count))
        return perform { tier in
            try tier.store(
                &entry,
                of: key,
                key.storedHash,
                EntryTarget(replacing: [], invalidated: nil),
                content: .inline(body),
                hidden: HiddenEntries(),
                used: [:]
            )
        }
    }
}
