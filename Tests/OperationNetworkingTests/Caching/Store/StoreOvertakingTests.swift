import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Invalidations that come while a body is on its way into a store.
@Suite(.timeLimit(.minutes(2)))
struct StoreOvertakingTests {
    private let directory: TemporaryDirectory
    private let key = CacheKey(url: "http://a.example/1")

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// In the index, and in a file.
    static let rows = StoreKind.allCases.flatMap { kind in [100, 40_000].map { (kind, $0) } }

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
        let entry = try #require(try await writer.end(sampleBytes(Int(head.length)), head))
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
}
