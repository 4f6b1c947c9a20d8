/// One question to the server with a cache in between, and what its answer is good for: a value that decides.
struct CacheInquiry: Sendable {
    /// The purpose of a question.
    enum Purpose: Hashable, Sendable {
        /// Nothing that is stored is of use.
        case fetch
        /// The candidate of that index may still be good.
        case validate(Int)
    }

    /// The use of an answer, decided by its head.
    enum Use: Sendable {
        /// The client gets it. It is stored, under that head, if there is one.
        case pass(CachedHead?)
        /// The candidates have these heads now; the client gets the first one.
        case freshen([(index: Int, head: CachedHead)])
        /// The server failed: the client gets the candidate of that index, stale as it is.
        case serveStale(Int, CacheReply)
        /// The same has to be asked without a condition. The candidate of that index is of no use any more.
        case askAgain(forgetting: Int)
    }

    let purpose: Purpose
    let request: CacheRequest
    let candidates: [CachedHead]
    let policy: CachePolicy
    /// Seconds since 1970, when it was asked.
    let time: Double

    /// | Asked for | Answer                          | Use                                                   |
    /// |-----------|---------------------------------|-------------------------------------------------------|
    /// | validate  | 304 about a candidate           | freshen                                               |
    /// | validate  | 304 about nothing that is known | askAgain                                              |
    /// | any       | a failure of the server         | serveStale where it is allowed, else pass             |
    /// | any       | another                         | pass                                                  |
    func use(of head: ResponseHead, now: Double) -> Use {
        if case .validate(let index) = purpose, head.status == 304 {
            let fresh = policy.freshened(
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
            policy.stored(head, for: request, requestTime: time, responseTime: now)
        )
    }

    /// The candidate and its reply after a failure, if a stale one may be served; `nil`: there is none. One
    /// without a validator could not be asked about, and is as good.
    func staleReply(now: Double, after failure: CacheFailure) -> (index: Int, reply: CacheReply)? {
        policy.staleReply(from: candidates, to: request, now: now, after: failure)
    }

    /// Whether the response, once it is stored, answers equal requests without a question to the server.
    func isReusable(_ stored: CachedHead, now: Double) -> Bool {
        guard case .serve = policy.answer(to: request, from: [stored], now: now) else { return false }
        return true
    }
}
