internal import FoundationNetworking

/// Receives a response before it is stored, and calls `answer` with the response to store, on any thread and
/// at any time; `nil` stores nothing.
typealias CacheResponseHandler =
    @Sendable (CachedURLResponse, _ answer: @escaping @Sendable (CachedURLResponse?) -> Void) -> Void

/// The cache of an operation, or of a manager's operations, as a layer before the network.
struct CacheSetting: TransferLayering {
    var cache: ResponseCache?
    var willStore: CacheResponseHandler?

    /// `nil` if no cache and no handler is set.
    var layer: CacheSetting? { cache == nil && willStore == nil ? nil : self }

    func layer(over next: any TransferRunning) -> any TransferRunning {
        CachedTransfers(cache ?? .empty, willStore: willStore, over: next)
    }
}

extension ResponseCache {
    /// The cache used if only a handler is set. It stores nothing.
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
    /// The cache of responses, which follows [RFC 9111](https://www.rfc-editor.org/rfc/rfc9111). Defaults to
    /// `nil`: no cache.
    ///
    /// Every request passes through the cache, after redirects and before the network, according to its
    /// `cachePolicy` and its `Cache-Control` field. Managers with the same cache share its responses. A
    /// response is reused only for requests of the same user: those with the same credential and the same
    /// values of fields such as `Authorization`, `X-Api-Key`, `Cookie` (including the cookies of a jar) and
    /// those in ``RedirectPolicy/droppedHeaders``.
    public var cache: ResponseCache? {
        get { readTransferSettings { $0.cache } }
        set { changeTransferSettings(named: #function) { $0.cache = newValue } }
    }
}
