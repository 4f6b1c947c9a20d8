import Foundation
import Glibc
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// Which files go when the disk has too many, by the times of their last use.
@Suite(.timeLimit(.minutes(3)))
struct StoreEvictionTests {
    private let directory: TemporaryDirectory
    private let keys = (0..<10).map { CacheKey(url: "http://a/\($0)") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Stores 100,000 bytes under each of the first keys, the first one used the longest time ago.
    private func fill(_ count: Int) async throws {
        let store = ResponseStore.sample(directory, memory: 0)
        for key in keys.prefix(count) { try await store.put(key, sampleBytes(100_000)) }
        store.waitForChanges()
        for (number, key) in keys.prefix(count).enumerated() {
            try await setAge(Double(10_000 - number * 100), key, store)
        }
    }

    private func setAge(_ seconds: Double, _ key: CacheKey, _ store: ResponseStore) async throws {
        let entry = try #require(try await store.found(key).first)
        let time = Date().addingTimeInterval(-seconds)
        for file in [try headFile(key, directory), bodyFile(entry, directory)] {
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: file.path)
        }
    }

    private func areStored() async throws -> [Bool] {
        let store = ResponseStore.sample(directory, memory: 0)
        return try await keys.asyncMap { key in
            guard let entry = try await store.found(key).first else { return false }
            return try await store.body(entry, key) == sampleBytes(100_000)
        }
    }

    @Test func theLeastRecentlyUsedAreRemovedFirst() async throws {
        try await fill(9)
        do {
            // A hit is a use, from the disk and from memory.
            let store = ResponseStore.sample(directory)
            for key in [keys[0], keys[3]] {
                let entry = try #require(try await store.found(key).first)
                #expect(try await store.body(entry, key) == sampleBytes(100_000))
            }
        }
        let store = ResponseStore.sample(directory, memory: 0, disk: 700_000)
        try await store.put(keys[9], sampleBytes(100_000))
        #expect(store.diskUsage <= 700_000)
        let left = try await areStored()
        #expect(left == [true, false, false, true, false, false, false, true, true, true])
    }

    /// The clock was ahead: what was used then is not newer than all that comes.
    @Test func entriesUsedInTheFutureAreRemovedFirst() async throws {
        try await fill(6)
        do {
            let store = ResponseStore.sample(directory, memory: 0)
            for key in keys[2..<6] { try await setAge(-400 * 86_400, key, store) }
        }
        let store = ResponseStore.sample(directory, memory: 0, disk: 600_000)
        for key in keys[6...] { try await store.put(key, sampleBytes(100_000)) }
        #expect(store.diskUsage <= 600_000)
        let left = try await areStored()
        #expect(left.suffix(4) == [true, true, true, true])
        #expect(left[2..<6].allSatisfy { !$0 })
    }

    /// A clock that was set back changes the order, and nothing else.
    @Test func aClockThatGoesBackChangesNoMoreThanTheOrder() async throws {
        try await fill(5)
        do {
            let store = ResponseStore.sample(directory, memory: 0)
            for key in keys.prefix(5) { try await setAge(-1_800, key, store) }
        }
        let time = ManualTime()
        let store = ResponseStore.sample(directory, memory: 0, time: time)
        time.advance(by: -500)
        for key in keys.prefix(5) { #expect(try await store.found(key).count == 1) }
        try await store.put(keys[5], sampleBytes(100_000))
        #expect(try await areStored().count { $0 } == 6)
    }

    /// A process that soon ends does not wait for a count in the background.
    @Test(arguments: [(3_600, false), (2 * 86_400, true)] as [(Double, Bool)])
    func theFilesAreCountedBeforeTheFirstResponseOfADay(age: Double, isCounted: Bool) async throws {
        try await fill(5)
        let mark = cacheFolder(directory).appendingPathComponent(DiskTier.formatName)
        try FileManager.default.setAttributes(
            [.modificationDate: Date().addingTimeInterval(-age)],
            ofItemAtPath: mark.path
        )
        let store = ResponseStore.sample(directory, memory: 0, disk: 400_000)
        store.housekeeping.suspend()
        defer { store.housekeeping.resume() }
        try await store.put(keys[9], sampleBytes(10))
        store.waitForChanges()
        let left = try cacheNames(directory, .body).count
        #expect(isCounted ? left < 5 : left == 6)
    }

    /// What is being written counts too.
    @Test func bodiesThatAreBeingWrittenStayWithinTheCapacity() async throws {
        let disk = DiskTier(path: directory.file("cache").path, capacity: 400_000)
        let bodies = (0..<3).map { _ in DiskTier.Body(disk, declaredLength: 0) }
        for body in bodies { body.write(sampleBytes(150_000)) }
        #expect(bodies.map(\.hasFailed) == [false, false, true])
        // One that is abandoned makes room.
        bodies[0].abandon()
        bodies[1].write(sampleBytes(50_000))
        #expect(!bodies[1].hasFailed && bodies[1].finish(as: 1))
        // One alone has half of it.
        let long = DiskTier.Body(disk, declaredLength: 0)
        long.write(sampleBytes(200_001))
        #expect(long.hasFailed)
    }

    @Test func leftoversOfAProcessAreRemovedAfterAnHour() async throws {
        try await fill(1)
        let folder = cacheFolder(directory)
        for (name, age) in [("0123456789abcdef.new", 3_700.0), ("fedcba9876543210.new", 3_000)] {
            let file = folder.appendingPathComponent(name)
            try sampleBytes(1_000).write(to: file)
            let time = Date().addingTimeInterval(-age)
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: file.path)
        }
        let store = ResponseStore.sample(directory)
        try await store.put(keys[1], sampleBytes(10))
        _ = store.diskUsage
        #expect(try cacheNames(directory, .new) == ["fedcba9876543210.new"])
    }

    /// A head whose body is gone is a miss; the server is asked, and its answer is stored.
    @Test func aHeadWhoseBodyWasEvictedIsAMiss() async throws {
        try await fill(1)
        let store = ResponseStore.sample(directory, memory: 0)
        let entry = try #require(try await store.found(keys[0]).first)
        unlink(bodyFile(entry, directory).path)
        #expect(try await store.body(entry, keys[0]) == nil)
        try await store.put(keys[0], sampleBytes(100_000))
        #expect(try await areStored().first == true)
    }

    @Test func severalProcessesStayNearTheLimit() async throws {
        let path = directory.file("cache").path
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2 {
                group.addTask {
                    await #expect(processExitsWith: .success) {
                        [path = path as String, number = number as Int] in
                        let store = ResponseStore(
                            memoryCapacity: 0,
                            diskCapacity: 4_000_000,
                            directory: URL(fileURLWithPath: path, isDirectory: true)
                        )
                        var greatest = 0
                        for index in 0..<150 {
                            let key = CacheKey(url: "http://\(number)/\(index)")
                            try await store.put(key, sampleBytes(50_000 + index))
                            // What is counted is kept, also before a minute is over.
                            if index % 10 == 0 { greatest = max(greatest, store.diskUsage) }
                        }
                        #expect(greatest < 4_800_000, "\(greatest)")
                    }
                }
            }
        }
        let store = ResponseStore.sample(directory, disk: 4_000_000)
        #expect(store.diskUsage < 4_800_000 && store.diskUsage > 2_000_000)
    }
}
