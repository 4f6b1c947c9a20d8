/// How a cache is used for one request, decided before the request is sent.
enum CacheAnswer: Sendable {
    /// No stored response can be used: send the request, with ``CacheRequest/fieldsToSend``.
    case fetch
    /// The candidate with this index answers the request.
    case serve(Int, CacheReply)
    /// Send these fields instead of the request's; a 304 confirms the candidate.
    case validate(Int, HeaderFields)
    /// Only a stored response is wanted and none exists: a 504 (Gateway Timeout) by RFC 9111 §5.2.1.7.
    case unavailable
}

/// The response that the client receives from the cache.
struct CacheReply: Hashable, Sendable {
    /// The head, with `Age`. The status is the stored one, or 206, 304 or 416 if the client's own range or
    /// condition asks for that.
    ///
    /// It includes a stored `Set-Cookie`, as RFC 9111 §7.3 wants. A jar does not store that again: it takes
    /// cookies from the network only.
    var head: ResponseHead
    /// The range of the stored body to send; empty for none.
    var body: Range<Int64>
    /// The source that the caller sees: `.cache` for a fresh response.
    var source: ResponseSource
    /// The fields of the GET that validates the response in the background (`stale-while-revalidate`).
    var revalidation: HeaderFields?
}

/// A failure after which a stale response may be served.
enum CacheFailure: Hashable, Sendable {
    /// The server gave no response: it had no address, no connection, or the connection was lost. A refused
    /// certificate does not count.
    case unreachable
    /// The server responded with this status.
    case status(Int)
}
