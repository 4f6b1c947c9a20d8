import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Several stores on one directory: of one process, which stand for those of two, and of processes.
@Suite(.timeLimit(.minutes(3)))
struct StoreProcessesTests {
    private let directory: TemporaryDirectory
    private let time = ManualTime()
    private let key = CacheKey(url: "http://a/1")

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func whatAnotherStoresReplacesAndRemovesIsSeenASecondLater() async throws {
        let (one, other) = (
            TieredStore.sample(directory, time: time), TieredStore.sample(directory, time: time)
        )
        // Nothing, which both know at once.
        #expect(one.find(key) { _ in } == [])
        let first = try #require(try await other.put(key, sampleBytes(20_000)))
        other.waitForChanges()
        time.advance(by: 1.1)
        #expect(try await one.found(key) == [first])
        #expect(try await one.body(first, key) == sampleBytes(20_000))

        let second = try #require(try await other.put(key, sampleBytes(30_000), replacing: [first.id]))
        other.waitForChanges()
        // Within the second, memory answers.
        #expect(one.find(key) { _ in } == [first])
        time.advance(by: 1.1)
        #expect(try await one.found(key) == [second])
        #expect(try await one.body(second, key) == sampleBytes(30_000))

        var head = second.head
        head.responseTime = 5000
        other.update(second, of: key, to: head)
        other.waitForChanges()
        time.advance(by: 1.1)
        #expect(try await one.found(key).map(\.head) == [head])

        other.removeAll()
        other.waitForChanges()
        time.advance(by: 1.1)
        #expect(try await one.found(key) == [])
    }

    @Test func aBodyThatAnotherRemovesCanBeReadToItsEnd() async throws {
        let (one, other) = (TieredStore.sample(directory), TieredStore.sample(directory))
        let entry = try #require(try await one.put(key, sampleBytes(2_000_000)))
        one.waitForChanges()
        let reader = try #require(try await one.reader(entry, key))
        other.removeAll()
        other.waitForChanges()
        #expect(try bodyNames(directory) == [])
        #expect(try await reader.all() == sampleBytes(2_000_000))
    }

