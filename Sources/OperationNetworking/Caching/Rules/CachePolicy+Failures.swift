internal import Foundation
internal import FoundationNetworking

/// Stale responses in place of failures
/// ([RFC 9111 §4.2.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.4)).
extension CachePolicy {
    /// How long, in seconds, a stale response is served while the server cannot be reached (§4.2.4), unless
    /// the server or the request forbids it.
    private static let maximumStalenessWhenUnreachable: Double = 7 * 86_400

    /// The reply to serve after a failure to validate the response; `nil` if the failure has to be reported.
    ///
    /// | Failure                 | Served                                                                    |
    /// |-------------------------|---------------------------------------------------------------------------|
    /// | 500, 502, 503, 504      | within `stale-if-error` of the response or the request (RFC 5861 §4)      |
    /// | unreachable             | the same, or within ``maximumStalenessWhenUnreachable`` (RFC 9111 §4.2.4) |
    ///
    /// Nothing is served with `no-cache`, with `must-revalidate`, or after an unsafe method. A request that
    /// asks for validation, or for a younger or fresher response, receives a stale one only if it has
    /// `stale-if-error` itself.
    static func staleReply(
        _ candidate: CachedHead,
        to request: CacheRequest,
        now: Double,
        after failure: CacheFailure
    ) -> CacheReply? {
        let response = candidate.directives
        let wanted = request.directives
        guard request.isReadOnly, !request.hasServerCondition, !wanted.has("no-store"),
            matches(candidate, request), CacheSelection(candidate, request) != nil,
            !mustBeValidated(candidate), !isRetried(candidate, by: request)
        else { return nil }
        let freshness = Freshness(candidate, now: now)
        if response.has("must-revalidate"), !freshness.isFresh { return nil }
        switch request.policy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: return nil
        default: break
        }
        let isDemanding =
            request.wantsValidation || request.policy == .reloadRevalidatingCacheData
            || wanted.has("max-age") || wanted.has("min-fresh")
        var window = wanted.seconds("stale-if-error").value(malformed: nil) ?? -1
        if !isDemanding {
            window = max(window, response.seconds("stale-if-error").value(malformed: nil) ?? -1)
        }
        switch failure {
        case .status(let code):
            guard ResponseStatus(code).isServerFailure else { return nil }
        case .unreachable:
            if !isDemanding { window = max(window, maximumStalenessWhenUnreachable) }
        }
        guard window >= 0, -freshness.remaining <= window else { return nil }
        return reply(candidate, to: request, now: now, source: .stale)
    }

    /// The same for all responses stored under a key. It is also used after ``CacheAnswer/fetch``: a response
    /// without a validator cannot be validated, but may be better than none.
    ///
    /// - Returns: the most recent response that may be served, and its index.
    static func staleReply(
        from candidates: [CachedHead],
        to request: CacheRequest,
        now: Double,
        after failure: CacheFailure
    ) -> (index: Int, reply: CacheReply)? {
        let order = candidates.indices.sorted { isOlder(candidates[$1], than: candidates[$0]) }
        for index in order {
            if let reply = staleReply(candidates[index], to: request, now: now, after: failure) {
                return (index, reply)
            }
        }
        return nil
    }
}
