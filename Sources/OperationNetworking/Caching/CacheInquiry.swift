/// Decides what the response to a request is used for, given the responses that are stored. A value without
/// side effects.
struct CacheInquiry: Sendable {
    /// The use of a response, decided by its head.
    enum Use: Sendable {
        /// Pass the response to the client, and store it with this head if there is one.
        case pass(CachedHead?)
        /// Give the candidates these heads, and serve the first one.
        case freshen([(index: Int, head: CachedHead)])
        /// The server failed: serve the candidate with this index, although it is stale.
        case serveStale(Int, CacheReply)
        /// Send the request again without a condition, and remove the candidate with this index.
        case askAgain(forgetting: Int)
    }

    /// The index of the candidate that may still be valid; `nil` if no stored response can be used.
    let validated: Int?
    let request: CacheRequest
    let candidates: [CachedHead]
    /// When the request was sent, in seconds since 1970.
    let time: Double

    /// | Response                                       | Use                                             |
    /// |------------------------------------------------|-------------------------------------------------|
    /// | to a validation: 304 for a candidate           | freshen                                         |
    /// | to a validation: 304 for no known version      | askAgain                                        |
    /// | a failure of the server                        | serveStale if allowed, pass otherwise           |
    /// | anything else                                  | pass                                            |
    func use(of head: ResponseHead, now: Double) -> Use {
        if let index = validated, head.status == 304 {
            let fresh = CachePolicy.freshened(
                candidates,
                asked: index,
                by: head,
                for: request,
                requestTime: time,
                responseTime: now
            )
            return fresh.isEmpty ? .askAgain(forgetting: index) : .freshen(fresh)
        }
        if head.status >= 500, let (index, reply) = staleReply(now: now, after: .status(head.status)) {
            return .serveStale(index, reply)
        }
        return .pass(
            CachePolicy.stored(head, for: request, requestTime: time, responseTime: now)
        )
    }

    /// The candidate to serve after a failure, and its reply; `nil` if no stale response may be served. A
    /// candidate without a validator is considered as well, although the server could not be asked about it.
    func staleReply(now: Double, after failure: CacheFailure) -> (index: Int, reply: CacheReply)? {
        CachePolicy.staleReply(from: candidates, to: request, now: now, after: failure)
    }

    /// Whether the stored response may answer equal requests without a validation.
    func isReusable(_ stored: CachedHead, now: Double) -> Bool {
        guard case .serve = CachePolicy.answer(to: request, from: [stored], now: now) else { return false }
        return true
    }
}
