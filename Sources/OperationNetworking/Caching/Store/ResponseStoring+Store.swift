extension ResponseStoring {
    /// The cache as a store: a ``ResponseCache`` is one, others are wrapped.
    var cacheStore: any CacheStore {
        (self as? ResponseCache)?.store ?? WrappedStore(self)
    }
}
