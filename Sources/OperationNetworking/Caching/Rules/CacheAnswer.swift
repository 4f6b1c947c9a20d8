/// The use of a cache for one request, decided before it is sent.
enum CacheAnswer: Sendable {
    /// Nothing is of use: send the request, with ``CacheRequest/fieldsToSend``.
    case fetch
    /// The candidate of that index answers.
    case serve(Int, CacheReply)
    /// Send these fields instead of the request's; a 304 confirms the candidate. The reply is the stale one,
    /// which ``CachePolicy/staleReply(_:to:now:after:)`` may allow after a failure.
    case validate(Int, HeaderFields, CacheReply)
    /// The candidate holds the beginning. Send these fields, which ask for the missing bytes if it still is
    /// the same version; `missing` ends at `Int64.max` when the length is not known.
    ///
    /// The answer is a 206, for ``CachePolicy/joining(_:_:)``; a 200, which is another version; or a 416:
    /// then nothing is missing that there is, and the request is sent again without a range.
    case complete(Int, HeaderFields, missing: Range<Int64>)
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
    /// The positions of the bytes to hand over, in the whole representation; empty: none. The stored body
    /// begins at the lower bound of its extent.
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

/// The use of a 206 beside a stored part.
enum CacheJoining: Hashable, Sendable {
    /// The part's bytes follow the held ones; the head is the one to commit, after
    /// ``CachedHead/ended(at:isWhole:)``.
    case append(CachedHead)
    /// The part is of another version, or of more use: store it in place of the held one.
    case replace
    /// The held bytes stay, and the part is not stored.
    case refuse
}
