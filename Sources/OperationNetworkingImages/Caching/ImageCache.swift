public import FoundationNetworking

/// AFNetworking 2's `AFImageCache`: images keyed by the URL and fields of their requests. Respects the cache
/// policy of a request:
///
/// | Cache policy of the request                        | ``cachedImage(for:)`` | ``cacheImage(_:for:)`` |
/// |----------------------------------------------------|-----------------------|------------------------|
/// | protocol, return cache data else load, do not load | the cached image      | stores it              |
/// | reload ignoring, local or all; reload revalidating | `nil`                 | stores it              |
///
/// Cleared on memory pressure, and explicitly. Unlike AFNetworking's, it has the limits of
/// ``AutoPurgingImageCache``.
public final class ImageCache: ImageRequestCache {
    private let images: AutoPurgingImageCache

    /// Creates an empty cache that is cleared on memory pressure.
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

    /// Creates an empty cache that is cleared when `memoryPressure` notifies it. With `nil` it is only
    /// cleared explicitly.
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

    /// The memory that the images use, in bytes.
    public var memoryUsage: Int { images.memoryUsage }

    /// Returns the cached image of a request; `nil` if there is none or the cache policy ignores cached data.
    public func cachedImage(for request: URLRequest) -> DecodedImage? {
        request.cachePolicy.allowsCachedImages ? images.image(for: request) : nil
    }

    /// Stores the image of a request.
    public func cacheImage(_ image: DecodedImage, for request: URLRequest) {
        images.add(image, for: request)
    }

    // MARK: - ImageRequestCache

    /// Like ``cacheImage(_:for:)``, with an identifier as part of the key.
    public func add(_ image: DecodedImage, for request: URLRequest, identifier: String?) {
        images.add(image, for: request, identifier: identifier)
    }

    /// Like ``cachedImage(for:)``, with an identifier as part of the key.
    public func image(for request: URLRequest, identifier: String?) -> DecodedImage? {
        request.cachePolicy.allowsCachedImages ? images.image(for: request, identifier: identifier) : nil
    }

    /// Removes the images of a request, of every user. Returns whether there were any.
    @discardableResult
    public func removeImage(for request: URLRequest, identifier: String?) -> Bool {
        images.removeImage(for: request, identifier: identifier)
    }

    /// Removes all images. Returns whether there were any.
    @discardableResult
    public func removeAllImages() -> Bool {
        images.removeAllImages()
    }

    // MARK: - KeyedImageCache

    func add(_ image: DecodedImage, _ key: ImageKey) { images.add(image, key) }

    func image(_ key: ImageKey) -> DecodedImage? { images.image(key) }
}

extension URLRequest.CachePolicy {
    /// Whether a cached image may be used.
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

/// A cache that separates the images of different users: the caches of this library.
protocol KeyedImageCache: ImageRequestCache {
    func add(_ image: DecodedImage, _ key: ImageKey)
    func image(_ key: ImageKey) -> DecodedImage?
}

extension AutoPurgingImageCache: KeyedImageCache {}
extension ImageCache: KeyedImageCache {}
