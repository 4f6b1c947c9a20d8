import Foundation
import Glibc
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingSystem
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

    @Test func changesOfAnotherProcessAreSeenWithinASecond() async throws {
        let (one, other) = (
            ResponseStore.sample(directory, time: time), ResponseStore.sample(directory, time: time)
        )
        #expect(try await one.found(key) == [])
        let first = try #require(try await other.put(key, sampleBytes(20_000)))
        other.waitForChanges()
        // Within the second, memory answers.
        #expect(one.find(key) { _ in } == [])
        time.advance(by: 1.1)
        #expect(try await one.found(key) == [first])
        #expect(try await one.body(first, key) == sampleBytes(20_000))

        let second = try #require(try await other.put(key, sampleBytes(30_000), replacing: [first.id]))
        other.waitForChanges()
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
        other.invalidate(key)
        other.waitForChanges()
        time.advance(by: 1.1)
        #expect(try await one.found(key).map(\.head.isInvalidated) == [true])

        other.removeAll()
        other.waitForChanges()
        time.advance(by: 1.1)
        #expect(try await one.found(key) == [])
    }

    /// Each change is made of the file as it is, not as it was known.
    @Test func changesOfTwoLeaveBoth() async throws {
        let (one, other) = (ResponseStore.sample(directory), ResponseStore.sample(directory))
        let first = try #require(try await one.put(key, sampleBytes(100)))
        one.waitForChanges()
        _ = try await other.found(key)
        let second = try #require(try await one.put(key, sampleBytes(200)))
        one.waitForChanges()
        let third = try #require(try await other.put(key, sampleBytes(300), replacing: [first.id]))
        other.waitForChanges()
        #expect(try await ResponseStore.sample(directory).found(key) == [second, third])
        one.invalidate(key)
        one.waitForChanges()
        other.update(third, of: key, to: third.head)
        other.waitForChanges()
        let heads = try await ResponseStore.sample(directory).found(key).map(\.head.isInvalidated)
        #expect(heads == [true, true])
    }

    @Test func aBodyThatAnotherRemovesCanBeReadToItsEnd() async throws {
        let (one, other) = (ResponseStore.sample(directory), ResponseStore.sample(directory))
        let entry = try #require(try await one.put(key, sampleBytes(2_000_000)))
        one.waitForChanges()
        let reader = try #require(try await one.reader(entry, key))
        other.removeAll()
        other.waitForChanges()
        #expect(try cacheNames(directory) == [])
        #expect(try await reader.all() == sampleBytes(2_000_000))
    }

    /// A process that was stopped at the worst moment.
    @Test func aLockThatAnotherHoldsIsWaitedForASecond() async throws {
        let store = ResponseStore.sample(directory)
        try await store.put(key, sampleBytes(100))
        store.waitForChanges()
        let folder = open(cacheFolder(directory).path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(folder) }
        #expect(flock(folder, LOCK_EX) == 0)
        store.invalidate(key)
        store.waitForChanges()
        #expect(try await ResponseStore.sample(directory).found(key).map(\.head.isInvalidated) == [true])
    }

    // MARK: - Random schedules

    private static let count = 30

    private static func length(_ number: Int, _ round: Int) -> Int {
        [0, 200, 20_000, 90_000, 300_000][(number + round) % 5] + number
    }

    /// The bytes of a response: what its tag says.
    private static func body(_ number: Int, _ round: Int) -> Data {
        sampleBytes(length(number, round), UInt8(truncatingIfNeeded: number &* 7 &+ round))
    }

    private static func isRight(_ entry: CacheEntry, _ body: Data, _ number: Int) -> Bool {
        let tag = entry.head.fields["ETag"]?.trimmingCharacters(in: ["\""]) ?? ""
        return Int(tag).map { body == Self.body(number, $0) } ?? false
    }

    /// The work of a process: random changes, and a look at every body that is found. After `limit` changes
    /// it kills itself.
    private static func run(_ path: String, seed: UInt64, killedAfter limit: Int?) async throws {
        let store = ResponseStore(
            memoryCapacity: 300_000,
            diskCapacity: 3_000_000,
            directory: URL(fileURLWithPath: path, isDirectory: true)
        )
        let commits = Recorder<Int>()
        if let limit {
            // On a thread of its own, so that it comes at any point of what the others do.
            Thread.detachNewThread {
                _ = try? commits.waitSynchronously(count: limit)
                kill(getpid(), SIGKILL)
            }
        }
        var random = SeededGenerator(seed: seed)
        for round in 0..<(limit == nil ? 200 : 100_000) {
            let number = Int.random(in: 0..<count, using: &random)
            let key = CacheKey(url: "http://a/\(number)")
            let found = try await store.found(key)
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<5:
                let version = Int(seed) &* 1000 &+ round
                let body = Self.body(number, version)
                let head = sampleHead(
                    key.url,
                    length: body.count,
                    ["ETag": "\"\(version)\"", "Cache-Control": "max-age=600"]
                )
                let writer = store.write(head, for: key, replacing: found.map(\.id))
                writer?.append(body.span)
                writer?.commit(head) { _ in commits.append(round) }
            case 5: store.remove(url: key.url)
            case 6: found.first.map { store.remove($0.id, of: key) }
            case 7: store.invalidate(key)
            case 8: found.first.map { store.update($0, of: key, to: $0.head) }
            case 9 where round < 100: if round % 10 == 0 { store.removeAll() }
            default:
                for entry in found {
                    // It may be gone by now, but it is never another one's.
                    guard let body = try await store.body(entry, key) else { continue }
                    guard isRight(entry, body, number) else { throw StoredBodyReader.Cut() }
                }
            }
        }
        store.waitForChanges()
        guard store.state.withLock({ $0.isDiskOn }) else { throw StoredBodyReader.Cut() }
    }

    /// - Returns: the number of bodies.
    private func expectEveryBodyToBeRight(_ comment: Comment) async throws -> Int {
        let store = ResponseStore.sample(directory, memory: 0)
        var bodies = 0
        for number in 0..<Self.count {
            let key = CacheKey(url: "http://a/\(number)")
            for entry in try await store.found(key) {
                guard let body = try await store.body(entry, key) else { continue }
                #expect(Self.isRight(entry, body, number), comment)
                bodies += 1
            }
        }
        // What it has found to be gone is removed.
        store.waitForChanges()
        return bodies
    }

    @Test func processesAtOnceGetNoWrongByte() async throws {
        let path = directory.file("cache").path
        await withTaskGroup(of: Void.self) { group in
            for seed in 1...3 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String, seed = seed as Int] in
                        try await StoreProcessesTests.run(path, seed: UInt64(seed), killedAfter: nil)
                    }
                }
            }
        }
        #expect(try await expectEveryBodyToBeRight("at the end") > 3)
        #expect(try cacheNames(directory, .new) == [])
    }

    @Test func twoProcessesThatAreKilledLeaveNoWrongByte() async throws {
        let path = directory.file("cache").path
        var count = 0
        for round in 0..<8 {
            await withTaskGroup(of: Void.self) { group in
                for process in 0..<2 {
                    group.addTask {
                        await #expect(processExitsWith: .signal(SIGKILL)) {
                            [path = path as String, round = round as Int, process = process as Int] in
                            try await StoreProcessesTests.run(
                                path,
                                seed: UInt64(10 + round * 2 + process),
                                killedAfter: 15 + round * 13 + process * 40
                            )
                        }
                    }
                }
            }
            count += try await expectEveryBodyToBeRight("round \(round)")
        }
        #expect(count > 30)
    }

    // MARK: - Figures

    @Test(.enabled(if: !Rounds.isUnderSanitizer, "A sanitizer keeps memory that is free."))
    func aLongBodyIsStreamedThroughWithoutMuchMemory() async throws {
        let path = directory.file("cache").path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let count = ProcessInfo.processInfo.environment["OPERATIONNETWORKING_LONG"] == nil ? 300 : 2048
            let length = count << 20
            let store = ResponseStore(
                memoryCapacity: 4 << 20,
                diskCapacity: 8 << 30,
                directory: URL(fileURLWithPath: path, isDirectory: true)
            )
            let key = CacheKey(url: "http://a/1")
            let head = sampleHead(key.url, length: length)
            let piece = sampleBytes(1 << 20)
            let before = try StoreProcessesTests.peak()
            let writer = try #require(store.write(head, for: key, replacing: []))
            for _ in 0..<count {
                writer.append(piece.span)
                let ready = Gate()
                writer.whenReady = { ready.open() }
                if writer.isFull { try await ready.wait() }
            }
            let entry = try #require(try await writer.end(Data(), head))
            let reader = try #require(try await store.reader(entry, key))
            var offset: Int64 = 0
            while offset < reader.length {
                let later = Recorder<Result<Data, any Error>>()
                _ = reader.read(at: offset, atMost: 1 << 20) { later.append($0) }
                let bytes = try #require(try await later.wait().first).get()
                guard bytes == piece else { throw StoredBodyReader.Cut() }
                offset += Int64(bytes.count)
            }
            let grown = try StoreProcessesTests.peak() - before
            guard grown < 40 << 20 else { throw StoredBodyReader.Cut() }
        }
    }

    /// The greatest memory of this process so far, in bytes.
    private static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }) * 1024
    }
}
