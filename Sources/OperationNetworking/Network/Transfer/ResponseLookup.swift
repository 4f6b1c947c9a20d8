import Foundation

/// A whole response that a layer before the network has.
struct KnownResponse: Sendable {
    var head: ResponseHead
    /// Whole, and decoded.
    var body: Data
    var metrics: TransferMetrics
}

/// A question to a layer for a response that it may have, asked before an exchange begins: what is known
/// needs no turn of the network thread.
protocol ResponseLookup: AnyObject, Sendable {
    /// Asks, once. Called on the thread that starts an operation, which waits for nothing here.
    ///
    /// - Parameter later: hears the answer once, if this returns `.later`: a response on a thread that may
    ///   take its time, `nil` on any. `nil`: the exchange has to begin.
    /// - Returns: the answer, if it is known.
    func ask(_ later: @escaping @Sendable (KnownResponse?) -> Void) -> LookupAnswer
}

/// The answer to a ``ResponseLookup``.
enum LookupAnswer: Sendable {
    case known(KnownResponse)
    /// The exchange has to begin.
    case nothing
    case later
}

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
