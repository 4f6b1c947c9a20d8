import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking

/// Invalidations, and answers to later questions, that come while a body is on its way into a store.
@Suite(.timeLimit(.minutes(2)))
struct StoreOvertakingTests {
    private let directory: TemporaryDirectory
    private let key = CacheKey(url: "http://a.example/1")

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// In the index, and in a file.
    static let rows = StoreKind.allCases.flatMap { kind in [100, 40_000].map { (kind, $0) } }

    // MARK: - Completions

    private func part(of length: Int) -> CachedHead {
        let fields: HeaderFields = [
            "ETag": "\"v1\"", "Cache-Control": "max-age=600", "Content-Length": "\(length)",
        ]
        return sampleHead(key.url, length: length / 2, of: length, fields)
    }

    /// The head that a 206 has made of it, a second later.
    private func whole(_ part: CachedHead) -> CachedHead {
        var whole = part
        whole.requestTime += 1
        whole.body.range = 0..<(part.body.completeLength ?? 0)
        whole.body.isComplete = true
        return whole
    }

    /// Completes a part, and runs `event` before the end.
    private func complete(
        _ kind: StoreKind,
        _ length: Int,
        _ event: (any CacheStore, CacheEntry) async throws -> Void
    ) async throws -> [CacheEntry] {
        let store = kind.store(directory)
        let (all, part) = (sampleBytes(length), part(of: length))
        let found = try #require(try await store.put(key, Data(all.prefix(length / 2)), part))
        (store as? TieredStore)?.waitForChanges()
        let writer = try #require(store.append(to: found, of: key, at: Int64(length / 2)))
        try await event(store, found)
        let ended = try await writer.end(Data(all[(length / 2)...]), whole(part))
        #expect(ended != nil)
        (store as? TieredStore)?.waitForChanges()
        let entries = try await store.found(key)
        if kind == .both || kind == .disk {
            #expect(try await TieredStore.sample(directory).found(key) == entries)
        }
        for entry in entries { #expect(try await store.body(entry, key) == all) }
        return entries
    }

    @Test(arguments: rows)
    func aCompletionKeepsTheMarkOfAHEAD(row: (kind: StoreKind, length: Int)) async throws {
        let entries = try await complete(row.kind, row.length) { store, found in
            var head = found.head
            head.isInvalidated = true
            store.update(found, of: key, to: head)
        }
        #expect(entries.map(\.head.isInvalidated) == [true])
        #expect(entries.map(\.head.body.isComplete) == [true])
    }

    @Test(arguments: rows)
    func aCompletionKeepsTheAnswerToALaterQuestion(row: (kind: StoreKind, length: Int)) async throws {
        let entries = try await complete(row.kind, row.length) { store, found in
            var head = found.head
            head.head.fields["Cache-Control"] = "no-cache"
            (head.requestTime, head.responseTime) = (2000, 2000)
            store.update(found, of: key, to: head)
        }
        #expect(entries.map { $0.head.fields["Cache-Control"] } == ["no-cache"])
        #expect(entries.map(\.head.requestTime) == [2000])
        #expect(entries.map(\.head.body.isComplete) == [true])
    }

    @Test(arguments: rows)
    func aCompletionOfWhatWasInvalidatedConfirmsIt(row: (kind: StoreKind, length: Int)) async throws {
        let store = row.kind.store(directory)
        let (all, part) = (sampleBytes(row.length), part(of: row.length))
        try await store.put(key, Data(all.prefix(row.length / 2)), part)
        store.invalidate(key)
        let found = try #require(try await store.found(key).first)
        #expect(found.head.isInvalidated)
        let writer = try #require(store.append(to: found, of: key, at: Int64(row.length / 2)))
        _ = try await writer.end(Data(all[(row.length / 2)...]), whole(part))
        #expect(try await store.found(key).map(\.head) == [whole(part)])
    }

    @Test(arguments: [StoreKind.both, .disk], [100, 40_000])
    func aCompletionKeepsTheMarkOfAnotherProcess(kind: StoreKind, length: Int) async throws {
        let entries = try await complete(kind, length) { _, _ in
            let other = TieredStore.sample(directory, memory: 0)
            other.invalidate(key)
            other.waitForChanges()
        }
        // At once, within the second for which memory answers.
        #expect(entries.map(\.head.isInvalidated) == [true])
        #expect(entries.map(\.head.body.isComplete) == [true])
    }

    // MARK: - New responses

    /// Stores a response whole in place of those that were found, and runs `event` before the end.
    private func replace(
        _ found: [CacheEntry],
        in store: any CacheStore,
        with head: CachedHead,
        after event: () async throws -> Void = {}
    ) async throws -> CacheEntry {
        let writer = try #require(
            store.write(
                head,
                for: key,
                replacing: found.map(\.id),
                invalidated: Set(found.filter(\.head.isInvalidated).map(\.id)),
                since: store.moment,
                inMemoryOnly: false
            )
        )
        try await event()
        let entry = try #require(try await writer.end(sampleBytes(Int(head.body.count)), head))
        (store as? TieredStore)?.waitForChanges()
        return entry
    }

