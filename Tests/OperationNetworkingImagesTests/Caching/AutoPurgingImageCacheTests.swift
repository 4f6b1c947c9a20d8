import Foundation
import FoundationNetworking
import OperationNetworking
import Testing

@testable import OperationNetworkingImages

/// The tests of AFNetworking's cache, by their names (`Tests/AFNetworking.md`), and ours.
@Suite struct AutoPurgingImageCacheTests {
    private let cache = AutoPurgingImageCache(memoryPressure: nil)
    private let image: DecodedImage
    private let request: URLRequest

    init() throws {
        image = try #require(DecodedImage(pixels: Data(count: 40_000), pixelWidth: 100, pixelHeight: 100))
        request = URLRequest(url: try #require(URL(string: "http://test.com/image")))
    }

    private func picture(_ byteCount: Int) throws -> DecodedImage {
        try #require(DecodedImage(pixels: Data(count: byteCount), pixelWidth: byteCount / 4, pixelHeight: 1))
    }

    private func small() -> AutoPurgingImageCache {
        AutoPurgingImageCache(memoryCapacity: 100, preferredMemoryUsageAfterPurge: 60, memoryPressure: nil)
    }

    // MARK: - AFNetworking's

    @Test func testImageIsReturnedFromCacheForIdentifier() {
        cache.add(image, identifier: "logo")
        #expect(cache.image(identifier: "logo") == image)
    }

    @Test func testImageIsReturnedFromCacheForURLRequest() {
        cache.add(image, for: request)
        #expect(cache.image(for: request) == image)
    }

    @Test(
        """
        testImageIsReturnedFromCacheForURLRequestWithAdditionalIdentifier, \
        testImageIsNotReturnedWhenAdditionalIdentifierIsNotSet
        """
    )
    func anImageIsKeptUnderItsRequestAndIdentifier() {
        cache.add(image, for: request, identifier: "logo")
        #expect(cache.image(for: request, identifier: "logo") == image)
        #expect(cache.image(for: request) == nil)
    }

    @Test func testImageIsNotReturnedWhenURLDoesntMatch() throws {
        cache.add(image, for: request)
        let other = URLRequest(url: try #require(URL(string: "http://test.com/other")))
        #expect(cache.image(for: other) == nil)
    }

    @Test func anImageIsNotReturnedForAnotherIdentifier() {
        cache.add(image, identifier: "logo")
        #expect(cache.image(identifier: "differentLogo") == nil)
        #expect(cache.image(for: request) == nil)
        cache.add(image, for: request, identifier: "logo")
        #expect(cache.image(for: request, identifier: "differentLogo") == nil)
    }

    @Test func testDuplicateImageAddedToCacheIsReturned() throws {
        let second = try picture(400)
        cache.add(image, for: request, identifier: "logo")
        cache.add(second, for: request, identifier: "logo")
        #expect(cache.image(for: request, identifier: "logo") == second)
        #expect(cache.memoryUsage == 400)
    }

    @Test func testImageIsRemovedWithIdentifier() {
        cache.add(image, identifier: "logo")
        #expect(cache.removeImage(identifier: "logo"))
        #expect(cache.image(identifier: "logo") == nil)
        #expect(!cache.removeImage(identifier: "logo"))
    }

    @Test func testImageIsRemovedWithURLRequest() {
        cache.add(image, for: request)
        #expect(cache.removeImage(for: request))
        #expect(cache.image(for: request) == nil)
    }

    @Test(
        """
        testImageIsRemovedWithURLRequestWithAdditionalIdentifier, \
        testImageIsNotRemovedWithURLRequestAndNilIdentifier, \
        testImageIsNotRemovedWithURLRequestAndIncorrectIdentifier
        """
    )
    func anImageIsRemovedByItsRequestAndIdentifierOnly() {
        cache.add(image, for: request, identifier: "logo")
        #expect(!cache.removeImage(for: request))
        #expect(!cache.removeImage(for: request, identifier: "differentLogo"))
        #expect(cache.removeImage(for: request, identifier: "logo"))
        #expect(cache.image(for: request, identifier: "logo") == nil)
    }

    @Test func removingAllImagesLeavesNone() {
        cache.add(image, identifier: "logo")
        #expect(cache.removeAllImages())
        #expect(cache.image(identifier: "logo") == nil)
        #expect(!cache.removeAllImages())
        #expect(cache.memoryUsage == 0)
    }

    @Test func bothCachesEmptyThemselvesOnMemoryPressure() {
        let pressure = MemoryPressure(MemoryPressureSource(pressure: []))
        let purging = AutoPurgingImageCache(memoryPressure: pressure)
        let plain = ImageCache(memoryPressure: pressure)
        purging.add(image, identifier: "logo")
        plain.cacheImage(image, for: request)
        pressure.notifyObservers()
        #expect(purging.image(identifier: "logo") == nil && purging.memoryUsage == 0)
        #expect(plain.cachedImage(for: request) == nil && plain.memoryUsage == 0)
    }

    @Test("testThatMemoryUsageIncreasesWhenAddingImage, testThatMemoryUsageDecreasesWhenRemovingImage")
    func theUsageIsThatOfTheImages() throws {
        cache.add(image, identifier: "a")
        cache.add(try picture(400), identifier: "b")
        #expect(cache.memoryUsage == 40_400)
        cache.removeImage(identifier: "a")
        #expect(cache.memoryUsage == 400)
    }

    @Test func testThatImagesArePurgedWhenCapcityIsReached() throws {
        let cache = small()
        for name in ["a", "b", "c"] { cache.add(try picture(40), identifier: name) }
        #expect(["a", "b", "c"].map { cache.image(identifier: $0) != nil } == [false, false, true])
    }

    @Test func testThatPrioritizedImagesWithOldestLastAccessDatesAreRemovedDuringPurge() throws {
        let cache = small()
        for name in ["a", "b", "c"] { cache.add(try picture(32), identifier: name) }
        _ = cache.image(identifier: "a")
        cache.add(try picture(8), identifier: "d")
        #expect(
            ["a", "b", "c", "d"].map { cache.image(identifier: $0) != nil } == [true, false, false, true]
        )
    }

    @Test func testThatShouldCacheIsYes() {
        #expect(cache.shouldCache(image, for: request, identifier: nil))
    }

    // MARK: - Ours

    @Test func theLimitsAre100And60Megabytes() {
        #expect(AutoPurgingImageCache().memoryCapacity == 100_000_000)
        #expect(AutoPurgingImageCache().preferredMemoryUsageAfterPurge == 60_000_000)
    }

    @Test func aURLWithAnIdentifierIsNoOtherURL() throws {
        cache.add(image, for: request, identifier: "2")
        let other = URLRequest(url: try #require(URL(string: "http://test.com/image2")))
        #expect(cache.image(for: other) == nil)
        #expect(cache.image(identifier: "http://test.com/image2") == nil)
    }

    @Test(
        "The cache of 2.x gives nothing to requests that want fresh data",
        arguments: [
            (.useProtocolCachePolicy, true), (.returnCacheDataElseLoad, true),
            (.returnCacheDataDontLoad, true), (.reloadIgnoringLocalCacheData, false),
            (.reloadIgnoringLocalAndRemoteCacheData, false), (.reloadRevalidatingCacheData, false),
        ] as [(URLRequest.CachePolicy, Bool)]
    )
    func imageCacheFollowsThePolicy(policy: URLRequest.CachePolicy, isFound: Bool) {
        let cache = ImageCache(memoryPressure: nil)
        var request = request
        request.cachePolicy = policy
        cache.cacheImage(image, for: request)
        #expect((cache.cachedImage(for: request) != nil) == isFound)
        #expect((cache.image(for: request, identifier: nil) != nil) == isFound)
        request.cachePolicy = .useProtocolCachePolicy
        #expect(cache.cachedImage(for: request) == image)
        #expect(cache.removeAllImages())
        #expect(cache.cachedImage(for: request) == nil)
    }

    @Test func theCacheGoesAwayWithItsOwner() {
        let pressure = MemoryPressure(MemoryPressureSource(pressure: []))
        weak var cache: AutoPurgingImageCache?
        do {
            let owned = AutoPurgingImageCache(memoryPressure: pressure)
            owned.add(image, identifier: "a")
            cache = owned
        }
        #expect(cache == nil)
        pressure.notifyObservers()
    }
}
