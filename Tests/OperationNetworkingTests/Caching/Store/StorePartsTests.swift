import Foundation
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking

/// Parts beside complete responses, several writers of one entry, and answers that overtake each other.
@Suite(.timeLimit(.minutes(2)))
struct StorePartsTests {
    private let directory: TemporaryDirectory
    private let key = CacheKey(url: "http://a.example/1")

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// In the index, and in a file.
    static let rows = StoreKind.allCases.flatMap { kind in [100, 30_000].map { (kind, $0) } }

    // MARK: - Parts

    @Test(arguments: rows)
    func aPartTakesThePlaceOfNothingComplete(row: (kind: StoreKind, length: Int)) async throws {
        let store = row.kind.store(directory)
        let all = sampleBytes(row.length)
        let whole = try #require(try await store.put(key, all))
        let part = sampleHead(key.url, length: row.length - 1, of: row.length, ["ETag": "\"v2\""])
        try await store.put(key, Data(all.dropLast()), part, replacing: [whole.id])
        let found = try await store.found(key)
        #expect(found.contains(whole))
        #expect(try await store.body(whole, key) == all)
        // There is no room for it beside the other one in a `URLCache`.
        #expect(found.count == (row.kind == .wrapped ? 1 : 2))
        // What is complete takes the place of both.
        let next = try #require(try await store.put(key, all, replacing: found.map(\.id)))
        #expect(try await store.found(key) == [next])
    }

    @Test(arguments: StoreKind.allCases) func aPartTakesThePlaceOfAnotherPart(kind: StoreKind) async throws {
        let store = kind.store(directory)
        let old = sampleHead(key.url, length: 50, of: 100)
        let first = try #require(try await store.put(key, sampleBytes(50), old))
        let new = sampleHead(key.url, length: 20, of: 100, ["ETag": "\"v2\""])
        let next = try #require(try await store.put(key, sampleBytes(20), new, replacing: [first.id]))
        #expect(try await store.found(key) == [next])
    }

    @Test(arguments: [StoreKind.memory, .both])
    func ofTooManyVariantsThePartsGoFirst(kind: StoreKind) async throws {
        let store = kind.store(directory)
        let whole = try #require(try await store.put(key, sampleBytes(10)))
        let limit = StoreState.maximumVariants
        for number in 0..<limit + 5 {
            let part = sampleHead(key.url, length: 5, of: 10, ["ETag": "\"\(number)\"", "Vary": "A"])
            try await store.put(key, sampleBytes(5), part)
        }
        let found = try await store.found(key)
        #expect(found.count == limit && found.contains(whole))
        // With nothing but complete ones there is no room for a part.
        for number in 0..<limit { try await store.put(key, sampleBytes(10 + number)) }
        let part = sampleHead(key.url, length: 5, of: 10, ["ETag": "\"part\""])
        #expect(try await store.put(key, sampleBytes(5), part) == nil)
        let left = try await store.found(key)
        #expect(left.count == limit && left.allSatisfy { $0.head.body.isComplete })
    }

    @Test func aKeyThatIsTooLargeForMemoryLosesItsPartsFirst() async throws {
        let store = TieredStore(memoryCapacity: 100_000, diskCapacity: 0, directory: nil)
        let whole = try #require(try await store.put(key, sampleBytes(40_000)))
        for number in 0..<3 {
            let part = sampleHead(key.url, length: 30_000, of: 40_000, ["ETag": "\"\(number)\""])
            try await store.put(key, sampleBytes(30_000), part)
        }
        #expect(try await store.found(key).contains(whole))
    }

    // MARK: - Several writers

    @Test(arguments: rows)
    func ofTwoThatLengthenOneEntryTheFirstCounts(row: (kind: StoreKind, length: Int)) async throws {
        let store = row.kind.store(directory)
        let all = sampleBytes(row.length)
        let (half, most) = (row.length / 2, row.length - 1)
        let part = sampleHead(key.url, length: half, of: row.length)
        let entry = try #require(try await store.put(key, Data(all.prefix(half)), part))
        let first = try #require(store.append(to: entry, of: key, at: Int64(half)))
        let second = try #require(store.append(to: entry, of: key, at: Int64(half)))
        let ended = try await first.end(Data(all[half...]), sampleHead(key.url, length: row.length))
        let whole = try #require(ended)
        // This one breaks off.
        let broken = sampleHead(key.url, length: most, of: row.length)
        #expect(try await second.end(Data(all[half..<most]), broken) == nil)
        #expect(try await store.found(key) == [whole])
        #expect(try await store.body(whole, key) == all)
        guard row.kind == .both || row.kind == .disk else { return }
        (store as? TieredStore)?.waitForChanges()
        let later = TieredStore.sample(directory, memory: 0)
        #expect(try await later.found(key) == [whole])
        #expect(try await later.body(whole, key) == all)
    }