    @Test func writersOnTheirWayAreNotSweptByAnother() async throws {
        let one = TieredStore.sample(directory)
        let writer = try #require(
            one.write(sampleHead(key.url, length: 400_000), for: key, replacing: [])
        )
        writer.append(Data(sampleBytes(400_000).prefix(300_000)).span)
        one.waitForChanges()
        #expect(try bodyNames(directory).count == 1)
        let other = TieredStore.sample(directory)
        other.housekeeping.sync {}
        #expect(try bodyNames(directory).count == 1)
        let rest = Data(sampleBytes(400_000).dropFirst(300_000))
        let entry = try #require(try await writer.end(rest, sampleHead(key.url, length: 400_000)))
        one.waitForChanges()
        #expect(try await other.body(entry, key) == sampleBytes(400_000))
    }

    @Test func whatTheIndexDoesNotTakeIsNotFoundAgain() async throws {
        let path = directory.file("cache")
        let store = TieredStore(memoryCapacity: 0, diskCapacity: 1 << 20, directory: path, patience: 20)
        let keys = (0..<5).map { CacheKey(url: "http://a/\($0)") }
        var entries = try await keys.asyncMap { try #require(try await store.put($0, sampleBytes(1000))) }
        let kept = try #require(try await store.put(keys[4], sampleBytes(1000)))
        // Another one changes the index, and does not end.
        let index = path.resolvingSymlinksInPath().path + "/index.sqlite"
        let other = try Database(path: index, patience: 10_000)
        try other.execute("BEGIN IMMEDIATE")
        var head = entries[0].head
        head.responseTime = 9000
        store.update(entries[0], of: keys[0], to: head)
        store.invalidate(keys[1])
        store.remove(nil, of: keys[2])
        store.remove(entries[3].id, of: keys[3])
        #expect(try await store.put(keys[4], sampleBytes(10), replacing: [entries[4].id]) == nil)
        for key in keys.prefix(4) { #expect(try await store.found(key).isEmpty) }
        #expect(try await store.found(keys[4]) == [kept])
        try other.execute("ROLLBACK")
        for key in keys.prefix(4) { #expect(try await store.found(key).isEmpty) }
        entries[1] = try #require(try await store.put(keys[1], sampleBytes(1000)))
        #expect(try await store.found(keys[1]) == [entries[1]])
        try other.execute("BEGIN IMMEDIATE")
        store.removeAll()
        store.waitForChanges()
        try other.execute("ROLLBACK")
        for key in keys { #expect(try await store.found(key).isEmpty) }
        #expect(try await store.put(keys[1], sampleBytes(1000)) != nil)
        #expect(try await store.found(keys[1]).count == 1)
    }

    @Test func whatTheIndexDidNotTakeIsForgottenWhenAllIsRemoved() async throws {
        let path = directory.file("cache")
        let store = TieredStore(memoryCapacity: 0, diskCapacity: 1 << 20, directory: path, patience: 20)
        try await store.put(key, sampleBytes(10))
        let index = path.resolvingSymlinksInPath().path + "/index.sqlite"
        let other = try Database(path: index, patience: 10_000)
        try other.execute("BEGIN IMMEDIATE")
        store.remove(nil, of: key)
        store.waitForChanges()
        try other.execute("ROLLBACK")
        #expect(try await store.found(key).isEmpty)
        #expect(store.state.withLock { $0.hidden.count } == 1)
        store.removeAll()
        store.waitForChanges()
        #expect(store.state.withLock { $0.hidden.count } == 0)
        #expect(try await store.found(key).isEmpty)
    }

    /// The work of a process: random changes, and a look at every body that is found.
    private static func run(_ path: String, seed: UInt64) async throws {
        let store = TieredStore(
            memoryCapacity: 300_000,
            diskCapacity: 3_000_000,
            directory: URL(fileURLWithPath: path, isDirectory: true)
        )
        var random = SeededGenerator(seed: seed)
        for _ in 0..<250 {
            let number = Int.random(in: 0..<30, using: &random)
            let key = CacheKey(url: "http://a/\(number)")
            let found = try await store.found(key)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let length = [200, 20_000, 90_000, 300_000][Int.random(in: 0..<4, using: &random)] + number
                try await store.put(key, sampleBytes(length, UInt8(number)), replacing: found.map(\.id))
            case 4: store.remove(nil, of: key)
            case 5: found.first.map { store.remove($0.id, of: key) }
            case 6: store.invalidate(key)
            default:
                for entry in found {
                    // It may be gone by now, but it is never another one's.
                    guard let reader = try await store.reader(entry, key) else { continue }
                    let body = try await reader.all()
                    guard body == sampleBytes(body.count, UInt8(number)) else { throw BodyError.missing }
                }
            }
        }
        store.waitForChanges()
        guard store.state.withLock({ $0.isDiskOn }) else { throw BodyError.missing }
    }

    @Test func twoProcessesAtOnceGetNoWrongByte() async throws {
        let path = directory.file("cache").path
        await withTaskGroup(of: Void.self) { group in
            for seed in 1...3 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String, seed = seed as Int] in
                        try await StoreProcessesTests.run(path, seed: UInt64(seed))
                    }
                }
            }
        }
        let store = TieredStore.sample(directory)
        store.housekeeping.sync {}
        store.waitForChanges()
        #expect(store.diskUsage <= 3_000_000)
        var files: Set<String> = []
        for number in 0..<30 {
            let key = CacheKey(url: "http://a/\(number)")
            for entry in try await store.found(key) {
                let body = try #require(try await store.body(entry, key))
                #expect(body == sampleBytes(body.count, UInt8(number)))
                if body.count > 16_384 { files.insert("\(entry.id).body") }
            }
        }
        #expect(Set(try bodyNames(directory)) == files)
    }
}
