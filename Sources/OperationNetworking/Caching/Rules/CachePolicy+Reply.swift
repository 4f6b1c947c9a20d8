internal import Foundation
internal import FoundationNetworking

extension CachePolicy {
    /// The fields of a 304 (RFC 9110 §15.4.5), and those that say that it came from a cache.
    private static let notModifiedFields: Set<String> = [
        "age", "cache-control", "content-location", "date", "etag", "expires", "last-modified", "vary",
    ]

    /// The response that the client gets from a stored one: with its age (RFC 9111 §4), cut to the client's
    /// range, or as a 304 for the client's own condition.
    ///
    /// - Parameters:
    ///   - candidate: one that ``answer(to:from:now:)`` has named, its head as it is now.
    ///   - request: the client's.
    ///   - now: seconds since 1970.
    ///   - use: says whether the server has just confirmed it.
    /// - Returns: the head, and the positions of the body.
    func reply(_ candidate: CachedHead, to request: CacheRequest, now: Double, use: CacheUse) -> CacheReply {
        var head = candidate.head
        if use != .validated, let excluded = candidate.directives.fieldNames("no-cache") {
            head.fields.removeAll { excluded.contains($0.name.lowercased()) }
        }
        // Without one the server itself has just spoken (RFC 9111 §5.1): its 304 came past no other cache.
        if use != .validated || head.fields["Age"] != nil {
            head.fields["Age"] = String(Int64(Freshness(candidate, options, now: now).age))
        }
        if candidate.hasWeakValidator, case .strongETag(let tag) = EntityValidator(head.fields) {
            // A client would join the server's bytes to these by it.
            head.fields["ETag"] = "W/" + tag.rawValue
        }
        if request.hasCondition, ClientCondition(request.fields).isHeld(by: candidate) {
            head.status = 304
            head.fields.removeAll { !Self.notModifiedFields.contains($0.name.lowercased()) }
            return CacheReply(head: head, body: 0..<0, use: use)
        }
        guard request.method != "HEAD" else { return CacheReply(head: head, body: 0..<0, use: use) }
        switch CacheSelection(candidate, request) ?? .whole {
        case .bytes(let bytes):
            // They are of the whole content (RFC 9530 §2).
            head.fields["Content-Digest"] = nil
            head.fields["Content-MD5"] = nil
            head.status = 206
            head.fields["Content-Range"] =
                "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(candidate.length)"
            head.fields["Content-Length"] = "\(bytes.upperBound - bytes.lowerBound)"
            return CacheReply(head: head, body: bytes, use: use)
        case .unsatisfiable(let length):
            head.status = 416
            head.fields.removeAll { !Self.notModifiedFields.contains($0.name.lowercased()) }
            head.fields["Content-Range"] = "bytes */\(length)"
            head.fields["Content-Length"] = "0"
            return CacheReply(head: head, body: 0..<0, use: use)
        case .whole:
            if !candidate.isDecoded, candidate.head.status != 204, head.fields["Content-Length"] == nil {
                // The end of a chunked body was its last chunk; here it is a number.
                head.fields["Content-Length"] = "\(candidate.length)"
            }
            return CacheReply(head: head, body: 0..<candidate.length, use: use)
        }
    }
}
