internal import Foundation

/// The responses that are stored ([RFC 9111 §3](https://www.rfc-editor.org/rfc/rfc9111#section-3)).
extension CachePolicy {
    /// The fields that are about one connection or proxy (RFC 9111 §3.1, RFC 9110 §7.6.1), or one exchange: a
    /// nonce for the next request (RFC 7616 §3.5) is old in a stored response.
    private static let connectionFields: Set<String> = [
        "authentication-info", "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info",
        "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// The fields that no `Connection` can take away: without them a response would be believed for longer,
    /// or by others, than its server wants.
    private static let protectedFields: Set<String> = [
        "age", "cache-control", "content-encoding", "content-length", "content-range", "date", "etag",
        "expires",
        "last-modified", "pragma", "vary",
    ]

    /// The head to store.
    ///
    /// - Parameters:
    ///   - head: as it came.
    ///   - request: the one that it answers.
    ///   - requestTime: seconds since 1970, when the request was sent.
    ///   - responseTime: seconds since 1970, when the head came.
    /// - Returns: `nil`: the response is not stored. Its extent is the one that the head announces, until
    ///   ``CachedHead/ended(at:isWhole:)``.
    func stored(
        _ head: ResponseHead,
        for request: CacheRequest,
        requestTime: Double,
        responseTime: Double
    ) -> CachedHead? {
        guard request.isAskerKnown, !request.directives.has("no-store"), requestTime.isFinite,
            responseTime.isFinite, isStorable(head), let selecting = SelectingFields(vary: head.fields),
            let body = Self.extent(of: head, for: request)
        else { return nil }
        var stored = CachedHead(
            url: request.key.url,
            method: request.method,
            head: head,
            selecting: selecting.values(in: request.selectingFields),
            authorization: request.authorization,
            requestTime: requestTime,
            responseTime: responseTime,
            body: body,
            isDecoded: request.decodesContent && head.fields.hasContentCoding
        )
        guard Self.isAnswerToRead(stored, request), head.status != 206 || !stored.isDecoded else {
            return nil
        }
        stored.head.fields = Self.endToEnd(head.fields)
        // By the server's own `Date`, not by the one that is added.
        stored.hasWeakValidator = EntityValidator(head.fields).ifRange == nil
        if stored.head.fields["Date"] == nil {
            // RFC 9110 §6.6.1.
            stored.head.fields["Date"] = HTTPDate(Date(timeIntervalSince1970: responseTime)).text
        }
        return stored
    }

    /// The stored responses whose place a new one takes: those that would answer its request, and those that
    /// can answer none. Other variants stay.
    ///
    /// - Parameters:
    ///   - candidates: all that is stored under the key.
    ///   - new: about to be stored.
    ///   - request: the one that it answers.
    /// - Returns: their indices.
    func replaced(_ candidates: [CachedHead], by new: CachedHead, for request: CacheRequest) -> [Int] {
        candidates.indices.filter { index in
            let old = candidates[index]
            guard let vary = old.meaning.selecting, !forbidsStoring(old) else { return true }
            guard old.isDecoded == new.isDecoded, old.authorization == new.authorization else { return false }
            return vary.names == new.meaning.selecting?.names && old.selecting == new.selecting
                || matches(old, request)
        }
    }

    /// Whether RFC 9111 §3 lets a private cache store the response to a GET.
    private func isStorable(_ head: ResponseHead) -> Bool {
        let status = ResponseStatus(head.status)
        let directives = CacheDirectives(head.fields)
        guard !status.isNeverStored, !forbidsStoring(status, directives) else { return false }
        // Only the text of a field is kept: that of another address.
        if RedirectPolicy.isRedirect(head), !head.latin1Values.isEmpty { return false }
        if directives.has("must-understand"), !status.isUnderstood { return false }
        return status.isHeuristicallyCacheable || head.fields["Expires"] != nil
            || ["max-age", "public", "private"].contains { directives.allows($0) }
    }

    /// Whether `no-store` forbids to keep the response (RFC 9111 §5.2.2.5); beside `must-understand` it is
    /// for caches that do not know the status (§5.2.2.3).
    func forbidsStoring(_ candidate: CachedHead) -> Bool {
        forbidsStoring(ResponseStatus(candidate.head.status), candidate.directives)
    }

    /// The same of one that has just come.
    func forbidsStoring(_ head: ResponseHead) -> Bool {
        forbidsStoring(ResponseStatus(head.status), CacheDirectives(head.fields))
    }

    private func forbidsStoring(_ status: ResponseStatus, _ directives: CacheDirectives) -> Bool {
        directives.has("no-store") && !(directives.allows("must-understand") && status.isUnderstood)
    }

    /// Whether the response may answer a GET: that to a GET, and that to a POST which says that it is what a
    /// GET of the same URL would get, and for how long
    /// ([RFC 9110 §9.3.3](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.3)).
    private static func isAnswerToRead(_ stored: CachedHead, _ request: CacheRequest) -> Bool {
        switch request.method {
        case "GET":
            return !request.hasBody
        case "POST":
            guard stored.head.status == 200, (stored.meaning.explicitLifetime ?? 0) > 0,
                let url = stored.head.location("Content-Location", from: request.url)?.url
            else { return false }
            return CacheKey.text(of: url) == request.key.url
        default:
            return false
        }
    }

    /// The bytes that a head announces; `nil`: a part that cannot be stored.
    private static func extent(of head: ResponseHead, for request: CacheRequest) -> CachedExtent? {
        guard head.status == 206 else {
            let length =
                head.fields.hasContentCoding && request.decodesContent ? nil : head.fields.contentLength
            return CachedExtent(range: 0..<(length ?? 0), completeLength: length, isComplete: false)
        }
        let texts = head.fields.values(for: "Content-Range")
        // A client that has the rest does not get all fields with its part (RFC 9110 §15.3.7).
        guard request.fields["If-Range"] == nil, !head.fields.isMultipartByteranges, texts.count == 1,
            let range = try? ContentRange(fieldValue: texts[0]), let bytes = range.bytes
        else { return nil }
        if let length = head.fields.contentLength, length != bytes.upperBound - bytes.lowerBound {
            return nil
        }
        return CachedExtent(range: bytes, completeLength: range.total, isComplete: false)
    }

    /// Without what is about the connection (RFC 9111 §3.1).
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
