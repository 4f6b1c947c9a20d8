import Dispatch
import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Random changes beside a model, bodies that are larger than memory, and callers that must not wait.
@Suite(.timeLimit(.minutes(3)))
struct StoreModelTests {
    private struct Model {
        /// The bodies of a key's entries, by their numbers.
        var bodies: [Int: [Int64: (head: CachedHead, body: Data)]] = [:]
    }

    /// With room for all, the store has what the model has; else nothing more.
    @Test(arguments: [
        (0, 100_000_000), (1 << 20, 100_000_000), (200_000, 400_000), (1 << 20, 0), (300_000, 0),
    ])
    func randomChangesLeaveWhatTheModelHas(memory: Int, disk: Int) async throws {
        let hasRoom = disk > 1_000_000
        for seed in 0..<4 {
            let directory = try TemporaryDirectory()
            var random = SeededGenerator(seed: UInt64(seed))
            var model = Model()
            var store = TieredStore.sample(directory, memory: memory, disk: disk)
            for step in 0..<250 {
                let number = Int.random(in: 0..<12, using: &random)
                let key = CacheKey(url: "http://a/\(number)")
                let known = model.bodies[number] ?? [:]
                let any = known.keys.sorted().randomElement(using: &random)
                switch Int.random(in: 0..<13, using: &random) {
                case 0..<5:
                    let length = [0, 300, 16_384, 16_385, 70_000, 131_000].randomElement(using: &random) ?? 0
                    let (body, head) = (
                        sampleBytes(length, UInt8(number)), sampleHead(key.url, length: length)
                    )
                    let replaced = any.map { Bool.random(using: &random) ? [$0] : [] } ?? []
                    guard let writer = store.write(head, for: key, replacing: replaced) else { continue }
                    if Int.random(in: 0..<6, using: &random) == 0 {
                        writer.append(body.span)
                        writer.abandon()
                        continue
                    }
                    let entry = try await writer.end(body, head)
                    for id in replaced { model.bodies[number]?[id] = nil }
                    if let entry { model.bodies[number, default: [:]][entry.id] = (head, body) }
                    #expect(entry != nil || !hasRoom)
                case 5:
                    guard let any, var head = known[any]?.head else { continue }
                    let found = CacheEntry(id: any, head: head)
                    head.responseTime += 1
                    store.update(found, of: key, to: head)
                    model.bodies[number]?[any]?.head = head
                case 6:
                    guard let any else { continue }
                    store.remove(any, of: key)
                    model.bodies[number]?[any] = nil
                case 7 where step % 4 == 0:
                    store.remove(nil, of: key)
                    model.bodies[number] = nil
                case 8:
                    store.invalidate(key)
                    for id in known.keys { model.bodies[number]?[id]?.head.isInvalidated = true }
                case 9 where step % 10 == 0:
                    store.removeAll()
                    model.bodies = [:]
                case 10 where disk > 0:
                    store.waitForChanges()
                    store = TieredStore.sample(directory, memory: memory, disk: disk)
                default: break
                }
                let found = try await store.found(key)
                let expected = model.bodies[number] ?? [:]
                let ids = Set(found.map(\.id))
                #expect(
                    hasRoom ? ids == Set(expected.keys) : ids.isSubset(of: expected.keys),
                    "\(seed) \(step)"
                )
                for entry in found {
                    #expect(entry.head == expected[entry.id]?.head, "\(seed) \(step)")
                    let body = try await store.body(entry, key)
                    let isRight = body == expected[entry.id]?.body || (body == nil && !hasRoom)
                    #expect(isRight, "\(seed) \(step)")
                }
                #expect(store.state.withLock { $0.memory.usage } <= memory)
                if disk > 0, step % 10 == 0 { #expect(store.diskUsage <= disk) }
            }
        }
    }

    @Test func noCallWaitsForTheQueuesOfTheDisk() async throws {
        let directory = try TemporaryDirectory()
        let store = TieredStore.sample(directory)
        let key = CacheKey(url: "http://a/1")
        let entry = try #require(try await store.put(key, sampleBytes(100)))
        store.waitForChanges()
        // Nothing of the disk moves from here on.
        store.bodies.suspend()
        store.index.suspend()
        store.housekeeping.suspend()
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
        store.remove(nil, of: other)
        store.removeAll()
        store.bodies.resume()
        store.index.resume()
        store.housekeeping.resume()
        try await ready.wait()
        #expect(!writer.isFull)
        #expect(try await store.found(key) == [])
        #expect(try await store.found(other) == [])
    }

    @Test(.enabled(if: !Rounds.isUnderSanitizer, "A sanitizer keeps memory that is free."))
    func aLongBodyIsStreamedThroughWithoutMuchMemory() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("cache").path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let length = 300 << 20
            let store = TieredStore(
                memoryCapacity: 4 << 20,
                diskCapacity: 1 << 30,
                directory: URL(fileURLWithPath: path, isDirectory: true)
            )
            let key = CacheKey(url: "http://a/1")
            let head = sampleHead(key.url, length: length)
            let piece = sampleBytes(1 << 20)
            let before = try StoreModelTests.peak()
            let writer = try #require(store.write(head, for: key, replacing: []))
            for _ in 0..<300 {
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
                guard bytes == piece else { throw BodyError.missing }
                offset += Int64(bytes.count)
            }
            let grown = try StoreModelTests.peak() - before
            guard grown < 40 << 20 else { throw BodyError.missing }
        }
    }

    /// The greatest memory of this process so far, in bytes.
    private static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }) * 1024
    }
}
