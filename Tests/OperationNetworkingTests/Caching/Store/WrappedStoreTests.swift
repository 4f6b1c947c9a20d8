import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// A `URLCache`, or a user's own cache, as a store; and what Foundation's loses on Linux.
@Suite(.timeLimit(.minutes(1)))
struct WrappedStoreTests {
    /// A cache of a user's: one response for a URL, without `userInfo`.
    private final class PlainCache: ResponseStoring {
        let responses = Locked<[String: CachedURLResponse]>([:])
        let maximumBodyLength = 1000
        let currentDiskUsage = 0

        func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
            responses.withLock { $0[request.url?.absoluteString ?? ""] }
        }

        func storeCachedResponse(_ response: CachedURLResponse, for request: URLRequest) {
            let plain = CachedURLResponse(response: response.response, data: response.data)
            responses.withLock { $0[request.url?.absoluteString ?? ""] = plain }
        }

        func removeCachedResponse(for request: URLRequest) {
            responses.withLock { $0[request.url?.absoluteString ?? ""] = nil }
        }

        func removeAllCachedResponses() {
            responses.withLock { $0 = [:] }
        }
    }

    private let directory: TemporaryDirectory
    private let cache: URLCache
    private let store: any CacheStore
    private let key = CacheKey(url: "http://a.example/1")

    init() throws {
        directory = try TemporaryDirectory()
        cache = URLCache(
            memoryCapacity: 200_000,
            diskCapacity: 1 << 20,
            diskPath: directory.file("cache").path
        )
        store = cache.cacheStore
    }

    private func request(_ url: String) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: url)))
    }

    private func response(_ url: String, _ body: Data, _ fields: [String: String]) throws -> CachedURLResponse
    {
        let response = HTTPURLResponse(
            url: try #require(URL(string: url)),
            statusCode: 200,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        )
        return CachedURLResponse(response: try #require(response), data: body)
    }

    // MARK: - A store

    @Test(arguments: [0, 10, 100_000])
    func theHeadIsKeptInMemoryAndOnTheDisk(length: Int) async throws {
        var head = sampleHead(key.url, length: length)
        head.selecting = ["accept": "text/html"]
        head.identity = "a digest"
        let entry = try #require(try await store.put(key, sampleBytes(length), head))
        #expect(try await store.found(key) == [entry])
        #expect(entry.head == head)
        #expect(try await store.body(entry, key) == sampleBytes(length))

        let later = URLCache(memoryCapacity: 0, diskCapacity: 1 << 20, diskPath: directory.file("cache").path)
        #expect(try await later.cacheStore.found(key) == [entry])
        #expect(try await later.cacheStore.body(entry, key) == sampleBytes(length))
    }

    @Test func entriesAreUpdatedInvalidatedAndRemoved() async throws {
        let entry = try #require(try await store.put(key, sampleBytes(300)))
        var head = entry.head
        head.responseTime = 3000
        store.update(entry, of: key, to: head)
        #expect(try await store.found(key).map(\.head) == [head])
        store.invalidate(key)
        #expect(try await store.found(key).map(\.head.isInvalidated) == [true])
        store.remove(entry.id + 1, of: key)
        #expect(try await store.found(key).count == 1)
        store.remove(nil, of: key)
        #expect(try await store.found(key) == [])
        #expect(cache.cachedResponse(for: try request(key.url)) == nil)
    }

    @Test func aPartitionDoesNotSeeAnother() async throws {
        let other = CacheKey(url: key.url, partition: "trusts its own authority")
        try await store.put(other, sampleBytes(10))
        #expect(try await store.found(key) == [])
        #expect(try await store.found(other).count == 1)
    }

    @Test func aBodyIsCollectedUpToTheCapacityOfTheCache() async throws {
        #expect(cache.maximumBodyLength == 200_000)
        let long = sampleHead(key.url, length: 200_001)
        #expect(store.write(long, for: key, replacing: []) == nil)
        var unknown = long
        unknown.length = 0
        let writer = try #require(store.write(unknown, for: key, replacing: []))
        #expect(try await writer.end(sampleBytes(200_001), long) == nil)
        #expect(try await store.found(key) == [])
    }

    @Test func aWriterThatBeganBeforeTheRemovalStoresNothing() async throws {
        let writer = try #require(store.write(sampleHead(key.url, length: 3), for: key, replacing: []))
        store.remove(nil, of: key)
        #expect(try await writer.end(sampleBytes(3), sampleHead(key.url, length: 3)) == nil)
    }

    @Test func anUpdateDoesNotUndoASecondInvalidation() async throws {
        try await store.expectUpdatesToKeepLaterInvalidations(of: key)
    }

    // MARK: - Responses of other clients

    @Test func aResponseWithoutItsHeadHasToBeValidated() async throws {
        let fields = ["ETag": "\"1\"", "Cache-Control": "max-age=99999", "Content-Length": "5"]
        cache.storeCachedResponse(
            try response(key.url, Data("hello".utf8), fields),
            for: try request(key.url)
        )
        let entry = try #require(try await store.found(key).first)
        #expect(entry.head.isInvalidated)
        #expect(entry.head.head.fields["ETag"] == "\"1\"")
        #expect(try await store.body(entry, key) == Data("hello".utf8))
    }

    @Test(arguments: [["Vary": "Accept"], ["Content-Length": "6"]])
    func aResponseOfWhichTooLittleIsKnownIsNotUsed(fields: [String: String]) async throws {
        cache.storeCachedResponse(
            try response(key.url, Data("hello".utf8), fields),
            for: try request(key.url)
        )
        #expect(try await store.found(key) == [])
    }

    @Test func aCacheThatLosesUserInfoHasEveryResponseValidated() async throws {
        let plain = PlainCache()
        let store = plain.cacheStore
        let head = sampleHead(key.url, length: 10, ["Vary": "Accept", "ETag": "\"1\""])
        try await store.put(key, sampleBytes(10), sampleHead(key.url, length: 10))
        #expect(try await store.found(key).map(\.head.isInvalidated) == [true])
        try await store.put(key, sampleBytes(10), head)
        #expect(try await store.found(key) == [])
        #expect(store.write(sampleHead(key.url, length: 1001), for: key, replacing: []) == nil)
    }

    // MARK: - What Foundation's URLCache loses

    @Test(arguments: ["http://a.example/1?page=2", "https://a.example/1"])
    func aResponseForAnotherQueryOrSchemeIsNotUsedThoughTheCacheGivesIt(url: String) async throws {
        try await store.put(key, sampleBytes(10))
        #expect(cache.cachedResponse(for: try request(url))?.data == sampleBytes(10))
        #expect(try await store.found(CacheKey(url: url)) == [])
        // It takes the place of the first, too.
        try await store.put(CacheKey(url: url), sampleBytes(20))
        #expect(try await store.found(key) == [])
        // What is removed for one is not removed for the other.
        store.remove(nil, of: key)
        #expect(try await store.found(CacheKey(url: url)).count == 1)
    }

    @Test func ofTwoVariantsTheLastOneIsKept() async throws {
        try await store.put(key, sampleBytes(10))
        let second = try #require(try await store.put(key, sampleBytes(20)))
        #expect(try await store.found(key) == [second])
    }

    @Test func storingAURLTwiceDoesNotTrapWhenItIsEvicted() async throws {
        for _ in 0..<3 { try await store.put(key, sampleBytes(60_000)) }
        for number in 2..<12 {
            try await store.put(CacheKey(url: "http://a.example/\(number)"), sampleBytes(60_000))
        }
        #expect(cache.currentMemoryUsage <= 200_000)
    }

    @Test func theFirstStoredGoesFirstHoweverOftenItIsUsed() async throws {
        let memory = URLCache(
            memoryCapacity: 200_000,
            diskCapacity: 0,
            diskPath: directory.file("other").path
        )
        let store = memory.cacheStore
        let keys = (0..<4).map { CacheKey(url: "http://a.example/\($0)") }
        for key in keys.prefix(3) { try await store.put(key, sampleBytes(60_000)) }
        _ = try await store.found(keys[0])
        try await store.put(keys[3], sampleBytes(60_000))
        #expect(try await store.found(keys[0]) == [])
        #expect(try await store.found(keys[1]).count == 1)
    }

    @Test func aPathWithCertainBytesOrManyComesToMemoryOnly() async throws {
        let long = "http://a.example/" + String(repeating: "x", count: 300)
        // Their base64 has a slash.
        let key = CacheKey(url: "http://a.example/%3F%3F%3F%3F%3F%3F")
        for key in [CacheKey(url: long), key] {
            try await store.put(key, sampleBytes(10))
            #expect(try await store.found(key).count == 1)
        }
        #expect(cache.currentDiskUsage == 0)
    }
}
