import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking

/// A head for a body of `length` bytes that came whole.
func sampleHead(
    _ url: String,
    length: Int,
    status: Int = 200,
    _ fields: HeaderFields = ["ETag": "\"v1\"", "Cache-Control": "max-age=600"]
) -> CachedHead {
    CachedHead(
        url: url,
        method: "GET",
        head: ResponseHead(version: "HTTP/1.1", status: status, fields: fields),
        selecting: HeaderFields(),
        identity: nil,
        requestTime: 1000,
        responseTime: 1001,
        length: Int64(length),
        isDecoded: false
    )
}

/// Bytes that tell where they are from: a pattern whose length divides no length that the store works with.
func sampleBytes(_ count: Int, _ seed: UInt8 = 0) -> Data {
    let pattern = Data((0..<251).map { UInt8(truncatingIfNeeded: $0 &* 31) &+ seed })
    var bytes = Data(capacity: count + pattern.count)
    while bytes.count < count { bytes.append(pattern) }
    return bytes.count == count ? bytes : Data(bytes.prefix(count))
}

/// The kinds of stores that keep the same promises.
enum StoreKind: CaseIterable {
    case memory, both, disk, wrapped

    func store(_ directory: TemporaryDirectory) -> any CacheStore {
        switch self {
        case .memory: TieredStore(memoryCapacity: 8 << 20, diskCapacity: 0, directory: nil)
        case .both: TieredStore.sample(directory)
        case .disk: TieredStore.sample(directory, memory: 0)
        case .wrapped:
            WrappedStore(
                URLCache(memoryCapacity: 8 << 20, diskCapacity: 0, diskPath: directory.file("wrapped").path)
            )
        }
    }
}

/// A clock that a test moves.
final class ManualTime: Sendable {
    private let seconds = Locked(1000.0)

    var now: MonotonicTime { MonotonicTime(seconds: seconds.withLock { $0 }) }

    func advance(by seconds: Double) { self.seconds.withLock { $0 += seconds } }
}

extension CacheStore {
    /// The entries that are found, at once or later.
    func found(_ key: CacheKey) async throws -> [CacheEntry] {
        let later = Recorder<[CacheEntry]>()
        if let entries = find(key, later: { later.append($0) }) { return entries }
        return try #require(try await later.wait().first)
    }

    /// The whole body, read in pieces; `nil`: there is none.
    func body(_ entry: CacheEntry, _ key: CacheKey, piece: Int = 100_000) async throws -> Data? {
        guard let reader = try await reader(entry, key) else { return nil }
        return try await reader.all(piece: piece)
    }

    func reader(_ entry: CacheEntry, _ key: CacheKey) async throws -> (any CacheReading)? {
        let later = Recorder<(any CacheReading)?>()
        if let reader = read(entry, of: key, later: { later.append($0) }) { return reader }
        return try #require(try await later.wait().first)
    }

    /// Stores a response whole; `nil`: it was refused or dropped.
    @discardableResult
    func put(
        _ key: CacheKey,
        _ body: Data,
        _ head: CachedHead? = nil,
        replacing: [Int64] = []
    ) async throws -> CacheEntry? {
        let head = head ?? sampleHead(key.url, length: body.count)
        guard let writer = write(head, for: key, replacing: replacing) else { return nil }
        return try await writer.end(body, head)
    }
}

extension CacheStore {
    /// Of two invalidations one comes after the server was asked: its answer does not undo that.
    func expectUpdatesToKeepLaterInvalidations(of key: CacheKey) async throws {
        try await put(key, sampleBytes(3))
        invalidate(key)
        let found = try #require(try await found(key).first)
        let asked = moment
        invalidate(key)
        var head = found.head
        head.isInvalidated = false
        update(found, of: key, to: head, since: asked)
        #expect(try await self.found(key).map(\.head.isInvalidated) == [true])
        update(found, of: key, to: head, since: moment)
        #expect(try await self.found(key).map(\.head.isInvalidated) == [false])
    }
}

extension CacheWriting {
    /// Writes `body` and commits.
    func end(_ body: Data, _ head: CachedHead) async throws -> CacheEntry? {
        append(body.span)
        let ended = Recorder<CacheEntry?>()
        commit(head) { ended.append($0) }
        return try #require(try await ended.wait().first)
    }
}

extension CacheReading {
    func all(piece: Int = 100_000) async throws -> Data {
        var body = Data()
        while Int64(body.count) < length {
            let later = Recorder<Result<Data, any Error>>()
            let bytes: Data
            if let known = read(at: Int64(body.count), atMost: piece, later: { later.append($0) }) {
                bytes = known
            } else {
                bytes = try #require(try await later.wait().first).get()
            }
            try #require(!bytes.isEmpty && bytes.count <= piece)
            body += bytes
        }
        return body
    }
}

extension TieredStore {
    /// A store on a directory, whose files are on it when this returns.
    static func sample(
        _ directory: TemporaryDirectory,
        memory: Int = 1 << 20,
        disk: Int = 64 << 20,
        boot: String? = KernelBoot.identifier,
        time: ManualTime? = nil
    ) -> TieredStore {
        let store = TieredStore(
            memoryCapacity: memory,
            diskCapacity: disk,
            directory: directory.url.appendingPathComponent("cache", isDirectory: true),
            boot: boot
        ) {
            time?.now ?? .now
        }
        store.waitForChanges()
        // Its hashes are read after that.
        store.index.sync {}
        return store
    }
}

/// The names in the directory of a sample, without the index.
func bodyNames(_ directory: TemporaryDirectory) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.file("cache").path)
        .filter { !$0.hasPrefix("index") }
}
