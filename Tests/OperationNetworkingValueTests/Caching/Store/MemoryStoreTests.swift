import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// A store without a disk.
@Suite(.timeLimit(.minutes(1)))
struct MemoryStoreTests {
    private let store = ResponseStore(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
    private let key = CacheKey(url: "http://a/1")

    @Test func aMissIsKnownAtOnce() {
        #expect(store.find(key) { _ in Issue.record("it was called later") } == [])
    }

    @Test(arguments: [0, 1, 1000, 65_535, 65_536, 65_537, 200_000])
    func aCommittedResponseIsFoundAndReadAtOnce(length: Int) async throws {
        let body = sampleBytes(length)
        let entry = try #require(try await store.put(key, body))

        #expect(store.find(key) { _ in Issue.record("it was called later") } == [entry])
        let reader = try #require(store.read(entry, of: key) { _ in Issue.record("it was called later") })
        #expect(reader.length == length)
        #expect(try await reader.all(piece: 70_000) == body)
        #expect(try await reader.all(piece: 777) == body)
    }

    @Test func nothingIsFoundBeforeTheCommit() async throws {
        let writer = try #require(store.write(sampleHead(key.url, length: 3), for: key, replacing: []))
        writer.append(sampleBytes(3).span)
        #expect(try await store.found(key) == [])
        writer.abandon()
        #expect(try await store.found(key) == [])
    }

    @Test func bytesOfAnotherNumberThanTheHeadSaysAreDropped() async throws {
        #expect(try await store.put(key, sampleBytes(3), sampleHead(key.url, length: 4)) == nil)
        #expect(try await store.found(key) == [])
    }

    @Test func aReplacedVariantGoesWithTheCommitAndNotBefore() async throws {
        let first = try #require(try await store.put(key, sampleBytes(3)))
        let other = try #require(try await store.put(key, sampleBytes(4)))
        let writer = try #require(
            store.write(sampleHead(key.url, length: 5), for: key, replacing: [first.id])
        )
        #expect(try await store.found(key) == [first, other])
        let third = try #require(try await writer.end(sampleBytes(5), sampleHead(key.url, length: 5)))
        #expect(try await store.found(key) == [other, third])
    }

    @Test func aResponseThatCannotFitIsRefusedAndOneThatGrowsTooLongDropped() async throws {
        #expect(store.write(sampleHead(key.url, length: 1 << 20), for: key, replacing: []) == nil)
        var head = sampleHead(key.url, length: 1 << 20)
        head.length = 0
        let writer = try #require(store.write(head, for: key, replacing: []))
        for _ in 0..<100 { writer.append(sampleBytes(10_000).span) }
        head.length = 1_000_000
        #expect(try await writer.end(Data(), head) == nil)
        #expect(try await store.found(key) == [])
    }

    @Test func theLeastRecentlyUsedKeyIsRemovedFirst() async throws {
        let keys = (0..<6).map { CacheKey(url: "http://a/\($0)") }
        for key in keys.prefix(5) { try await store.put(key, sampleBytes(180_000)) }
        _ = try await store.found(keys[0])
        try await store.put(keys[5], sampleBytes(180_000))

        let left = try await keys.asyncMap { try await !store.found($0).isEmpty }
        #expect(left == [true, false, true, true, true, true])
        #expect(store.state.withLock { $0.memory.usage } <= 1 << 20)
    }

    @Test func aBodyThatALookupFoundIsReadThoughItIsGone() async throws {
        try await store.put(key, sampleBytes(3))
        let found = try #require(try await store.found(key).first)
        store.remove(url: key.url)
        #expect(try await store.found(key) == [])
        #expect(try await store.body(found, key) == sampleBytes(3))
    }

    @Test func anUpdateDoesNotUndoLaterChanges() async throws {
        let entry = try #require(try await store.put(key, sampleBytes(3)))
        store.invalidate(key)
        var head = entry.head
        head.responseTime = 2000
        store.update(entry, of: key, to: head)
        let found = try #require(try await store.found(key).first)
        #expect(found.head.isInvalidated && found.head.responseTime == 2000)
        // The one who has seen the invalidation may take it back.
        store.update(found, of: key, to: head)
        #expect(try await store.found(key).map(\.head.isInvalidated) == [false])
    }

    @Test func anUpdateDoesNotUndoASecondInvalidation() async throws {
        try await store.expectUpdatesToKeepLaterInvalidations(of: key)
    }

    @Test func anEntryIsUpdatedInvalidatedAndRemoved() async throws {
        let entry = try #require(try await store.put(key, sampleBytes(3)))
        var head = entry.head
        head.responseTime = 2000
        store.update(entry, of: key, to: head)
        #expect(try await store.found(key).map(\.head) == [head])
        store.invalidate(key)
        #expect(try await store.found(key).map(\.head.isInvalidated) == [true])
        store.remove(entry.id, of: key)
        #expect(try await store.found(key) == [])
    }

    @Test func aReaderContinuesAfterTheRemoval() async throws {
        let entry = try #require(try await store.put(key, sampleBytes(100_000)))
        let reader = try #require(try await store.reader(entry, key))
        store.removeAll()
        #expect(try await reader.all() == sampleBytes(100_000))
        #expect(try await store.found(key) == [])
    }

    @Test(arguments: [true, false])
    func aWriterThatBeganBeforeTheRemovalStoresNothing(all: Bool) async throws {
        let writer = try #require(store.write(sampleHead(key.url, length: 3), for: key, replacing: []))
        if all { store.removeAll() } else { store.remove(url: key.url) }
        #expect(try await writer.end(sampleBytes(3), sampleHead(key.url, length: 3)) == nil)
        #expect(try await store.found(key) == [])
        #expect(try await store.put(key, sampleBytes(3)) != nil)
    }

    @Test func whatIsReceivedDuringAnInvalidationHasToBeValidated() async throws {
        let writer = try #require(store.write(sampleHead(key.url, length: 3), for: key, replacing: []))
        store.invalidate(key)
        let entry = try await writer.end(sampleBytes(3), sampleHead(key.url, length: 3))
        #expect(entry?.head.isInvalidated == true)
        #expect(try await store.found(key) == [entry])
    }
}
