internal import Foundation

/// Updates stored responses with new fields ([RFC 9111
/// §3.2](https://www.rfc-editor.org/rfc/rfc9111#section-3.2)).
extension CachePolicy {
    /// The fields that describe the stored bytes. A later head does not change them.
    private static let bodyFields: Set<String> = [
        "content-encoding", "content-length", "content-range",
        // They describe the content of the message (RFC 9530 §2), which a 304 does not have.
        "content-digest", "content-md5",
    ]

    /// The responses that a 304 updates (RFC 9111 §4.3.4).
    ///
    /// | The 304 has                                   | Updated                                                  |
    /// |-----------------------------------------------|----------------------------------------------------------|
    /// | a tag, and the response in question, too      | that, if they are weakly equal (invalid tags: if their octets are equal) |
    /// | a strong tag                                  | also all others that have it and answer the request      |
    /// | a date, and the response in question no tag   | that, if its date is equal                               |
    /// | a tag only, and the response in question none | none                                                     |
    /// | no tag, or no validator                       | the response in question                                 |
    ///
    /// The last row goes beyond the RFC, for servers that do not repeat the validator: the request named one
    /// version, so the 304 means that one.
    ///
    /// - Returns: the index and the new head of each, with the response in question first. If empty, the
    ///   request has to be sent again without a condition.
    static func freshened(
        _ candidates: [CachedHead],
        asked: Int,
        by head: ResponseHead,
        for request: CacheRequest,
        requestTime: Double,
        responseTime: Double
    ) -> [(index: Int, head: CachedHead)] {
        guard head.status == 304, candidates.indices.contains(asked), requestTime.isFinite,
            responseTime.isFinite, isSame(candidates[asked], head.fields)
        else { return [] }
        var indices = [asked]
        if let text = head.fields["ETag"], let tag = EntityTag(fieldValue: text) {
            indices += candidates.indices.filter { index in
                // Responses for another user, or in another language, were not in question.
                index != asked && candidates[index].validator == .strongETag(tag)
                    && matches(candidates[index], request)
            }
        }
        return indices.map { index in
            var candidate = candidates[index]
            update(&candidate, with: head.fields, requestTime: requestTime, responseTime: responseTime)
            candidate.isInvalidated = false
            select(&candidate, for: request)
            return (index, candidate)
        }
    }

    /// The responses that a HEAD updates, and those that it invalidates (RFC 9111 §4.3.5).
    ///
    /// | HEAD                                          | Response to GET                            |
    /// |-----------------------------------------------|--------------------------------------------|
    /// | 200, validators and length are equal          | updated                                    |
    /// | 200, one of them differs                      | invalidated                                |
    /// | 404, 410                                      | invalidated                                |
    /// | another status                                | unchanged                                  |
    ///
    /// - Returns: the indices.
    static func updated(
        _ candidates: [CachedHead],
        byHEAD head: ResponseHead,
        for request: CacheRequest,
        requestTime: Double,
        responseTime: Double
    ) -> (updated: [(Int, CachedHead)], invalidated: [Int]) {
        guard request.method == "HEAD", !request.hasBody, requestTime.isFinite, responseTime.isFinite else {
            return ([], [])
        }
        let isToBeStored = !request.directives.has("no-store")
        let concerned = candidates.indices.filter { matches(candidates[$0], request) }
        switch head.status {
        case 200:
            let same = concerned.filter { isSame(candidates[$0], asHEAD: head.fields) }
            let updated = same.map { index in
                var candidate = candidates[index]
                update(
                    &candidate,
                    with: head.fields,
                    requestTime: requestTime,
                    responseTime: responseTime
                )
                select(&candidate, for: request)
                return (index, candidate)
            }
            return (isToBeStored ? updated : [], concerned.filter { !same.contains($0) })
        case 404, 410:
            return ([], concerned)
        default:
            return ([], [])
        }
    }

    // MARK: - Comparing

    private static func isSame(_ candidate: CachedHead, _ fields: HeaderFields) -> Bool {
        let tags = fields.values(for: "ETag")
        let date = fields["Last-Modified"]
        if candidate.fields["ETag"] != nil {
            return tags.isEmpty || areTags(tags, of: candidate)
        }
        // A new tag names an unknown version, unless the date is equal.
        return date.map { $0 == candidate.fields["Last-Modified"] } ?? tags.isEmpty
    }

    private static func isSame(_ candidate: CachedHead, asHEAD fields: HeaderFields) -> Bool {
        let tags = fields.values(for: "ETag")
        if !tags.isEmpty, !areTags(tags, of: candidate) { return false }
        if let date = fields["Last-Modified"], candidate.fields["Last-Modified"] != date { return false }
        guard candidate.head.status == 200 else { return false }
        let isSameCoding =
            fields.combined(for: "Content-Encoding") == candidate.fields.combined(for: "Content-Encoding")
        guard isSameCoding, let length = fields.contentLength else { return true }
        let stored = candidate.isDecoded ? candidate.fields.contentLength : candidate.length
        return stored == nil || stored == length
    }

    /// Whether `tags` are the stored tag. Servers send values that are not entity tags, without quotes or
    /// with `w/`, and repeat them: equal octets mean the same version. No range is joined with such values
    /// (``EntityValidator``). A value with U+FFFD is never equal, because the original octets are unknown.
    private static func areTags(_ tags: [String], of candidate: CachedHead) -> Bool {
        guard let stored = candidate.fields["ETag"], !tags.isEmpty else { return false }
        if EntityTag.areWeaklyEqual(stored, tags) { return true }
        guard !stored.unicodeScalars.contains("\u{FFFD}") else { return false }
        return tags.allSatisfy { $0.utf8.elementsEqual(stored.utf8) }
    }

    // MARK: - Changing

    /// Replaces the fields that the response has, and the times. A new validator proves nothing about the
    /// stored bytes: a 304 says that they are equivalent, not that they are identical.
    private static func update(
        _ candidate: inout CachedHead,
        with fields: HeaderFields,
        requestTime: Double,
        responseTime: Double
    ) {
        let validator = candidate.validator
        var news = endToEnd(fields)
        news.removeAll { bodyFields.contains($0.name.lowercased()) }
        if news["Date"] == nil {
            // The stored date would make the response look older than it is.
            news["Date"] = HTTPDate(Date(timeIntervalSince1970: responseTime)).text
        }
        // Changed as a whole, because each change of the stored head parses it.
        var head = candidate.head
        let names = Set(news.fields.map { $0.name.lowercased() })
        head.fields.removeAll { field in
            let name = field.name.lowercased()
            return names.contains(name) || name == "age"
        }
        for field in news.fields { head.fields.append(name: field.name, value: field.value) }
        candidate.head = head
        candidate.requestTime = requestTime
        candidate.responseTime = responseTime
        if candidate.validator != validator { candidate.hasWeakValidator = true }
    }

    /// Stores the request's values of the fields that `Vary` names now.
    private static func select(_ candidate: inout CachedHead, for request: CacheRequest) {
        guard let selecting = candidate.meaning.selecting else { return }
        candidate.selecting = selecting.values(in: request.selectingFields)
    }
}
