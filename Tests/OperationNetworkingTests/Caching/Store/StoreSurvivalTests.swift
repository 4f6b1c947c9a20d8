import Foundation
import Glibc
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The store after a process that was killed, or a machine that went down.
@Suite(.timeLimit(.minutes(3)))
struct StoreSurvivalTests {
    private let directory: TemporaryDirectory
    private let key = CacheKey(url: "http://a/1")

    init() throws {
        directory = try TemporaryDirectory()
    }

    // MARK: - SIGKILL

    /// The length of the body of a key: in the index, in a file, and in several pieces.
    private static func length(_ number: Int) -> Int { [100, 30_000, 200_000][number % 3] + number }

    /// The work of a process: stores, replaces and removes, until it kills itself.
    private static func run(_ path: String, round: Int, killedAfter limit: Int) async throws {
        let store = TieredStore(
            memoryCapacity: 1 << 20,
            diskCapacity: 100 << 20,
            directory: URL(fileURLWithPath: path, isDirectory: true)
        )
        let commits = Recorder<Int>()
        // On a thread of its own, so that it comes at any point of what the others do.
        Thread.detachNewThread {
            _ = try? commits.waitSynchronously(count: limit)
            kill(getpid(), SIGKILL)
        }
        for number in 0... {
            let key = CacheKey(url: "http://a/\(number % 50)")
            let length = Self.length(number % 50)
            let old = try await store.found(key).map(\.id)
            let head = sampleHead(key.url, length: length)
            let writer = try #require(store.write(head, for: key, replacing: old))
            writer.append(sampleBytes(length, UInt8(number % 50)).span)
            writer.commit(head) { _ in commits.append(number) }
            if number % 7 == round % 7 { store.remove(nil, of: CacheKey(url: "http://a/\(number % 11)")) }
        }
    }

