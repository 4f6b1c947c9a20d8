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

/// Bytes that show where they are from: a pattern whose length divides no length that the store works with.
func sampleBytes(_ count: Int, _ seed: UInt8 = 0) -> Data {
    let pattern = Data((0..<251).map { UInt8(truncatingIfNeeded: $0 &* 31) &+ seed })
    var bytes = Data(capacity: count + pattern.count)
    while bytes.count < count { bytes.append(pattern) }
    return bytes.count == count ? bytes : Data(bytes.prefix(count))
}

/// The kinds of stores that keep the same promises.
enum StoreKind: CaseIterable {
    case memory, both, disk

    func store(_ directory: TemporaryDirectory) -> ResponseStore {
        switch self {
        case .memory: ResponseStore(memoryCapacity: 8 << 20, diskCapacity: 0, directory: nil)
        case .both: .sample(directory)
        case .disk: .sample(directory, memory: 0)
        }
    }
}

/// A clock that a test moves.
final class ManualTime: Sendable {
    private let seconds = Locked(1000.0)

    var now: MonotonicTime { MonotonicTime(seconds: seconds.withLock { $0 }) }

    func advance(by seconds: Double) { self.seconds.withLock { $0 += seconds } }
}

extension ResponseStore {
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

    func reader(_ entry: CacheEntry, _ key: CacheKey) async throws -> StoredBodyReader? {
        let later = Recorder<StoredBodyReader?>()
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

extension ResponseStore {
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

extension StoredBodyWriter {
    /// Writes `body` and commits.
    func end(_ body: Data, _ head: CachedHead) async throws -> CacheEntry? {
        append(body.span)
        let ended = Recorder<CacheEntry?>()
        commit(head) { ended.append($0) }
        return try #require(try await ended.wait().first)
    }
}

extension StoredBodyReader {
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

extension ResponseStore {
    /// Begins an entry that is asked for now, on the disk if it is too large for memory.
    func write(
        _ head: CachedHead,
        for key: CacheKey,
        replacing: [Int64],
        invalidated: Set<Int64>? = nil
    ) -> StoredBodyWriter? {
        let target = StoredBodyWriter.Target(
            key: key,
            replacing: Set(replacing),
            invalidated: invalidated,
            start: moment
        )
        return write(head, at: target)
    }

    /// Gives an entry another head by an answer to a request that is sent now.
    func update(_ entry: CacheEntry, of key: CacheKey, to head: CachedHead) {
        update(entry, of: key, to: head, since: moment)
    }

    /// A store on a directory.
    static func sample(
        _ directory: TemporaryDirectory,
        memory: Int = 1 << 20,
        disk: Int = 64 << 20,
        time: ManualTime? = nil
    ) -> ResponseStore {
        ResponseStore(
            memoryCapacity: memory,
            diskCapacity: disk,
            directory: directory.file("cache"),
            now: { time?.now ?? .now }
        )
    }
}

/// The folder of the cache in the directory of a sample.
func cacheFolder(_ directory: TemporaryDirectory) -> URL {
    directory.file("cache").appendingPathComponent(DiskTier.folderName, isDirectory: true)
}

/// The names of a kind in that folder.
func cacheNames(_ directory: TemporaryDirectory, _ kind: CacheFileName.Kind? = nil) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: cacheFolder(directory).path).filter { name in
        kind == nil ? name != DiskTier.formatName : CacheFileName(name)?.kind == kind
    }
}

/// The file of an entry's body.
func bodyFile(_ entry: CacheEntry, _ directory: TemporaryDirectory) -> URL {
    cacheFolder(directory).appendingPathComponent(CacheFileName.body(entry.id))
}

/// The file with the heads of a key.
func headFile(_ key: CacheKey, _ directory: TemporaryDirectory) throws -> URL {
    cacheFolder(directory).appendingPathComponent(try #require(CacheFileName.head(key.url)))
}

extension Sequence {
    /// `map` with a transform that waits.
    func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
