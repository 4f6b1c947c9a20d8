public import FoundationNetworking
internal import OperationNetworkingImagesSystem

/// Images in memory, up to a limit: AFNetworking 3's `AFAutoPurgingImageCache`.
///
/// When the images take more than ``memoryCapacity``, those that were not used for the longest time go, until
/// ``preferredMemoryUsageAfterPurge`` are left. There are 100,000 at most, however small they are: of more,
/// six tenths stay. When the kernel says that memory is short, all go: see ``MemoryPressure``. An image is
/// found by the URL of its request, its fields but for those that choose no image (`Accept`, `User-Agent`),
/// and an identifier, such as that of a filter; or by an identifier alone. A downloader keeps the images of a
/// manager's user apart from others' besides. Everything may be called from any thread.
public final class AutoPurgingImageCache: ImageRequestCache {
    /// The bytes that images may take before some are purged. 100 MB unless set.
    public let memoryCapacity: Int
    /// The bytes that are left after a purge. 60 MB unless set.
    public let preferredMemoryUsageAfterPurge: Int
    private let store: Guarded<ImageStore<ImageKey, DecodedImage>>
    private let pressure = Guarded<MemoryPressure.Observation?>(nil)

    /// An empty cache that is emptied on memory pressure.
    ///
    /// - Parameters:
    ///   - memoryCapacity: the bytes that images may take.
    ///   - preferredMemoryUsageAfterPurge: the bytes that are left after a purge; at most the capacity.
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

    /// The bytes that the images take.
    public var memoryUsage: Int { store.withLock { $0.usage } }

    // MARK: - By an identifier

    /// Keeps an image; it replaces the one with this identifier.
    public func add(_ image: DecodedImage, identifier: String) {
        add(image, ImageKey(identifier: identifier))
    }

    /// The image with this identifier, which is the most recently used one then.
    public func image(identifier: String) -> DecodedImage? {
        image(ImageKey(identifier: identifier))
    }

    /// Answers whether there was one.
    @discardableResult
    public func removeImage(identifier: String) -> Bool {
        store.withLock { $0.remove(ImageKey(identifier: identifier)) } != nil
    }

    // MARK: - ImageRequestCache

    /// Keeps an image; it replaces the one of this URL, these fields and this identifier.
    public func add(_ image: DecodedImage, for request: URLRequest, identifier: String? = nil) {
        guard let key = ImageKey(request, identifier) else { return }
        add(image, key)
    }

    /// The image of this URL, these fields and this identifier, which is the most recently used one then.
    public func image(for request: URLRequest, identifier: String? = nil) -> DecodedImage? {
        ImageKey(request, identifier).flatMap(image)
    }

    /// Removes the image of this URL, these fields and this identifier, of every user. Answers whether there
    /// was one.
    @discardableResult
    public func removeImage(for request: URLRequest, identifier: String? = nil) -> Bool {
        guard let key = ImageKey(request, identifier) else { return false }
        // Images that go are released after the lock.
        return !store.withLock { $0.remove(where: { $0.isFor(key) }) }.isEmpty
    }

    /// Answers whether there were any.
    @discardableResult
    public func removeAllImages() -> Bool {
        !store.withLock { $0.removeAll() }.isEmpty
    }

    // MARK: - KeyedImageCache

    func image(_ key: ImageKey) -> DecodedImage? {
        store.withLock { $0.image(for: key) }
    }

    /// Images that go are released after the lock.
    func add(_ image: DecodedImage, _ key: ImageKey) {
        _ = store.withLock { $0.add(image, for: key, cost: image.byteCount) }
    }
}
