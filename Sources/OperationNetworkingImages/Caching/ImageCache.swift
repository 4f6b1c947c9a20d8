public import FoundationNetworking

/// AFNetworking 2's `AFImageCache`: images by the URLs and fields of their requests, which requests that want
/// fresh data do not get.
///
/// | Cache policy of the request                            | ``cachedImage(for:)``    | ``cacheImage(_:for:)`` |
/// |--------------------------------------------------------|--------------------------|------------------------|
/// | protocol, return cache data else load, do not load     | the image that is kept   | keeps it               |
/// | reload ignoring, local or all; reload revalidating     | `nil`                    | keeps it               |
///
/// It is emptied on memory pressure, and on call. AFNetworking's had no limit but the system's; this one has
/// the limits of ``AutoPurgingImageCache``.
public final class ImageCache: ImageRequestCache {
    private let images: AutoPurgingImageCache

    /// An empty cache that is emptied on memory pressure.
    public convenience init(
        memoryCapacity: Int = 100_000_000,
        preferredMemoryUsageAfterPurge: Int = 60_000_000
    ) {
        self.init(
            memoryCapacity: memoryCapacity,
            preferredMemoryUsageAfterPurge: preferredMemoryUsageAfterPurge,
            memoryPressure: .shared
        )
    }

    /// An empty cache that is emptied when `memoryPressure` tells of it; `nil`: only on call.
    public init(
        memoryCapacity: Int = 100_000_000,
        preferredMemoryUsageAfterPurge: Int = 60_000_000,
        memoryPressure: MemoryPressure?
    ) {
        images = AutoPurgingImageCache(
            memoryCapacity: memoryCapacity,
            preferredMemoryUsageAfterPurge: preferredMemoryUsageAfterPurge,
            memoryPressure: memoryPressure
        )
    }

    /// The bytes that the images take.
    public var memoryUsage: Int { images.memoryUsage }

    /// The image of the request's URL; `nil` too for a request whose cache policy wants no cached data.
    public func cachedImage(for request: URLRequest) -> DecodedImage? {
        request.cachePolicy.allowsCachedImages ? images.image(for: request) : nil
    }

    /// Keeps the image of the request's URL.
    public func cacheImage(_ image: DecodedImage, for request: URLRequest) {
        images.add(image, for: request)
    }

    // MARK: - ImageRequestCache

    /// As ``cacheImage(_:for:)``; the identifier counts.
    public func add(_ image: DecodedImage, for request: URLRequest, identifier: String?) {
        images.add(image, for: request, identifier: identifier)
    }

    /// As ``cachedImage(for:)``; the identifier counts.
    public func image(for request: URLRequest, identifier: String?) -> DecodedImage? {
        request.cachePolicy.allowsCachedImages ? images.image(for: request, identifier: identifier) : nil
    }

    /// Removes it for every user. Answers whether there was one.
    @discardableResult
    public func removeImage(for request: URLRequest, identifier: String?) -> Bool {
        images.removeImage(for: request, identifier: identifier)
    }

    /// Answers whether there were any.
    @discardableResult
    public func removeAllImages() -> Bool {
        images.removeAllImages()
    }

    // MARK: - KeyedImageCache

    func add(_ image: DecodedImage, _ key: ImageKey) { images.add(image, key) }

    func image(_ key: ImageKey) -> DecodedImage? { images.image(key) }
}

extension URLRequest.CachePolicy {
    /// Whether an image that is kept may be the answer.
    var allowsCachedImages: Bool {
        switch self {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad: true
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
            .reloadRevalidatingCacheData:
            false
        @unknown default: false
        }
    }
}

/// A cache that keeps the images of different users apart: those of this library.
protocol KeyedImageCache: ImageRequestCache {
    func add(_ image: DecodedImage, _ key: ImageKey)
    func image(_ key: ImageKey) -> DecodedImage?
}

extension AutoPurgingImageCache: KeyedImageCache {}
extension ImageCache: KeyedImageCache {}