    @Test(arguments: [100, 30_000]) func whatAnotherProcessHasCompletedStays(length: Int) async throws {
        let (one, other) = (TieredStore.sample(directory), TieredStore.sample(directory, memory: 0))
        let (all, half) = (sampleBytes(length), length / 2)
        let part = sampleHead(key.url, length: half, of: length)
        let entry = try #require(try await one.put(key, Data(all.prefix(half)), part))
        one.waitForChanges()
        let completing = try #require(other.append(to: entry, of: key, at: Int64(half)))
        let ended = try await completing.end(Data(all[half...]), sampleHead(key.url, length: length))
        let whole = try #require(ended)
        other.waitForChanges()
        // The first one still knows the part: it lengthens it, and replaces it.
        let broken = sampleHead(key.url, length: length - 1, of: length)
        let lengthening = try #require(one.append(to: entry, of: key, at: Int64(half)))
        _ = try await lengthening.end(Data(all[half..<(length - 1)]), broken)
        try await one.put(key, Data(all.dropLast()), broken, replacing: [entry.id])
        one.waitForChanges()
        let later = TieredStore.sample(directory, memory: 0)
        #expect(try await later.found(key).contains(whole))
        #expect(try await later.body(whole, key) == all)
    }

    // MARK: - Answers that overtake each other

    private static func head(_ url: String, asked time: Double, _ lifetime: Int) -> CachedHead {
        var head = sampleHead(url, length: 3, ["ETag": "\"v1\"", "Cache-Control": "max-age=\(lifetime)"])
        head.requestTime = time
        head.responseTime = time
        return head
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func theAnswerToTheLaterQuestionCounts(kind: StoreKind, isOvertaken: Bool) async throws {
        let store = kind.store(directory)
        let found = try #require(try await store.put(key, sampleBytes(3)))
        let (first, second) = (Self.head(key.url, asked: 2000, 600), Self.head(key.url, asked: 3000, 0))
        for head in isOvertaken ? [second, first] : [first, second] {
            store.update(found, of: key, to: head)
        }
        #expect(try await store.found(key).map(\.head) == [second])
        guard kind == .both else { return }
        (store as? TieredStore)?.waitForChanges()
        #expect(try await TieredStore.sample(directory).found(key).map(\.head) == [second])
    }

    /// The head that was found, the one that is stored now, the new one, and the one that is stored after it:
    /// the times of their questions, and whether they are invalidated.
    static let overtaken: [[(time: Double, isInvalidated: Bool)]] = [
        [(1, false), (1, false), (2, false), (2, false)],
        [(1, false), (3, false), (2, false), (3, false)],
        [(1, false), (3, false), (2, true), (3, true)],
        [(1, false), (3, true), (2, false), (3, true)],
        [(1, false), (1, true), (2, false), (2, true)],
        [(1, true), (1, true), (2, false), (2, false)],
        // The clock was set back, and nothing came between.
        [(9, false), (9, false), (2, false), (2, false)],
    ]

    @Test(arguments: overtaken.indices) func headsThatOvertakeEachOther(index: Int) {
        let heads = Self.overtaken[index].map { row in
            var head = Self.head(key.url, asked: row.time, Int(row.time))
            head.isInvalidated = row.isInvalidated
            return head
        }
        #expect(heads[1].updated(to: heads[2], from: heads[0]) == heads[3])
    }

    /// A 304 to a question about a part, when another request has completed that meanwhile.
    @Test func aHeadThatOvertakesACompletionSaysNothingOfTheLength() {
        let part = sampleHead(
            key.url,
            length: 100,
            of: 1_000,
            status: 206,
            ["ETag": "\"v1\"", "Content-Range": "bytes 0-99/1000", "Content-Length": "100"]
        )
        let whole = sampleHead(key.url, length: 1_000, ["ETag": "\"v1\"", "Content-Length": "1000"])
        var news = part
        news.head.fields["X-New"] = "yes"
        news.requestTime += 1
        let updated = whole.updated(to: news, from: part)
        #expect(updated.head.status == 200 && updated.body == whole.body)
        #expect(updated.head.fields["Content-Length"] == "1000")
        #expect(updated.head.fields["Content-Range"] == nil && updated.head.fields["X-New"] == "yes")
    }
}
