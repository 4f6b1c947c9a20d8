/// The use of a cache for one request, decided before it is sent.
enum CacheAnswer: Sendable {
    /// Nothing is of use: send the request, with ``CacheRequest/fieldsToSend``.
    case fetch
    /// The candidate of that index answers.
    case serve(Int, CacheReply)
    /// Send these fields instead of the request's; a 304 confirms the candidate. The reply is the stale one,
    /// which ``CachePolicy/staleReply(_:to:now:after:)`` may allow after a failure.
    case validate(Int, HeaderFields, CacheReply)
    /// Only a stored response is wanted and there is none: a 504 (Gateway Timeout) by RFC 9111 §5.2.1.7.
    case unavailable
}

/// The response that the client gets from the cache.
struct CacheReply: Hashable, Sendable {
    /// With `Age`. The status is the stored one, or 206, 304 or 416 as the client's own range and condition
    /// want it.
    ///
    /// A stored `Set-Cookie` is in it, as the RFC wants (§7.3), and is not new: a jar takes cookies from the
    /// network only.
    var head: ResponseHead
    /// The bytes of the stored body to hand over; empty: none.
    var body: Range<Int64>
    var use: CacheUse
    /// stale-while-revalidate: the fields of the GET that goes on in the background.
    var revalidation: HeaderFields?
}

/// The standing of a response that comes from the cache.
enum CacheUse: Hashable, Sendable {
    case fresh
    /// The server has just confirmed it.
    case validated
    case stale
}

/// A failure after which a stale response may be better than none.
enum CacheFailure: Hashable, Sendable {
    /// No answer: no address, no connection, or one that was lost. Not a refused certificate.
    case unreachable
    /// An answer of that status.
    case status(Int)
}
