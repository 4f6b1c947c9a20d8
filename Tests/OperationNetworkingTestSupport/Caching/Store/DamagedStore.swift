import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking

/// A directory with entries that tell which they are, to be damaged.
struct DamagedStore {
    let directory: TemporaryDirectory
    var count = 60

    var cache: URL { directory.file("cache") }
    var index: URL { cache.appendingPathComponent("index.sqlite") }

    func database() throws -> Database {
        try Database(path: index.resolvingSymlinksInPath().path, patience: 10_000)
    }

    // MARK: - Entries

    static func key(_ number: Int) -> CacheKey { CacheKey(url: "http://a/\(number)") }

    /// In the index, over several of its pages, in a file, and in one of several blocks.
    static func length(_ number: Int) -> Int { [700, 9_000, 20_000, 150_000][number % 4] + number }

    static func body(_ number: Int) -> Data { sampleBytes(length(number), UInt8(number)) }

    static func head(_ number: Int) -> CachedHead {
        let fields: HeaderFields = ["ETag": "\"v\(number)\"", "Cache-Control": "max-age=\(600 + number)"]
        return sampleHead(key(number).url, length: length(number), fields)
    }

    /// Stores all of them; the first ten are invalidated.
    func fill() async throws {
        let store = TieredStore.sample(directory)
        for number in 0..<count {
            try await store.put(Self.key(number), Self.body(number), Self.head(number))
        }
        for number in 0..<min(10, count) { store.invalidate(Self.key(number)) }
        store.waitForChanges()
    }

    // MARK: - Damage

    /// In place: the same file.
    func overwrite(_ file: URL, with bytes: Data) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: bytes)
        try handle.close()
    }

    func cut(_ file: URL, to length: Int) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(length))
        try handle.close()
    }

    // MARK: - Expectations

    /// Nothing but what was stored is found and read, piece by piece.
    ///
    /// - Parameters:
    ///   - store: the one that is asked.
    ///   - round: for the message.
    ///   - mayBeOlder: whether the last changes may be lost.
    /// - Returns: the number of bodies that were read to their ends.
    /// - Throws: what ends the test.
    @discardableResult
    func expectNothingWrong(
        _ store: TieredStore,
        _ round: String,
        mayBeOlder: Bool = false
    ) async throws -> Int {
        var count = 0
        for number in 0..<self.count {
            let key = Self.key(number)
            for var entry in try await store.found(key) {
                var head = Self.head(number)
                head.isInvalidated = mayBeOlder ? entry.head.isInvalidated : number < 10
                #expect(entry.head == head, "\(round), \(number)")
                entry.body = nil
                guard let reader = try await store.reader(entry, key) else { continue }
                #expect(reader.length == Int64(Self.length(number)), "\(round), \(number)")
                if try await Self.expectBytes(reader, Self.body(number), "\(round), \(number)") { count += 1 }
            }
        }
        return count
    }

    /// - Returns: whether it was read to its end.
    private static func expectBytes(
        _ reader: any CacheReading,
        _ body: Data,
        _ round: String
    ) async throws -> Bool {
        var offset = 0
        while offset < body.count {
            let later = Recorder<Result<Data, any Error>>()
            let piece: Data
            if let known = reader.read(at: Int64(offset), atMost: 30_000, later: { later.append($0) }) {
                piece = known
            } else {
                guard case .success(let bytes) = try await later.wait().first else { return false }
                piece = bytes
            }
            try #require(!piece.isEmpty && piece.count <= body.count - offset, "\(round)")
            try #require(piece == body[offset..<offset + piece.count], "\(round)")
            offset += piece.count
        }
        return true
    }

    /// A response that is stored from now on is found again, by the next store.
    func expectToWork(_ round: String) async throws {
        let key = CacheKey(url: "http://a/new")
        for _ in 0..<3 {
            let store = TieredStore.sample(directory)
            // One of them may meet the damage, and the next one a new index.
            for _ in 0..<2 {
                let old = try await store.found(key).map(\.id)
                try await store.put(key, sampleBytes(5_000), replacing: old)
            }
            store.waitForChanges()
        }
        let later = TieredStore.sample(directory)
        let entry = try #require(try await later.found(key).first, "\(round)")
        #expect(try await later.body(entry, key) == sampleBytes(5_000), "\(round)")
    }
}
