internal import Foundation
internal import FoundationNetworking

extension CachePolicy {
    /// The fields that a 304 has (RFC 9110 §15.4.5), and those that show that it came from a cache.
    private static let notModifiedFields: Set<String> = [
        "age", "cache-control", "content-location", "date", "etag", "expires", "last-modified", "vary",
    ]

    /// The reply made of a stored response: with its age (RFC 9111 §4), limited to the client's range, or as
    /// a 304 to the client's own condition.
    ///
    /// - Parameters:
    ///   - candidate: a candidate that ``answer(to:from:now:)`` has chosen, with its current head.
    ///   - request: the client's request.
    ///   - now: the time, in seconds since 1970.
    ///   - source: `.validated` if the server has just confirmed the response.
    /// - Returns: the head, and the range of the body.
    static func reply(_ candidate: CachedHead, to request: CacheRequest, now: Double, source: ResponseSource)
        -> CacheReply
    {
        var head = candidate.head
        if source != .validated, let excluded = candidate.directives.fieldNames("no-cache") {
            head.fields.removeAll { excluded.contains($0.name.lowercased()) }
        }
        // A 304 without `Age` came from the server itself and through no other cache (RFC 9111 §5.1).
        if source != .validated || head.fields["Age"] != nil {
            head.fields["Age"] = String(Int64(Freshness(candidate, now: now).age))
        }
        if candidate.hasWeakValidator, case .strongETag(let tag) = EntityValidator(head.fields) {
            // With a strong tag, a client would combine these bytes with the server's.
            head.fields["ETag"] = "W/" + tag.rawValue
        }
        if request.hasCondition, ClientCondition(request.fields).isHeld(by: candidate) {
            head.status = 304
            head.fields.removeAll { !notModifiedFields.contains($0.name.lowercased()) }
            return CacheReply(head: head, body: 0..<0, source: source)
        }
        guard request.method != "HEAD" else { return CacheReply(head: head, body: 0..<0, source: source) }
        switch CacheSelection(candidate, request) ?? .whole {
        case .bytes(let bytes):
            // These digests cover the whole content (RFC 9530 §2).
            head.fields["Content-Digest"] = nil
            head.fields["Content-MD5"] = nil
            head.status = 206
            head.fields["Content-Range"] =
                "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(candidate.length)"
            head.fields["Content-Length"] = "\(bytes.upperBound - bytes.lowerBound)"
            return CacheReply(head: head, body: bytes, source: source)
        case .unsatisfiable(let length):
            head.status = 416
            head.fields.removeAll { !notModifiedFields.contains($0.name.lowercased()) }
            head.fields["Content-Range"] = "bytes */\(length)"
            head.fields["Content-Length"] = "0"
            return CacheReply(head: head, body: 0..<0, source: source)
        case .whole:
            if !candidate.isDecoded, candidate.head.status != 204, head.fields["Content-Length"] == nil {
                // A chunked body ended with its last chunk; this one has a length.
                head.fields["Content-Length"] = "\(candidate.length)"
            }
            return CacheReply(head: head, body: 0..<candidate.length, source: source)
        }
    }
}
