internal import Foundation

/// Decides which responses are stored ([RFC 9111 §3](https://www.rfc-editor.org/rfc/rfc9111#section-3)).
extension CachePolicy {
    /// The fields that concern one connection or proxy (RFC 9111 §3.1, RFC 9110 §7.6.1), or one exchange: a
    /// stored nonce for the next request (RFC 7616 §3.5) would be outdated.
    private static let connectionFields: Set<String> = [
        "authentication-info", "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info",
        "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// The fields that are kept even if `Connection` lists them. Without them a response would be reused for
    /// longer, or for more users, than its server wants.
    private static let protectedFields: Set<String> = [
        "age", "cache-control", "content-encoding", "content-length", "content-range", "date", "etag",
        "expires",
        "last-modified", "pragma", "vary",
    ]

    /// The head to store.
    ///
    /// - Parameters:
    ///   - head: the head as received.
    ///   - request: the request.
    ///   - requestTime: when the request was sent, in seconds since 1970.
    ///   - responseTime: when the head was received, in seconds since 1970.
    /// - Returns: the head, or `nil` if the response must not be stored. Its length is the announced one
    ///   until ``CachedHead/ended(at:isWhole:)``.
    static func stored(
        _ head: ResponseHead,
        for request: CacheRequest,
        requestTime: Double,
        responseTime: Double
    ) -> CachedHead? {
        guard request.isIdentityKnown, !request.directives.has("no-store"), requestTime.isFinite,
            responseTime.isFinite, isStorable(head), isWhole(head, for: request),
            let selecting = SelectingFields(vary: head.fields)
        else { return nil }
        let isDecoded = request.decodesContent && head.fields.hasContentCoding
        var kept = head
        kept.fields = endToEnd(head.fields)
        if kept.fields["Date"] == nil {
            // RFC 9110 §6.6.1.
            kept.fields["Date"] = HTTPDate(Date(timeIntervalSince1970: responseTime)).text
        }
        let stored = CachedHead(
            url: request.key.url,
            method: request.method,
            head: kept,
            selecting: selecting.values(in: request.selectingFields),
            identity: request.identity,
            requestTime: requestTime,
            responseTime: responseTime,
            length: isDecoded ? 0 : head.fields.contentLength ?? 0,
            isDecoded: isDecoded,
            // By the server's own `Date`; the one added above proves nothing.
            hasWeakValidator: EntityValidator(head.fields).ifRange == nil
        )
        guard isAnswerToRead(stored, head, request) else { return nil }
        return stored
    }

    /// The stored responses that a new one replaces: those that would answer its request, and those that can
    /// answer none. Other variants stay.
    ///
    /// - Parameters:
    ///   - candidates: all responses stored under the key.
    ///   - new: the response about to be stored.
    ///   - request: its request.
    /// - Returns: their indices.
    static func replaced(_ candidates: [CachedHead], by new: CachedHead, for request: CacheRequest) -> [Int] {
        candidates.indices.filter { index in
            let old = candidates[index]
            guard let vary = old.meaning.selecting, !forbidsStoring(old) else { return true }
            guard old.isDecoded == new.isDecoded, old.identity == new.identity else { return false }
            return vary.names == new.meaning.selecting?.names && old.selecting == new.selecting
                || matches(old, request)
        }
    }

    /// Whether RFC 9111 §3 lets a private cache store the response to a GET.
    private static func isStorable(_ head: ResponseHead) -> Bool {
        let status = ResponseStatus(head.status)
        let directives = CacheDirectives(head.fields)
        guard !status.isNeverStored, !forbidsStoring(status, directives) else { return false }
        // Only a field's text is stored. As text, a location in Latin-1 would name another address.
        if RedirectPolicy.isRedirect(head), !head.latin1Values.isEmpty { return false }
        if directives.has("must-understand"), !status.isUnderstood { return false }
        return status.isHeuristicallyCacheable || head.fields["Expires"] != nil
            || ["max-age", "public", "private"].contains { directives.allows($0) }
    }

    /// Whether a successful response certainly has the whole representation. Some servers send a part without
    /// the status 206 ([row S28](https://www.rfc-editor.org/rfc/rfc9110#section-14.4)).
    ///
    /// | Success                                                     | Whole                               |
    /// |-------------------------------------------------------------|-------------------------------------|
    /// | with a `Content-Range`                                      | if that covers everything           |
    /// | to a `Range` that begins later, or that ends                | if `Content-Range` covers everything |
    /// | to `bytes=0-`, or without a `Range`                         | yes                                 |
    private static func isWhole(_ head: ResponseHead, for request: CacheRequest) -> Bool {
        guard (200..<300).contains(head.status) else { return true }
        guard head.fields.saysWhole() else { return false }
        guard let range = request.range, head.fields["Content-Range"] == nil else { return true }
        return range.requested == .bytes([.from(0)])
    }

    /// Whether `no-store` forbids storing the response (RFC 9111 §5.2.2.5). Beside `must-understand`, it only
    /// applies to a cache that does not know the status (§5.2.2.3).
    static func forbidsStoring(_ candidate: CachedHead) -> Bool {
        forbidsStoring(ResponseStatus(candidate.head.status), candidate.directives)
    }

    private static func forbidsStoring(_ status: ResponseStatus, _ directives: CacheDirectives) -> Bool {
        directives.has("no-store") && !(directives.allows("must-understand") && status.isUnderstood)
    }

    /// Whether the response may answer a GET. True for the response to a GET, and for one to a POST that
    /// states its lifetime and that it equals the response to a GET of its URL ([RFC 9110
    /// §9.3.3](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.3)).
    private static func isAnswerToRead(
        _ stored: CachedHead,
        _ head: ResponseHead,
        _ request: CacheRequest
    ) -> Bool {
        switch request.method {
        case "GET":
            return !request.hasBody
        case "POST":
            guard head.status == 200, (stored.meaning.explicitLifetime ?? 0) > 0,
                let url = head.location("Content-Location", from: request.url)?.url
            else { return false }
            return CacheKey.text(of: url) == request.key.url
        default:
            return false
        }
    }

    /// The fields without those that concern the connection (RFC 9111 §3.1).
    static func endToEnd(_ fields: HeaderFields) -> HeaderFields {
        var dropped = connectionFields
        for value in fields.values(for: "Connection") {
            for name in FieldList(value).members.lazy.map({ $0.lowercased() })
            where !protectedFields.contains(name) {
                dropped.insert(name)
            }
        }
        var kept = fields
        kept.removeAll { dropped.contains($0.name.lowercased()) }
        return kept
    }
}

extension CachedHead {
    /// Whether this response makes `stored` redundant, which was stored after this one's request was sent.
    /// Many equal requests at once would leave one response each.
    ///
    /// | The stored response                                                                | Redundant |
    /// |------------------------------------------------------------------------------------|-----------|
    /// | to other requests: other fields that `Vary` names, other credentials, another coding | no      |
    /// | newer, by the server's time                                                        | no        |
    /// | any other                                                                          | yes       |
    func overtakes(_ stored: CachedHead) -> Bool {
        stored.isDecoded == isDecoded && stored.identity == identity && stored.selecting == selecting
            && stored.meaning.selecting?.names == meaning.selecting?.names
            && !CachePolicy.isOlder(self, than: stored)
    }
}