    @Test(arguments: rows)
    func aResponseInPlaceOfOneThatAHEADHasMarkedIsMarked(row: (kind: StoreKind, length: Int)) async throws {
        let store = row.kind.store(directory)
        let head = sampleHead(key.url, length: row.length)
        try await store.put(key, sampleBytes(row.length))
        let found = try await store.found(key)
        _ = try await replace(found, in: store, with: head) {
            var marked = try #require(found.first).head
            marked.isInvalidated = true
            store.update(try #require(found.first), of: key, to: marked)
        }
        let next = try await store.found(key)
        #expect(next.map(\.head.isInvalidated) == [true])
        // It was found so, and what is asked for now is the state after it.
        _ = try await replace(next, in: store, with: head)
        #expect(try await store.found(key).map(\.head) == [head])
    }

    @Test(arguments: [StoreKind.both, .disk], [100, 40_000])
    func aResponseInPlaceOfOneThatAnotherProcessHasMarkedIsMarked(
        kind: StoreKind,
        length: Int
    ) async throws {
        let (store, other) = (kind.store(directory), TieredStore.sample(directory, memory: 0))
        let head = sampleHead(key.url, length: length)
        try await store.put(key, sampleBytes(length))
        (store as? TieredStore)?.waitForChanges()
        let found = try await store.found(key)
        _ = try await replace(found, in: store, with: head) {
            other.invalidate(key)
            other.waitForChanges()
        }
        let next = try await store.found(key)
        #expect(next.map(\.head.isInvalidated) == [true])
        #expect(try await TieredStore.sample(directory).found(key) == next)
        _ = try await replace(next, in: store, with: head)
        #expect(try await store.found(key).map(\.head) == [head])
    }

    /// The mark is on a variant that stays, and on one that came meanwhile.
    @Test(arguments: [true, false])
    func aResponseBesideOneThatAnotherProcessHasMarkedIsMarked(isStored: Bool) async throws {
        let (store, other) = (TieredStore.sample(directory), TieredStore.sample(directory, memory: 0))
        if isStored { try await store.put(key, sampleBytes(20)) }
        store.waitForChanges()
        let head = sampleHead(key.url, length: 30)
        let entry = try await replace([], in: store, with: head) {
            if !isStored { try await other.put(key, sampleBytes(20)) }
            other.invalidate(key)
            other.waitForChanges()
        }
        let next = try await store.found(key).first { $0.id == entry.id }
        #expect(next?.head.isInvalidated == true)
    }

    /// The disk could not remove the row: no look-up tells that it is marked.
    @Test func aRowThatIsHiddenMarksNothing() async throws {
        let (store, other) = (TieredStore.sample(directory), TieredStore.sample(directory, memory: 0))
        let old = try #require(try await store.put(key, sampleBytes(20)))
        store.waitForChanges()
        other.invalidate(key)
        other.waitForChanges()
        store.state.withLock { state in
            state.hidden.insert([old.id])
            state.forgetCompleteness(key)
        }
        #expect(try await store.found(key).isEmpty)
        let head = sampleHead(key.url, length: 30)
        _ = try await replace([], in: store, with: head)
        #expect(try await store.found(key).map(\.head) == [head])
    }

    /// The body did not come to the disk: memory has it, and what it replaces goes.
    @Test func aResponseInMemoryTakesTheMarkToo() async throws {
        let (store, other) = (TieredStore.sample(directory), TieredStore.sample(directory, memory: 0))
        let head = sampleHead(key.url, length: 40_000)
        try await store.put(key, sampleBytes(40_000))
        store.waitForChanges()
        let found = try await store.found(key)
        _ = try await replace(found, in: store, with: head) {
            other.invalidate(key)
            other.waitForChanges()
            // No file can be made any more.
            store.disk?.folder.withLock { $0 = nil }
        }
        #expect(try await store.found(key).map(\.head.isInvalidated) == [true])
    }

    // MARK: - Heads

    /// The head that was found, the one that is stored now, the longer one, and the one that is stored after
    /// it: the times of their questions, and whether they are invalidated.
    static let overtaken: [[(time: Double, isInvalidated: Bool)]] = [
        [(1, false), (1, false), (2, false), (2, false)],
        [(1, false), (1, false), (2, true), (2, true)],
        [(1, false), (1, true), (2, false), (2, true)],
        [(1, true), (1, true), (2, false), (2, false)],
        [(1, false), (3, false), (2, false), (3, false)],
        [(1, false), (3, false), (2, true), (3, true)],
        [(1, false), (3, true), (2, false), (3, true)],
        // The clock was set back, and nothing came between.
        [(9, false), (9, false), (2, false), (2, false)],
    ]

    @Test(arguments: overtaken.indices) func headsThatOvertakeACompletion(index: Int) {
        let heads = Self.overtaken[index].enumerated().map { number, row in
            let isLonger = number >= 2
            let time = "\(Int(row.time))"
            var head = sampleHead(
                key.url,
                length: isLonger ? 10 : 4,
                of: 10,
                status: isLonger ? 200 : 206,
                ["ETag": "\"v1\"", "X-Time": time, "Content-Length": isLonger ? "10" : "4"]
            )
            if !isLonger { head.head.fields["Content-Range"] = "bytes 0-3/10" }
            (head.requestTime, head.isInvalidated) = (row.time, row.isInvalidated)
            return head
        }
        let result = heads[1].lengthened(to: heads[2], from: heads[0])
        #expect(result.head.status == 200 && result.body == heads[2].body)
        #expect(result.fields["Content-Length"] == "10" && result.fields["Content-Range"] == nil)
        #expect(result.fields["X-Time"] == heads[3].fields["X-Time"])
        #expect(result.requestTime == heads[3].requestTime)
        #expect(result.isInvalidated == heads[3].isInvalidated)
    }
}
