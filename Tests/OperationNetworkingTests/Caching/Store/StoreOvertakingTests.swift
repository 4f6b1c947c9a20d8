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

    static let rows = StoreKind.allCases.flatMap { kind in [100, 40_000].map { (kind, $0) } }

    /// Stores a response whole in place of those that were found, and runs `event` before the end.
    private func replace(
        _ found: [CacheEntry],
        in store: ResponseStore,
        with head: CachedHead,
        after event: () async throws -> Void = {}
    ) async throws -> CacheEntry {
        let writer = try #require(
            store.write(
                head,
                for: key,
                replacing: found.map(\.id),
                invalidated: Set(found.filter(\.head.isInvalidated).map(\.id))
            )
        )
        try await event()
        let entry = try #require(try await writer.end(sampleBytes(Int(head.length)), head))
        store.waitForChanges()
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
        let (store, other) = (kind.store(directory), ResponseStore.sample(directory, memory: 0))
        let head = sampleHead(key.url, length: length)
        try await store.put(key, sampleBytes(length))
        store.waitForChanges()
        let found = try await store.found(key)
        _ = try await replace(found, in: store, with: head) {
            other.invalidate(key)
            other.waitForChanges()
        }
        let next = try await store.found(key)
        #expect(next.map(\.head.isInvalidated) == [true])
        #expect(try await ResponseStore.sample(directory).found(key) == next)
        _ = try await replace(next, in: store, with: head)
        #expect(try await store.found(key).map(\.head) == [head])
    }

    /// The mark is on a variant that stays, and on one that came meanwhile.
    @Test(arguments: [true, false])
    func aResponseBesideOneThatAnotherProcessHasMarkedIsMarked(isStored: Bool) async throws {
        let (store, other) = (ResponseStore.sample(directory), ResponseStore.sample(directory, memory: 0))
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
}
