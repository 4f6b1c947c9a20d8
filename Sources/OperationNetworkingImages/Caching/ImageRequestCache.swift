public import FoundationNetworking

/// A cache of images by request: AFNetworking's `AFImageRequestCache`. Called on any thread.
///
/// A custom cache can use the URL and identifier alone as its key: an ``ImageDownloader`` does not use it for
/// requests with fields other than `Accept` and the like, or that its manager sends with an identity
/// (credential, token, client certificate, cookies, adapters).
public protocol ImageRequestCache: AnyObject, Sendable {
    /// Stores an image.
    func add(_ image: DecodedImage, for request: URLRequest, identifier: String?)

    /// Returns the cached image of a request, if any.
    func image(for request: URLRequest, identifier: String?) -> DecodedImage?

    /// Removes the image of a request. Returns whether there was one.
    @discardableResult
    func removeImage(for request: URLRequest, identifier: String?) -> Bool

    /// Removes all images. Returns whether there were any.
    @discardableResult
    func removeAllImages() -> Bool

    /// Whether a received image should be stored. Called before each is added.
    func shouldCache(_ image: DecodedImage, for request: URLRequest, identifier: String?) -> Bool
}

extension ImageRequestCache {
    /// Returns true.
    public func shouldCache(_ image: DecodedImage, for request: URLRequest, identifier: String?) -> Bool {
        true
    }
}
