public import FoundationNetworking

/// A cache of images by their requests: AFNetworking's `AFImageRequestCache`. Called from any thread.
///
/// A cache of your own may look at the URL and the identifier alone: an ``ImageDownloader`` gives it no image
/// of a request that has other fields than `Accept` and the like, or that its manager sends as a user
/// (credential, token, client certificate, cookies, adapters), and takes none for it.
public protocol ImageRequestCache: AnyObject, Sendable {
    /// Keeps an image.
    func add(_ image: DecodedImage, for request: URLRequest, identifier: String?)

    /// The image of a request, if it is kept.
    func image(for request: URLRequest, identifier: String?) -> DecodedImage?

    /// Answers whether there was one.
    @discardableResult
    func removeImage(for request: URLRequest, identifier: String?) -> Bool

    /// Answers whether there were any.
    @discardableResult
    func removeAllImages() -> Bool

    /// Whether an image that was received is to be kept; asked before each is added.
    func shouldCache(_ image: DecodedImage, for request: URLRequest, identifier: String?) -> Bool
}

extension ImageRequestCache {
    /// Every image is.
    public func shouldCache(_ image: DecodedImage, for request: URLRequest, identifier: String?) -> Bool {
        true
    }
}
