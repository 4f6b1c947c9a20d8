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

    @Test(arguments: [0, 1, 65_536, 65_537, 200_000, 3_000_000])
    func whatWasStoredIsFoundByALaterStore(length: Int) async throws {
        let body = sampleBytes(length)
        let store = ResponseStore.sample(directory)
        let entry = try #require(try await store.put(key, body))
        #expect(try await store.body(entry, key) == body)
        store.waitForChanges()

        for memory in [0, 1 << 20] {
            let later = ResponseStore.sample(directory, memory: memory)
            for _ in 0..<2 {
                #expect(try await later.found(key) == [entry])
                #expect(try await later.body(entry, key) == body)
            }
        }
        #expect(try cacheNames(directory, .head).count == 1 && cacheNames(directory, .body).count == 1)
    }

    @Test func whatIsStoredBeforeTheDirectoryIsOpenComesToTheDisk() throws {
        for number in 0..<20 {
            let path = directory.file("\(number)")
            let store = ResponseStore(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: path)
            let head = sampleHead(key.url, length: 100_000)
            let writer = try #require(store.write(head, for: key, replacing: []))
            writer.append(sampleBytes(100_000).span)
            writer.commit(head, then: nil)
            #expect(store.diskUsage > 100_000)
        }
    }

    @Test func filesAreOfTheirOwnerAlone() async throws {
        let store = ResponseStore.sample(directory)
        try await store.put(key, sampleBytes(100_000))
        store.waitForChanges()
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        let folder = cacheFolder(directory).path
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(names.count == 3)
        for name in names { #expect(try mode(folder + "/" + name) == 0o600, "\(name)") }
        #expect(try mode(folder) == 0o700 && mode(directory.file("cache").path) == 0o700)
    }

    @Test func anUpdateDoesNotUndoASecondInvalidation() async throws {
        try await ResponseStore.sample(directory).expectUpdatesToKeepLaterInvalidations(of: key)
    }

    @Test func changesAreSeenByALaterStore() async throws {
        let store = ResponseStore.sample(directory)
        let keys = (0..<4).map { CacheKey(url: "http://a/\($0)") }
        for key in keys { try await store.put(key, sampleBytes(20_000)) }
        let entries = try await keys.asyncMap { try #require(try await store.found($0).first) }
        var head = entries[0].head
        head.responseTime = 2000
        store.update(entries[0], of: keys[0], to: head)
        store.invalidate(keys[1])
        store.remove(entries[2].id, of: keys[2])
        store.remove(url: keys[3].url)
        store.waitForChanges()

        let later = ResponseStore.sample(directory)
        #expect(try await later.found(keys[0]).map(\.head) == [head])
        #expect(try await later.found(keys[1]).map(\.head.isInvalidated) == [true])
        #expect(try await later.found(keys[2]) == [])
        #expect(try await later.found(keys[3]) == [])
        #expect(try cacheNames(directory, .body).count == 2 && cacheNames(directory, .head).count == 2)
        later.removeAll()
        #expect(try await later.found(keys[0]) == [])
        later.waitForChanges()
        #expect(try cacheNames(directory) == [])
        #expect(later.diskUsage == 0)
    }

    /// A 304 says nothing about the body, whose file stays as it is.
    @Test func anotherHeadLeavesTheFileOfTheBody() async throws {
        let store = ResponseStore.sample(directory, memory: 0)
        let entry = try #require(try await store.put(key, sampleBytes(1_000)))
        func inode(_ file: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int
        }
        let (body, heads) = (try inode(bodyFile(entry, directory)), try inode(headFile(key, directory)))
        var head = entry.head
        head.responseTime = 2000
        store.update(entry, of: key, to: head)
        store.waitForChanges()
        #expect(try inode(bodyFile(entry, directory)) == body)
        #expect(try inode(headFile(key, directory)) != heads)
        #expect(try await store.found(key).map(\.head) == [head])
    }

    /// One file has the variants of all partitions, and each sees its own.
    @Test func partitionsOfAURLAreKeptApartAndRemovedTogether() async throws {
        let jar = CacheKey(url: key.url, partition: " jar 1")
        let store = ResponseStore.sample(directory, memory: 0)
        let (one, other) = (
            try await store.put(key, sampleBytes(10)), try await store.put(jar, sampleBytes(20))
        )
        #expect(try await store.found(key) == [one])
        #expect(try await store.found(jar) == [other])
        #expect(try cacheNames(directory, .head).count == 1)
        store.invalidate(jar)
        #expect(try await store.found(key).map(\.head.isInvalidated) == [false])
        #expect(try await store.found(jar).map(\.head.isInvalidated) == [true])
        store.remove(url: key.url)
        for key in [key, jar] { #expect(try await store.found(key) == []) }
    }

    @Test(arguments: [0, 1 << 20]) func theOldestOfManyVariantsAreRemoved(memory: Int) async throws {
        let store = ResponseStore.sample(directory, memory: memory)
        var entries: [CacheEntry] = []
        for _ in 0..<70 { entries.append(try #require(try await store.put(key, sampleBytes(10)))) }
        #expect(try await store.found(key) == Array(entries.suffix(64)))
        store.waitForChanges()
        #expect(try await ResponseStore.sample(directory).found(key) == Array(entries.suffix(64)))
        #expect(try cacheNames(directory, .body).count == 64)
    }

    @Test func aLookupOnItsWayDoesNotBringBackWhatIsRemoved() async throws {
        for all in [true, false] {
            let first = ResponseStore.sample(directory)
            try await first.put(key, sampleBytes(10))
            first.waitForChanges()
            let store = ResponseStore.sample(directory)
            store.reading.suspend()
            let found = Recorder<[CacheEntry]>()
            #expect(store.find(key) { found.append($0) } == nil)
            if all { store.removeAll() } else { store.remove(url: key.url) }
            store.reading.resume()
            #expect(try await found.wait() == [[]])
            #expect(try await store.found(key) == [])
            store.waitForChanges()
        }
    }

    @Test func anAbandonedBodyLeavesNothing() async throws {
        let store = ResponseStore.sample(directory)
        for length in [100, 100_000, 500_000] {
            let writer = try #require(
                store.write(sampleHead(key.url, length: length), for: key, replacing: [])
            )
            writer.append(sampleBytes(length).span)
            writer.abandon()
        }
        store.waitForChanges()
        #expect(store.diskUsage == 0)
        #expect(try await store.found(key) == [])
    }

    @Test func noCallWaitsForTheQueuesOfTheDisk() async throws {
        let store = ResponseStore.sample(directory)
        let entry = try #require(try await store.put(key, sampleBytes(100)))
        store.waitForChanges()
        // Nothing of the disk moves from here on.
        let queues = [store.reading, store.writing, store.housekeeping]
        for queue in queues { queue.suspend() }
        let other = CacheKey(url: "http://a/2")
        _ = store.find(other) { _ in }
        _ = store.find(key) { _ in }
        _ = store.read(entry, of: key) { _ in }
        let writer = try #require(
            store.write(sampleHead(other.url, length: 900_000), for: other, replacing: [])
        )
        let ready = Gate()
        writer.whenReady = { ready.open() }
        writer.append(sampleBytes(900_000).span)
        #expect(writer.isFull)
        writer.commit(sampleHead(other.url, length: 900_000), then: nil)
        store.update(entry, of: key, to: entry.head)
        store.invalidate(key)
        store.remove(entry.id, of: key)
        store.remove(url: other.url)
        store.removeAll()
        for queue in queues { queue.resume() }
        try await ready.wait()
        #expect(!writer.isFull)
        #expect(try await store.found(key) == [])
        #expect(try await store.found(other) == [])
    }

    // MARK: - Files that do not fit

    @Test func aMissingBodyOrOneOfAnotherLengthIsAMiss() async throws {
        for length: off_t? in [nil, 0, 199_999, 200_001] {
            let entry = try #require(try await ResponseStore.sample(directory).put(key, sampleBytes(200_000)))
            let store = ResponseStore.sample(directory, memory: 0)
            #expect(try await store.found(key).contains(entry))
            let file = bodyFile(entry, directory)
            if let length { truncate(file.path, length) } else { unlink(file.path) }
            #expect(try await store.body(entry, key) == nil)
            #expect(try await store.found(key) == [])
            #expect(store.diskUsage == 0)
        }
    }

    @Test func aBodyThatIsCutWhileItIsReadIsAnError() async throws {
        let entry = try #require(try await ResponseStore.sample(directory).put(key, sampleBytes(2_000_000)))
        let store = ResponseStore.sample(directory, memory: 0)
        let reader = try #require(try await store.reader(entry, key))
        truncate(bodyFile(entry, directory).path, 1_000_000)
        await #expect(throws: StoredBodyReader.Cut()) { _ = try await reader.all() }
    }

    @Test(arguments: ["text", "empty", "half", "another URL's"])
    func aDamagedHeadFileIsIgnoredAndReplaced(damage: String) async throws {
        let other = CacheKey(url: "http://a/2")
        let first = ResponseStore.sample(directory)
        for key in [key, other] { try await first.put(key, sampleBytes(1_000)) }
        first.waitForChanges()
        let file = try headFile(key, directory)
        let bytes = try Data(contentsOf: file)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        switch damage {
        case "text": try handle.write(contentsOf: Data("no heads".utf8))
        case "half": try handle.write(contentsOf: bytes.prefix(bytes.count / 2))
        case "another URL's": try handle.write(contentsOf: Data(contentsOf: headFile(other, directory)))
        default: break
        }
        try handle.close()
        let store = ResponseStore.sample(directory)
        #expect(try await store.found(key) == [])
        let entry = try #require(try await store.put(key, sampleBytes(20)))
        store.waitForChanges()
        let later = ResponseStore.sample(directory)
        #expect(try await later.found(key) == [entry])
        #expect(try await later.found(other).count == 1)
    }

    // MARK: - The folder

    @Test(arguments: ["OperationNetworking cache 1\n", "OperationNetworking cache 3\n", "", "no mark", nil])
    func aFolderOfAnotherFormatIsEmptiedOfOurNamesAlone(format: String?) async throws {
        let first = ResponseStore.sample(directory)
        try await first.put(key, sampleBytes(1_000))
        first.waitForChanges()
        let folder = cacheFolder(directory)
        let mark = folder.appendingPathComponent(DiskTier.formatName)
        if let format { try Data(format.utf8).write(to: mark) } else { unlink(mark.path) }
        let others = [
            folder.appendingPathComponent("mine.txt"), folder.appendingPathComponent("0123.body"),
            directory.file("cache").appendingPathComponent("0123456789abcdef.body"),
        ]
        for other in others { try Data("mine".utf8).write(to: other) }
        let store = ResponseStore.sample(directory)
        #expect(try await store.found(key) == [])
        #expect(try cacheNames(directory, .body) == [] && cacheNames(directory, .head) == [])
        #expect(try Data(contentsOf: mark) == DiskTier.format)
        try await store.put(key, sampleBytes(1_000))
        store.removeAll()
        store.waitForChanges()
        for other in others { #expect(try Data(contentsOf: other) == Data("mine".utf8)) }
        #expect(try await store.found(key) == [])
    }

    @Test func aFolderThatIsRemovedIsMadeAgain() async throws {
        let store = ResponseStore.sample(directory, memory: 0)
        try await store.put(key, sampleBytes(1_000))
        store.waitForChanges()
        for path in [cacheFolder(directory), directory.file("cache")] {
            try FileManager.default.removeItem(at: path)
            #expect(try await store.found(key) == [])
            store.invalidate(key)
            let entry = try #require(try await store.put(key, sampleBytes(1_000)))
            #expect(try await store.found(key) == [entry])
            #expect(try await ResponseStore.sample(directory).found(key) == [entry])
        }
    }

    @Test(arguments: [true, false]) func filesOfEarlierBuildsAreRemovedByTheirNames(isOurs: Bool) async throws
    {
        let cache = directory.file("cache")
        try FileManager.default.createDirectory(at: cache, withIntermediateDirectories: false)
        chmod(cache.path, 0o700)
        // As SQLite writes it, with the mark of those builds.
        var index = Data("SQLite format 3\0".utf8)
        index.append(Data(count: 52))
        index.append(Data((isOurs ? "OpNC" : "else").utf8))
        let old = ["1234.body", "index.sqlite-wal", "index.sqlite-shm", "index.sqlite"]
        let others = ["mine.txt", "12a.body", "1.body.txt", "other.sqlite"]
        for name in old + others {
            let file = cache.appendingPathComponent(name)
            try (name == "index.sqlite" ? index : Data("bytes".utf8)).write(to: file)
            chmod(file.path, 0o600)
        }
        let store = ResponseStore.sample(directory)
        try await store.put(key, sampleBytes(10))
        _ = store.diskUsage
        let left = Set(try FileManager.default.contentsOfDirectory(atPath: cache.path))
        #expect(left.subtracting([DiskTier.folderName]) == Set(isOurs ? others : old + others))
    }
}
