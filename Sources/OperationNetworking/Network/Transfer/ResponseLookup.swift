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
