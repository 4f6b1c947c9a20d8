import Foundation
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Files of bodies that another program has changed or cut.
@Suite(.timeLimit(.minutes(2)))
struct BodyDamageTests {
    private let scene: DamagedStore
    private let key = CacheKey(url: "http://a/1")

    init() throws {
        scene = DamagedStore(directory: try TemporaryDirectory())
    }

    private func file(_ entry: CacheEntry) -> URL { scene.cache.appendingPathComponent("\(entry.id).body") }

    private func flip(_ offset: Int, of entry: CacheEntry) throws {
        var bytes = try Data(contentsOf: file(entry))
        bytes[offset] ^= 1
        try scene.overwrite(file(entry), with: bytes)
    }

    @Test(arguments: [0, 1 << 20], [0, 70_000, 99_999])
    func aBodyWithAnotherBitIsForgotten(memory: Int, offset: Int) async throws {
        let first = TieredStore.sample(scene.directory)
        let entry = try #require(try await first.put(key, sampleBytes(100_000)))
        // Memory says at once that it is there.
        await onDispatchThread { first.waitForChanges() }
        try flip(offset, of: entry)
        let store = TieredStore.sample(scene.directory, memory: memory)
        #expect(try await store.found(key) == [entry])
        let body = try? await store.body(entry, key)
        #expect(body == nil || body == .some(nil))
        // With memory it is read as a whole; without, the transfer that reads it removes it.
        if memory > 0 { #expect(try await store.found(key) == []) }
    }

    @Test func whatComesBeforeTheDamageIsHandedOverAndNothingBehindIt() async throws {
        let store = TieredStore.sample(scene.directory, memory: 0)
        let body = sampleBytes(400_000)
        let entry = try #require(try await store.put(key, body))
        try flip(300_000, of: entry)
        let reader = try #require(try await store.reader(entry, key))
        func read(_ offset: Int64, _ count: Int) async throws -> Data {
            let later = Recorder<Result<Data, any Error>>()
            #expect(reader.read(at: offset, atMost: count) { later.append($0) } == nil)
            return try #require(try await later.wait().first).get()
        }
        // Up to the end of a block, so that the next read begins with one.
        #expect(try await read(100, 100_000) == body[100..<65_536])
        #expect(try await read(65_536, 131_072) == body[65_536..<196_608])
        #expect(try await read(200_000, 10) == body[200_000..<200_010])
        for (offset, count) in [(262_144, 65_536), (262_144, 1), (327_679, 1)] {
            await #expect(throws: BodyError.damaged) { _ = try await read(Int64(offset), count) }
        }
        #expect(try await read(399_990, 100) == body[399_990...])
        #expect(reader.read(at: 400_000, atMost: 10) { _ in } == Data())
    }

    /// A new file, which is cut while it is written.
    @Test func aCutFileGetsNoHole() async throws {
        let store = TieredStore.sample(scene.directory, memory: 0)
        let head = sampleHead(key.url, length: 400_000)
        let writer = try #require(store.write(head, for: key, replacing: []))
        writer.append(Data(sampleBytes(400_000).prefix(200_000)).span)
        store.waitForChanges()
        let name = try #require(try bodyNames(scene.directory).first)
        try scene.cut(scene.cache.appendingPathComponent(name), to: 1000)
        #expect(try await writer.end(Data(sampleBytes(400_000).dropFirst(200_000)), head) == nil)
        store.waitForChanges()
        #expect(try bodyNames(scene.directory) == [])
    }
}
