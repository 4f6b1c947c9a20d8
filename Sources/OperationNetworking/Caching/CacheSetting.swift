/// The cache of an operation, or of a manager's operations, as a layer before the network.
struct CacheSetting: TransferLayering {
    var place: CachePlace?
    var willStore: CacheResponseHandler?

    /// `nil` if nothing is set.
    var layer: CacheSetting? { place == nil && willStore == nil ? nil : self }

    func layer(over next: any TransferRunning) -> any TransferRunning {
        CachedTransfers(place ?? .empty, willStore: willStore, over: next)
    }
}

extension TransferSettings {
    var cacheSetting: CacheSetting {
        get { layers[.cache] as? CacheSetting ?? CacheSetting() }
        set { layers[.cache] = newValue.layer }
    }

    /// See ``TransferConfigurable/cache``.
    public var cache: (any ResponseStoring)? {
        get { cacheSetting.place?.cache }
        set { cacheSetting.place = newValue.map { CachePlace.of($0) } }
    }
}

extension TransferConfigurable {
    /// The cache of responses, by [RFC 9111](https://www.rfc-editor.org/rfc/rfc9111); `nil` (the
    /// default) is none. A ``ResponseCache``, a `URLCache`, or another one.
    ///
    /// Each request goes through it, after redirects and before the network, as its `cachePolicy` and its
    /// `Cache-Control` say. Managers with one cache share its responses. A response is only for requests that
    /// are sent as the same user: with the same credential, and the same values of fields such as
    /// `Authorization`, `X-Api-Key`, `Cookie` (a jar's cookies, too) and those of
    /// ``RedirectPolicy/droppedHeaders``.
    public var cache: (any ResponseStoring)? {
        get { readTransferSettings { $0.cache } }
        set { changeTransferSettings(named: #function) { $0.cache = newValue } }
    }
}
