internal import FoundationNetworking

/// Receives what is about to be stored, and answers, on any thread and at any time, with what is stored:
/// `nil` is nothing.
typealias CacheResponseHandler =
    @Sendable (CachedURLResponse, _ answer: @escaping @Sendable (CachedURLResponse?) -> Void) -> Void

/// The cache of an operation, or of a manager's operations, as a layer before the network.
struct CacheSetting: TransferLayering {
    var cache: ResponseCache?
    var willStore: CacheResponseHandler?

    /// `nil` if nothing is set.
    var layer: CacheSetting? { cache == nil && willStore == nil ? nil : self }

    func layer(over next: any TransferRunning) -> any TransferRunning {
        CachedTransfers(cache ?? .empty, willStore: willStore, over: next)
    }
}

extension ResponseCache {
    /// The cache of a caller who set none: nothing is stored.
    static let empty = ResponseCache(memoryCapacity: 0, diskCapacity: 0, directory: nil)
}

extension TransferSettings {
    var cacheSetting: CacheSetting {
        get { layers[.cache] as? CacheSetting ?? CacheSetting() }
        set { layers[.cache] = newValue.layer }
    }

    /// See ``TransferConfigurable/cache``.
    public var cache: ResponseCache? {
        get { cacheSetting.cache }
        set { cacheSetting.cache = newValue }
    }
}

extension TransferConfigurable {
    /// The cache of responses, by [RFC 9111](https://www.rfc-editor.org/rfc/rfc9111); `nil` (the default) is
    /// none.
    ///
    /// Each request goes through it, after redirects and before the network, as its `cachePolicy` and its
    /// `Cache-Control` say. Managers with one cache share its responses. A response is only for requests that
    /// are sent as the same user: with the same credential, and the same values of fields such as
    /// `Authorization`, `X-Api-Key`, `Cookie` (a jar's cookies, too) and those of
    /// ``RedirectPolicy/droppedHeaders``.
    public var cache: ResponseCache? {
        get { readTransferSettings { $0.cache } }
        set { changeTransferSettings(named: #function) { $0.cache = newValue } }
    }
}
