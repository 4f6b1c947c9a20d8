public import FoundationNetworking
internal import OperationNetworkingImagesSystem

/// An in-memory image cache with a size limit: AFNetworking 3's `AFAutoPurgingImageCache`.
///
/// If the images exceed ``memoryCapacity``, the least recently used ones are evicted until
/// ``preferredMemoryUsageAfterPurge`` is reached. There are at most 100,000 images, however small; beyond
/// that, six tenths are kept. On memory pressure all are removed: see ``MemoryPressure``.
///
/// The key of an image is the URL of its request, its header fields except those that do not affect the image
/// (such as `Accept` and `User-Agent`), and an identifier, such as that of a filter; or an identifier alone.
/// A downloader also separates the images of different users. Callable from any thread.
public final class AutoPurgingImageCache: ImageRequestCache {
    /// The memory, in bytes, that images may use before some are evicted. Defaults to 100 MB.
    public let memoryCapacity: Int
    /// The maximum memory, in bytes, that is used after a purge. Defaults to 60 MB.
    public let preferredMemoryUsageAfterPurge: Int
    private let store: Guarded<ImageStore<ImageKey, DecodedImage>>
    private let pressure = Guarded<MemoryPressure.Observation?>(nil)

    /// Creates an empty cache that is cleared on memory pressure.
    ///
    /// - Parameters:
    ///   - memoryCapacity: the memory, in bytes, that images may use.
    ///   - preferredMemoryUsageAfterPurge: the maximum memory, in bytes, after a purge; at most the capacity.
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
        let store = ImageStore<ImageKey, DecodedImage>(
            capacity: memoryCapacity,
            preferredUsage: preferredMemoryUsageAfterPurge
        )
        self.memoryCapacity = store.capacity
        self.preferredMemoryUsageAfterPurge = store.preferredUsage
        self.store = Guarded(store)
        let observation = memoryPressure?.observe { [weak self] in _ = self?.removeAllImages() }
        pressure.withLock { $0 = observation }
    }

    /// The memory that the images use, in bytes.
    public var memoryUsage: Int { store.withLock { $0.usage } }

    // MARK: - By an identifier

    /// Stores an image; replaces the one with this identifier.
    public func add(_ image: DecodedImage, identifier: String) {
        add(image, ImageKey(identifier: identifier))
    }

    /// Returns the image with this identifier, and marks it as most recently used.
    public func image(identifier: String) -> DecodedImage? {
        image(ImageKey(identifier: identifier))
    }

    /// Removes the image with this identifier. Returns whether there was one.
    @discardableResult
    public func removeImage(identifier: String) -> Bool {
        store.withLock { $0.remove(ImageKey(identifier: identifier)) } != nil
    }

    // MARK: - ImageRequestCache

    /// Stores an image; replaces the one with the same URL, fields and identifier.
    public func add(_ image: DecodedImage, for request: URLRequest, identifier: String? = nil) {
        guard let key = ImageKey(request, identifier) else { return }
        add(image, key)
    }

    /// Returns the image with the same URL, fields and identifier, and marks it as most recently used.
    public func image(for request: URLRequest, identifier: String? = nil) -> DecodedImage? {
        ImageKey(request, identifier).flatMap(image)
    }

    /// Removes the images with the same URL, fields and identifier, of every user. Returns whether there were
    /// any.
    @discardableResult
    public func removeImage(for request: URLRequest, identifier: String? = nil) -> Bool {
        guard let key = ImageKey(request, identifier) else { return false }
        // Evicted images are released outside of the lock.
        return !store.withLock { $0.remove(where: { $0.isFor(key) }) }.isEmpty
    }

    /// Removes all images. Returns whether there were any.
    @discardableResult
    public func removeAllImages() -> Bool {
        !store.withLock { $0.removeAll() }.isEmpty
    }

    // MARK: - KeyedImageCache

    func image(_ key: ImageKey) -> DecodedImage? {
        store.withLock { $0.image(for: key) }
    }

    /// Evicted images are released outside of the lock.
    func add(_ image: DecodedImage, _ key: ImageKey) {
        _ = store.withLock { $0.add(image, for: key, cost: image.byteCount) }
    }
}
