internal import Foundation
internal import FoundationNetworking

/// The rules of a private cache ([RFC 9111](https://www.rfc-editor.org/rfc/rfc9111)), as functions of the
/// stored responses, the request and the time. They use no clock, file or socket.
enum CachePolicy {
    /// Whether a stored response may be served for a request.
    private enum Reuse {
        case fresh
        /// The response is stale, and the request accepts that.
        case acceptedStale
        /// The response is stale, and is served while it is validated (RFC 5861 §3).
        case staleWhileRevalidate
        case needsValidation
    }

    /// Decides how the stored responses are used for a request.
    ///
    /// - Parameters:
    ///   - request: the request of one hop.
    ///   - candidates: all responses stored under its key.
    ///   - now: the time, in seconds since 1970.
    /// - Returns: the candidate to serve, or the request to send.
    static func answer(to request: CacheRequest, from candidates: [CachedHead], now: Double) -> CacheAnswer {
        let missing: CacheAnswer = request.wantsOnlyStored ? .unavailable : .fetch
        guard request.isReadOnly, !request.hasServerCondition, !request.directives.has("no-store") else {
            return missing
        }
        switch request.policy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: return missing
        default: break
        }
        // A head has a dozen references. Accessed through a span, none of them is retained.
        let heads = candidates.span
        // The most recent one (RFC 9111 §4).
        var newest: Int?
        for index in heads.indices
        where matches(heads[index], request) && CacheSelection(heads[index], request) != nil {
            if let known = newest, !isOlder(heads[known], than: heads[index]) { continue }
            newest = index
        }
        guard let newest else { return missing }
        return answer(to: request, with: heads[newest], at: newest, now: now)
    }

    private static func answer(
        to request: CacheRequest,
        with candidate: CachedHead,
        at index: Int,
        now: Double
    ) -> CacheAnswer {
        let freshness = Freshness(candidate, now: now)
        switch request.policy {
        case .returnCacheDataElseLoad where isRetried(candidate, by: request): break
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad:
            let source: ResponseSource = freshness.isFresh && !mustBeValidated(candidate) ? .cache : .stale
            return .serve(index, reply(candidate, to: request, now: now, source: source))
        default: break
        }
        switch reuse(of: candidate, freshness, for: request) {
        case .fresh:
            return .serve(index, reply(candidate, to: request, now: now, source: .cache))
        case .acceptedStale:
            return .serve(index, reply(candidate, to: request, now: now, source: .stale))
        case .staleWhileRevalidate:
            var reply = reply(candidate, to: request, now: now, source: .stale)
            if !request.wantsOnlyStored {
                reply.revalidation = backgroundFields(candidate, for: request)
            }
            return .serve(index, reply)
        case .needsValidation:
            if request.wantsOnlyStored { return .unavailable }
            guard let fields = validationFields(candidate, for: request) else { return .fetch }
            return .validate(index, fields)
        }
    }

    // MARK: - Choosing

    /// Whether RFC 9111 §4 lets the response answer the request, at once or after a validation.
    static func matches(_ candidate: CachedHead, _ request: CacheRequest) -> Bool {
        guard candidate.url == request.key.url, candidate.method == "GET" || candidate.method == "POST",
            !candidate.head.fields.hasContentCoding || candidate.isDecoded == request.decodesContent,
            !forbidsStoring(candidate), candidate.identity == request.identity,
            let selecting = candidate.meaning.selecting
        else { return false }
        // Without `Vary`, the fields of the request are not needed.
        guard !selecting.names.isEmpty else { return true }
        let language = candidate.fields.combined(for: "Content-Language")
        return selecting.match(candidate.selecting, request.selectingFields, language: language)
    }

    /// Compares by the server's time, then by the local time. The server's time counts up to the time at which
    /// the response was received: its clock may be ahead.
    static func isOlder(_ one: CachedHead, than other: CachedHead) -> Bool {
        (min(one.time, one.responseTime), one.responseTime)
            < (min(other.time, other.responseTime), other.responseTime)
    }

    // MARK: - Freshness

    /// Whether the response must be validated even if it is fresh: because of `no-cache` (§5.2.2.4), or after
    /// an unsafe method (§4.4).
    static func mustBeValidated(_ candidate: CachedHead) -> Bool {
        guard !candidate.isInvalidated else { return true }
        let directives = candidate.directives
        return directives.has("no-cache") && directives.fieldNames("no-cache") == nil
    }

    /// Whether the request would be retried after such a response.
    static func isRetried(_ candidate: CachedHead, by request: CacheRequest) -> Bool {
        request.retriedStatuses.contains(candidate.head.status)
    }

    private static func reuse(
        of candidate: CachedHead,
        _ freshness: Freshness,
        for request: CacheRequest
    ) -> Reuse {
        guard !mustBeValidated(candidate), !request.wantsValidation, !isRetried(candidate, by: request) else {
            return .needsValidation
        }
        let response = candidate.directives
        if request.policy == .reloadRevalidatingCacheData {
            // RFC 8246 §2: a reload does not validate an immutable response.
            return response.allows("immutable") && freshness.isFresh ? .fresh : .needsValidation
        }
        let wanted = request.directives
        if let maximum = wanted.seconds("max-age").value(malformed: 0) {
            guard maximum > 0, freshness.age <= maximum else { return .needsValidation }
        }
        if let minimum = wanted.seconds("min-fresh").value(malformed: .infinity) {
            guard freshness.remaining >= minimum else { return .needsValidation }
        }
        if freshness.isFresh { return .fresh }
        if response.has("must-revalidate") { return .needsValidation }
        let staleness = -freshness.remaining
        if wanted.has("max-stale") {
            let accepted =
                wanted.hasPlain("max-stale")
                ? .infinity : wanted.seconds("max-stale").value(malformed: nil) ?? -1
            if staleness <= accepted { return .acceptedStale }
        }
        // RFC 9111 §5.2.1.1: a request with `max-age` does not accept a stale response.
        guard !wanted.has("max-age"), !wanted.has("min-fresh"),
            let window = response.seconds("stale-while-revalidate").value(malformed: nil),
            staleness < window
        else { return .needsValidation }
        return .staleWhileRevalidate
    }
}
