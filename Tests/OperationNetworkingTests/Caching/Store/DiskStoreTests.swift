import Foundation
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// A store with a directory.
@Suite(.timeLimit(.minutes(2)))
struct DiskStoreTests {
    private let directory: TemporaryDirectory
    private let key = CacheKey(url: "http://a/1")

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test(arguments: [0, 1, 16_384, 16_385, 65_536, 200_000, 3_000_000])
    func whatWasStoredIsFoundByALaterStore(length: Int) async throws {
        let body = sampleBytes(length)
        let store = TieredStore.sample(directory)
        let entry = try #require(try await store.put(key, body))
        #expect(try await store.body(entry, key) == body)
        store.waitForChanges()

        let later = TieredStore.sample(directory)
        #expect(try await later.found(key) == [entry])
        #expect(try await later.body(entry, key) == body)
        #expect(try bodyNames(directory) == (length > 16_384 ? ["\(entry.id).body"] : []))
    }

    @Test func whatIsStoredBeforeTheDirectoryIsOpenComesToTheDisk() throws {
        for number in 0..<50 {
            let path = directory.file("\(number)")
            let store = TieredStore(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: path)
            let head = sampleHead(key.url, length: 100_000)
            let writer = try #require(store.write(head, for: key, replacing: []))
            writer.append(sampleBytes(100_000).span)
            writer.commit(head, then: nil)
            #expect(store.diskUsage > 100_000)
        }
    }

