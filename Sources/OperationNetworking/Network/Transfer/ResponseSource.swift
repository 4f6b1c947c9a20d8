/// The place that a response came from: see ``TransferMetrics/source``.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ResponseSource: String, Hashable, Codable, Sendable, CaseIterable {
    /// The server, or what answers in its place.
    case network
    /// The cache, which was sure that the server would answer the same.
    case cache
    /// The cache, after the server had confirmed it, or had sent what was missing.
    case validated
    /// The cache, older than the server wants it: the request, or the server, allows that for now.
    case stale
}