    @Test func everyEntryIsWholeAfterSIGKILLAtAnyPoint() async throws {
        let path = directory.file("cache").path
        // The first ones may die before anything is on the disk.
        var count = 0
        for round in 0..<12 {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, round = round as Int] in
                try await StoreSurvivalTests.run(path, round: round, killedAfter: 20 + round * 17)
            }
            let store = TieredStore.sample(directory)
            store.housekeeping.sync {}
            store.waitForChanges()
            var files: Set<String> = []
            for number in 0..<50 {
                let key = CacheKey(url: "http://a/\(number)")
                let entries = try await store.found(key)
                #expect(entries.count <= 1)
                for entry in entries {
                    let length = Self.length(number)
                    let body = try await store.body(entry, key)
                    #expect(body == sampleBytes(length, UInt8(number)), "round \(round), \(number)")
                    if length > 16_384 { files.insert("\(entry.id).body") }
                    count += 1
                }
            }
            #expect(Set(try bodyNames(directory)) == files, "round \(round)")
        }
        #expect(count > 100)
    }

    // MARK: - Power loss

    @Test func aFileThatMayNotHaveComeToTheDiskIsNotBelieved() async throws {
        let short = CacheKey(url: "http://a/short")
        do {
            let store = TieredStore.sample(directory, boot: "one")
            try await store.put(short, sampleBytes(1000))
            let entry = try #require(try await store.put(key, sampleBytes(200_000)))
            store.waitForChanges()
            // The row is on the disk, the bytes are not: zeros, with the right length.
            let file = directory.file("cache").appendingPathComponent("\(entry.id).body")
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 0)
            try handle.truncate(atOffset: 200_000)
            try handle.close()
        }
        let later = TieredStore.sample(directory, boot: "two")
        #expect(try await later.found(key) == [])
        #expect(try await later.found(short).count == 1)
        later.waitForChanges()
        #expect(try bodyNames(directory) == [])
    }

    @Test func theSameRunOfTheMachineBelievesIt() async throws {
        let entry: CacheEntry
        do {
            let store = TieredStore.sample(directory, boot: "one")
            entry = try #require(try await store.put(key, sampleBytes(200_000)))
            store.waitForChanges()
        }
        let later = TieredStore.sample(directory, boot: "one")
        #expect(try await later.body(entry, key) == sampleBytes(200_000))
    }

    @Test func aFileThatWasWrittenThroughIsBelieved() async throws {
        do {
            let store = TieredStore.sample(directory, boot: "one")
            try await store.put(key, sampleBytes(200_000))
            store.waitForChanges()
            #expect(store.writeThrough(try #require(store.disk), olderThan: -1))
        }
        let later = TieredStore.sample(directory, boot: "two")
        let entry = try #require(try await later.found(key).first)
        #expect(try await later.body(entry, key) == sampleBytes(200_000))
    }

    // MARK: - Rows and files that do not fit

    @Test func aRowWithoutAFileIsForgotten() async throws {
        let entry = try #require(try await TieredStore.sample(directory).put(key, sampleBytes(200_000)))
        let store = TieredStore.sample(directory, memory: 0)
        #expect(try await store.found(key) == [entry])
        try FileManager.default.removeItem(at: body(entry))
        #expect(try await store.body(entry, key) == nil)
        #expect(try await store.found(key) == [])
        #expect(store.diskUsage == 0)
    }

    @Test func aFileThatIsTooShortIsForgotten() async throws {
        let entry = try #require(try await TieredStore.sample(directory).put(key, sampleBytes(200_000)))
        let store = TieredStore.sample(directory, memory: 0)
        let handle = try FileHandle(forWritingTo: body(entry))
        try handle.truncate(atOffset: 199_999)
        try handle.close()
        #expect(try await store.body(entry, key) == nil)
        #expect(try await store.found(key) == [])
    }

    @Test func aFileThatBecomesShortWhileItIsReadIsAnError() async throws {
        let entry = try #require(try await TieredStore.sample(directory).put(key, sampleBytes(2_000_000)))
        let store = TieredStore.sample(directory, memory: 0)
        let reader = try #require(try await store.reader(entry, key))
        let handle = try FileHandle(forWritingTo: body(entry))
        try handle.truncate(atOffset: 1_000_000)
        try handle.close()
        await #expect(throws: BodyError.missing) { _ = try await reader.all() }
    }

    @Test func filesWithoutARowAreSweptAndLockedOnesAreNot() async throws {
        let entry = try #require(try await TieredStore.sample(directory).put(key, sampleBytes(200_000)))
        let folder = try CacheFolder(path: directory.file("cache").path)
        for name in ["1.body", "2.part", "3.body"] { _ = try folder.create(name) }
        let locked = try #require(try folder.open("3.body", isWritten: true))
        for name in ["mine.txt", "4.bodyx", "x.body"] { _ = try folder.create(name) }
        let store = TieredStore.sample(directory)
        store.housekeeping.sync {}
        let left = ["\(entry.id).body", "3.body", "4.bodyx", "mine.txt", "x.body"]
        #expect(Set(try bodyNames(directory)) == Set(left))
        locked.close()
    }

    private func body(_ entry: CacheEntry) -> URL {
        directory.file("cache").appendingPathComponent("\(entry.id).body")
    }

    // MARK: - A damaged index

    @Test(arguments: ["text", "zeros", "half", "page", "version", "log"])
    func aDamagedIndexIsBegunAnew(damage: String) async throws {
        for number in 0..<200 {
            try await TieredStore.sample(directory).put(
                CacheKey(url: "http://a/\(number)"),
                sampleBytes(number == 7 ? 100_000 : 1000)
            )
            if number >= 30, damage != "page" { break }
        }
        let index = directory.file("cache").appendingPathComponent("index.sqlite")
        let path = index.path
        // All is in the one file now.
        if damage != "log" {
            let database = try Database(
                path: URL(fileURLWithPath: path).resolvingSymlinksInPath().path,
                patience: 10_000
            )
            try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if damage == "version" { try database.execute("PRAGMA user_version = 99") }
        }
        var bytes = try Data(contentsOf: index)
        switch damage {
        case "text": bytes = Data("This is no database, and never was.".utf8)
        case "zeros": bytes = Data(count: bytes.count)
        case "half": bytes = bytes.prefix(bytes.count / 2)
        case "page":
            for offset in stride(from: 4096 * 2, to: bytes.count, by: 97) { bytes[offset] ^= 0x5a }
        default: break
        }
        if damage == "log" {
            try sampleBytes(50_000).write(to: URL(fileURLWithPath: path + "-wal"))
        } else if damage != "version" {
            let handle = try FileHandle(forWritingTo: index)
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: bytes)
            try handle.close()
        }

        for _ in 0..<3 {
            let store = TieredStore.sample(directory)
            for number in 0..<200 {
                let key = CacheKey(url: "http://a/\(number)")
                for entry in try await store.found(key) { _ = try await store.body(entry, key) }
            }
            try await store.put(key, sampleBytes(30_000))
            store.waitForChanges()
        }
        let store = TieredStore.sample(directory)
        store.housekeeping.sync {}
        let entry = try #require(try await store.found(key).last)
        #expect(try await store.body(entry, key) == sampleBytes(30_000))
        store.removeAll()
        store.waitForChanges()
        #expect(try bodyNames(directory) == [])
    }
}