    @Test func filesAreOfTheirOwnerAlone() async throws {
        let store = TieredStore.sample(directory)
        try await store.put(key, sampleBytes(100_000))
        store.waitForChanges()
        let path = directory.file("cache").path
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(names.count >= 2)
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test func anUpdateDoesNotUndoASecondInvalidation() async throws {
        try await TieredStore.sample(directory).expectUpdatesToKeepLaterInvalidations(of: key)
    }

    @Test func changesAreSeenByALaterStore() async throws {
        let store = TieredStore.sample(directory)
        let keys = (0..<4).map { CacheKey(url: "http://a/\($0)") }
        for key in keys { try await store.put(key, sampleBytes(20_000)) }
        let entries = try await keys.asyncMap { try #require(try await store.found($0).first) }
        var head = entries[0].head
        head.responseTime = 2000
        store.update(entries[0], of: keys[0], to: head)
        store.invalidate(keys[1])
        store.remove(entries[2].id, of: keys[2])
        store.remove(nil, of: keys[3])
        store.waitForChanges()

        let later = TieredStore.sample(directory)
        #expect(try await later.found(keys[0]).map(\.head) == [head])
        #expect(try await later.found(keys[1]).map(\.head.isInvalidated) == [true])
        #expect(try await later.found(keys[2]) == [])
        #expect(try await later.found(keys[3]) == [])
        #expect(try bodyNames(directory).count == 2)
        later.removeAll()
        #expect(try await later.found(keys[0]) == [])
        later.waitForChanges()
        #expect(try bodyNames(directory) == [])
        #expect(later.diskUsage == 0)
    }

    @Test func aKeyThatIsNotStoredIsKnownAtOnceWhenTheIndexIsRead() async throws {
        let store = TieredStore.sample(directory)
        try await store.put(key, sampleBytes(3))
        store.waitForChanges()
        let later = TieredStore.sample(directory)
        later.index.sync {}
        #expect(later.find(CacheKey(url: "http://a/2")) { _ in Issue.record("it was called later") } == [])
        #expect(later.find(key) { _ in } == nil)
    }

    @Test(arguments: [0, 1 << 20]) func ofManyVariantsTheOldestGo(disk: Int) async throws {
        let store = TieredStore.sample(directory, disk: disk)
        var entries: [CacheEntry] = []
        for _ in 0..<70 { entries.append(try #require(try await store.put(key, sampleBytes(10)))) }
        #expect(try await store.found(key) == Array(entries.suffix(64)))
        guard disk > 0 else { return }
        store.waitForChanges()
        #expect(try await TieredStore.sample(directory).found(key) == Array(entries.suffix(64)))
    }

    @Test func usesAreKeptForALaterStore() async throws {
        let keys = (0..<5).map { CacheKey(url: "http://a/\($0)") }
        do {
            let store = TieredStore.sample(directory, disk: 1_000_000)
            let entries = try await keys.asyncMap {
                try #require(try await store.put($0, sampleBytes(180_000)))
            }
            store.waitForChanges()
            _ = try await store.reader(entries[0], keys[0])
            // Told with the next entry.
            try await store.put(CacheKey(url: "http://a/small"), sampleBytes(10))
            store.waitForChanges()
        }
        let store = TieredStore.sample(directory, memory: 0, disk: 1_000_000)
        try await store.put(CacheKey(url: "http://a/5"), sampleBytes(180_000))
        let left = try await keys.asyncMap { try await !store.found($0).isEmpty }
        #expect(left == [true, false, true, true, true])
    }

    @Test func aLookUpOnItsWayDoesNotBringBackWhatIsRemoved() async throws {
        for all in [true, false] {
            let first = TieredStore.sample(directory)
            try await first.put(key, sampleBytes(10))
            first.waitForChanges()
            let store = TieredStore.sample(directory)
            store.index.suspend()
            let found = Recorder<[CacheEntry]>()
            #expect(store.find(key) { found.append($0) } == nil)
            if all { store.removeAll() } else { store.remove(nil, of: key) }
            store.index.resume()
            #expect(try await found.wait() == [[]])
            #expect(try await store.found(key) == [])
            store.waitForChanges()
        }
    }

    @Test func anAbandonedBodyLeavesNothing() async throws {
        let store = TieredStore.sample(directory)
        for length in [100, 100_000] {
            let writer = try #require(
                store.write(sampleHead(key.url, length: length), for: key, replacing: [])
            )
            writer.append(sampleBytes(length).span)
            writer.abandon()
        }
        store.waitForChanges()
        #expect(try bodyNames(directory) == [])
        #expect(try await store.found(key) == [])
        #expect(store.diskUsage == 0)
    }

    /// The disk goes off in the middle of a body that fits memory.
    @Test func aBodyThatIsNotForTheDiskAnyMoreLeavesNoFile() async throws {
        let store = TieredStore.sample(directory, memory: 8 << 20)
        let (all, head) = (sampleBytes(400_000), sampleHead(key.url, length: 400_000))
        let writer = try #require(store.write(head, for: key, replacing: []))
        writer.append(sampleBytes(300_000).span)
        store.bodies.sync {}
        #expect(try bodyNames(directory).count == 1)
        store.state.withLock { $0.disk = .off }
        let entry = try #require(try await writer.end(Data(all.suffix(100_000)), head))
        store.bodies.sync {}
        #expect(try bodyNames(directory) == [])
        #expect(try await store.body(entry, key) == all)
    }

    @Test func theEntryThatWasNotUsedForTheLongestTimeGoesFirst() async throws {
        let store = TieredStore.sample(directory, memory: 0, disk: 1_000_000)
        let keys = (0..<6).map { CacheKey(url: "http://a/\($0)") }
        for key in keys.prefix(5) { try await store.put(key, sampleBytes(180_000)) }
        let first = try #require(try await store.found(keys[0]).first)
        _ = try await store.body(first, keys[0])
        try await store.put(keys[5], sampleBytes(180_000))
        store.waitForChanges()

        let left = try await keys.asyncMap { try await !store.found($0).isEmpty }
        #expect(left == [true, false, true, true, true, true])
        #expect(store.diskUsage <= 1_000_000)
        #expect(try bodyNames(directory).count == 5)
    }

    /// The clock was ahead for a while: what was stored then is not newer than all that comes.
    @Test func whatWasUsedInTheFutureGoesFirst() async throws {
        let keys = (0..<8).map { CacheKey(url: "http://a/\($0)") }
        do {
            let store = TieredStore.sample(directory, memory: 0, disk: 1_000_000)
            for key in keys.prefix(5) { try await store.put(key, sampleBytes(180_000)) }
            store.waitForChanges()
        }
        let year: Int64 = 365 * 86_400 * 1_000_000
        try DamagedStore(directory: directory).database().execute("UPDATE entries SET used = used + \(year)")
        let store = TieredStore.sample(directory, memory: 0, disk: 1_000_000)
        for key in keys.suffix(3) { try await store.put(key, sampleBytes(180_000)) }
        store.waitForChanges()
        let left = try await keys.asyncMap { try await !store.found($0).isEmpty }
        #expect(left.suffix(3) == [true, true, true] && left.prefix(5).count { $0 } == 2)
    }

    @Test func whatSeemsToBeOfTheFutureIsWrittenThrough() throws {
        let disk = DamagedStore(directory: directory)
        let store = TieredStore.sample(directory, memory: 0)
        let present = EntryIdentifiers.present
        let (young, future) = (present + 1, EntryIdentifiers.latest(3_600, after: present))
        let head = sampleHead(key.url, length: 20_000)
        for id in [young, future] {
            try store.index.sync {
                try DiskIndex(path: disk.index.path, boot: "x", patience: 1_000, longestFile: nil).insert(
                    CacheEntry(id: id, head: head),
                    of: key,
                    key.storedHash,
                    .file(BodyChecksums()),
                    used: 1
                )
            }
        }
        let tier = try #require(store.disk)
        let earliest = EntryIdentifiers.earliest(30, before: present)
        let youngest = earliest...EntryIdentifiers.latest(60, after: present)
        let found = store.index.sync { tier.unsynchronized(but: youngest).ids }
        #expect(found == [future])
    }

    /// As in memory: each credential leaves a variant, and each look-up looks at all of them.
    @Test func theDiskKeepsAsManyVariantsAsMemory() async throws {
        let store = TieredStore.sample(directory, memory: 0)
        let count = StoreState.maximumVariants + 6
        for number in 0..<count {
            try await store.put(key, sampleBytes(number % 3 == 0 ? 20_000 : 10, UInt8(number)))
        }
        store.waitForChanges()
        let found = try await store.found(key)
        #expect(found.count == StoreState.maximumVariants)
        #expect(try bodyNames(directory).count == found.count { $0.head.length == 20_000 })
    }
}
