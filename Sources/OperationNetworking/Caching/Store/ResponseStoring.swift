public import FoundationNetworking

/// A cache of responses, as `URLCache` is one: what can be set as the cache of an operation or a manager.
///
/// ``ResponseCache`` is the library's own, which keeps all that HTTP knows of a stored response. A
/// `URLCache`, or a class of your own, is used by these methods, on a queue of the library's. It keeps one
/// response for a URL, and the whole body is in memory while it is stored or read.
public protocol ResponseStoring: AnyObject, Sendable {
    /// The stored response for a request, with its whole body; `nil`: none.
    func cachedResponse(for request: URLRequest) -> CachedURLResponse?

    /// Stores a response in place of the one that is stored for the request.
    func storeCachedResponse(_ response: CachedURLResponse, for request: URLRequest)

    /// Removes what is stored for the request.
    func removeCachedResponse(for request: URLRequest)

    /// Removes everything.
    func removeAllCachedResponses()

    /// The bytes that are used on the disk.
    var currentDiskUsage: Int { get }

    /// The longest body that it can be given, in bytes. A longer one is not collected in memory to be
    /// offered.
    var maximumBodyLength: Int { get }
}

extension URLCache: ResponseStoring {
    /// The cache's `memoryCapacity`: swift-corelibs-foundation throws away at once what is larger.
    public var maximumBodyLength: Int { memoryCapacity }
}
