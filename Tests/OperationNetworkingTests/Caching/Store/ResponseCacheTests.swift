import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The public face of the store.
@Suite(.timeLimit(.minutes(1)))
struct ResponseCacheTests {
    private let directory: TemporaryDirectory
    private let cache: ResponseCache

    init() throws {
        directory = try TemporaryDirectory()
        cache = ResponseCache(memoryCapacity: 1 << 20, diskCapacity: 8 << 20, directory: directory.url)
    }

    private func request(_ url: String = "http://a/1", _ fields: [String: String] = [:]) throws -> URLRequest
    {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.allHTTPHeaderFields = fields
        return request
    }

    private func response(
        _ body: Data,
        _ fields: [String: String] = ["ETag": "\"1\""],
        _ policy: URLCache.StoragePolicy = .allowed
    ) throws -> CachedURLResponse {
        let response = HTTPURLResponse(
            url: try #require(URL(string: "http://a/1")),
            statusCode: 200,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        )
        return CachedURLResponse(response: try #require(response), data: body, storagePolicy: policy)
    }

    @Test(arguments: [0, 5, 100_000, 3_000_000])
    func whatIsStoredIsGivenToThisCacheAndToALaterOne(length: Int) throws {
        let request = try request()
        cache.storeCachedResponse(try response(sampleBytes(length)), for: request)
        #expect(cache.currentDiskUsage >= length)
        let later = ResponseCache(memoryCapacity: 0, diskCapacity: 8 << 20, directory: directory.url)
        for cache in [cache, later] {
            let cached = try #require(cache.cachedResponse(for: request))
            #expect(cached.data == sampleBytes(length))
            let response = try #require(cached.response as? HTTPURLResponse)
            #expect(response.statusCode == 200)
            #expect(response.value(forHTTPHeaderField: "ETag") == "\"1\"")
        }
    }

    @Test func oneIsStoredInPlaceOfTheOtherAndVariantsBesideEachOther() throws {
        let vary = ["Vary": "Accept"]
        let (text, html) = (
            try request("http://a/1", ["Accept": "text"]), try request("http://a/1", ["Accept": "html"])
        )
        cache.storeCachedResponse(try response(Data("one".utf8), vary), for: text)
        cache.storeCachedResponse(try response(Data("two".utf8), vary), for: html)
        #expect(cache.cachedResponse(for: text)?.data == Data("one".utf8))
        #expect(cache.cachedResponse(for: html)?.data == Data("two".utf8))
        #expect(cache.cachedResponse(for: try request()) == nil)
        cache.storeCachedResponse(try response(Data("three".utf8), vary), for: text)
        #expect(cache.cachedResponse(for: text)?.data == Data("three".utf8))
        #expect(cache.stored(for: try #require(text.url)).count == 2)
    }

    @Test func storagePoliciesAreRespected() throws {
        let request = try request()
        cache.storeCachedResponse(try response(Data("one".utf8), [:], .notAllowed), for: request)
        #expect(cache.cachedResponse(for: request) == nil)
        cache.storeCachedResponse(try response(Data("one".utf8), [:], .allowedInMemoryOnly), for: request)
        #expect(cache.cachedResponse(for: request)?.data == Data("one".utf8))
        #expect(cache.currentDiskUsage == 0)
        #expect(cache.currentMemoryUsage > 0)
        let later = ResponseCache(memoryCapacity: 1 << 20, diskCapacity: 8 << 20, directory: directory.url)
        #expect(later.cachedResponse(for: request) == nil)
    }

    @Test func removingIsSeenAtOnceAndByLaterCaches() throws {
        let (one, two) = (try request("http://a/1"), try request("http://a/2"))
        for request in [one, two] {
            cache.storeCachedResponse(try response(sampleBytes(50_000)), for: request)
        }
        cache.removeCachedResponse(for: one)
        #expect(cache.cachedResponse(for: one) == nil)
        #expect(cache.cachedResponse(for: two) != nil)
        cache.removeAllCachedResponses()
        #expect(cache.currentDiskUsage == 0)
        #expect(cache.currentMemoryUsage == 0)
        #expect(cache.cachedResponse(for: two) == nil)
        let folder = directory.file("OperationNetworking.cache").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["format"])
        let later = ResponseCache(memoryCapacity: 1 << 20, diskCapacity: 8 << 20, directory: directory.url)
        #expect(later.cachedResponse(for: two) == nil)
    }

    @Test func smallerCapacitiesRemoveWhatIsTooMuch() throws {
        for number in 0..<10 {
            cache.storeCachedResponse(
                try response(sampleBytes(50_000)),
                for: try request("http://a/\(number)")
            )
        }
        #expect(cache.currentMemoryUsage > 500_000)
        #expect(cache.currentDiskUsage > 500_000)
        cache.memoryCapacity = 200_000
        #expect(cache.currentMemoryUsage <= 200_000)
        cache.diskCapacity = 300_000
        #expect(cache.currentDiskUsage <= 300_000)
        #expect(cache.diskCapacity == 300_000)
        #expect(cache.maximumBodyLength == 150_000)
        cache.memoryCapacity = 0
        #expect(cache.cachedResponse(for: try request("http://a/0")) == nil)
        #expect(cache.cachedResponse(for: try request("http://a/9"))?.data == sampleBytes(50_000))
    }

    @Test func manyThreadsAtOnceGetWholeResponses() throws {
        let requests = try (0..<10).map { try request("http://a/\($0)") }
        let responses = try (0..<10).map { try response(sampleBytes(10_000 * $0 + 1, UInt8($0))) }
        let cache = cache
        DispatchQueue.concurrentPerform(iterations: 200) { number in
            let index = number % 10
            switch number % 7 {
            case 0: cache.removeCachedResponse(for: requests[index])
            case 1: cache.storeCachedResponse(responses[index], for: requests[index])
            case 2 where number % 49 == 2: cache.removeAllCachedResponses()
            case 3: _ = cache.currentDiskUsage
            default:
                let data = cache.cachedResponse(for: requests[index])?.data
                #expect(data == nil || data == sampleBytes(10_000 * index + 1, UInt8(index)))
            }
        }
    }
}
