/// One question to the server with a cache in between, and what its answer is good for: a value that decides.
struct CacheInquiry: Sendable {
    /// The purpose of a question.
    enum Purpose: Hashable, Sendable {
        /// Nothing that is stored is of use.
        case fetch
        /// The candidate of that index may still be good.
        case validate(Int)
        /// The candidate of that index holds the beginning.
        case complete(Int)
        /// The first candidate holds what the client has; the rest until that position is missing.
        case rest(until: Int64)
    }

    /// The use of an answer, decided by its head.
    enum Use: Sendable {
        /// The client gets it. It is stored, under that head, if there is one.
        case pass(CachedHead?)
        /// The client gets it; its bytes lengthen those of the candidate of that index.
        case append(Int, CachedHead)
        /// The client gets the bytes of the candidate of that index, and then those that come.
        case join(Int, CachedHead)
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
    /// | complete  | 206 that continues              | join                                                  |
    /// | complete  | another 206, 304, 416           | askAgain                                              |
    /// | rest      | 206 that continues to its end   | join                                                  |
    /// | rest      | another                         | pass, of no use                                       |
    /// | any       | a failure of the server         | serveStale where it is allowed, else pass             |
    /// | any       | 206 without a `Range` asked for | pass, not stored                                      |
    /// | any       | 206 the client asked for        | append where it continues a candidate; not stored     |
    /// |           |                                 | where a candidate holds more of the same, else pass   |
    /// | any       | another                         | pass                                                  |
    func use(of head: ResponseHead, now: Double) -> Use {
        switch purpose {
        case .validate(let index):
            if head.status == 304 {
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
        case .complete(let index):
            switch head.status {
            case 206:
                // Less than the rest would be a body that ends too early.
                guard case .append(let joined) = joining(index, by: head, now: now),
                    joined.body.completeLength == joined.body.range.upperBound
                else { return .askAgain(forgetting: index) }
                return .join(index, joined)
            case 304, 416:
                return .askAgain(forgetting: index)
            default:
                break
            }
        case .rest(let end):
            guard head.status == 206, case .append(let joined) = joining(0, by: head, now: now),
                joined.body.range.upperBound == end
            else { return .pass(nil) }
            return .join(0, joined)
        case .fetch:
            break
        }
        if head.status >= 500, let (index, reply) = staleReply(now: now, after: .status(head.status)) {
            return .serveStale(index, reply)
        }
        if head.status == 206 {
            guard isAsked(head) else { return .pass(nil) }
            for index in candidates.indices {
                switch joining(index, by: head, now: now) {
                case .append(let joined): return .append(index, joined)
                case .refuse: return .pass(nil)
                case .replace: break
                }
            }
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
        var stored = stored
        stored.body.isComplete = true
        guard case .serve = policy.answer(to: request, from: [stored], now: now) else { return false }
        return true
    }

    /// Whether the bytes of a 206 are among those that the client's own `Range` asks for. A server that sends
    /// a part to who wants the whole, or another part, is not to be believed about its place, either.
    private func isAsked(_ head: ResponseHead) -> Bool {
        guard let range = request.range, case .bytes(let wishes) = range.wish,
            let text = head.fields["Content-Range"], let part = try? ContentRange(fieldValue: text),
            let bytes = part.bytes
        else { return false }
        let asked = wishes.compactMap { $0.extent(of: part.total) }
        guard let start = asked.map(\.lowerBound).min(), let end = asked.map(\.upperBound).max() else {
            return false
        }
        return start <= bytes.lowerBound && bytes.upperBound <= end
    }

    /// The place of a 206 beside a candidate.
    private func joining(_ index: Int, by head: ResponseHead, now: Double) -> CacheJoining {
        var request = request
        // The rest of what the client holds: the candidate has the fields that such an answer may leave out.
        request.fields["If-Range"] = nil
        guard let part = policy.stored(head, for: request, requestTime: time, responseTime: now) else {
            return .replace
        }
        return policy.joining(candidates[index], part)
    }
}

extension RangeRequest.Bytes {
    /// The bytes that it asks for, of a whole whose length may not be known; `nil`: none, or any.
    fileprivate func extent(of total: Int64?) -> Range<Int64>? {
        if let total { return resolved(total) }
        return switch self {
        case .between(let first, let last): first <= last ? first..<max(last, last &+ 1) : nil
        case .from(let first): first..<Int64.max
        case .last: nil
        }
    }
}
