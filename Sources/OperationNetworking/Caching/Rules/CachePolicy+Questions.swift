internal import Foundation
internal import FoundationNetworking

/// The requests that go to the server in place of the client's
/// ([RFC 9111 §4.3.1](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.1)).
extension CachePolicy {
    private static let conditions = [
        "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range",
    ]

    /// The fields that ask whether the response is still good.
    ///
    /// A client's own condition is replaced if ours asks the same. If it is about another version, the client
    /// needs the answer to its own.
    ///
    /// - Returns: `nil`: the response has no validator, or the client's condition has to go out.
    func validationFields(_ candidate: CachedHead, for request: CacheRequest) -> HeaderFields? {
        guard let condition = Self.condition(of: candidate.fields) else { return nil }
        if request.hasCondition, !ClientCondition(request.fields).isHeld(by: candidate) { return nil }
        var fields = request.fieldsToSend
        fields["If-None-Match"] = nil
        fields["If-Modified-Since"] = nil
        for field in condition.fields {
            // RFC 9111 §4.3.1: the date goes along with the tag only where the whole is asked for.
            if field.name == "If-Modified-Since", request.range != nil, condition.count > 1 { continue }
            fields.append(name: field.name, value: field.value)
        }
        return fields
    }

    /// The fields of a request of our own that brings the response up to date, in the background.
    func backgroundFields(_ candidate: CachedHead, for request: CacheRequest) -> HeaderFields {
        var fields = request.fieldsToSend
        for name in Self.conditions { fields[name] = nil }
        fields["Range"] = nil
        for field in Self.condition(of: candidate.fields)?.fields ?? [] {
            fields.append(name: field.name, value: field.value)
        }
        return fields
    }

    /// `If-None-Match` and `If-Modified-Since`, as far as the response has validators, octet for octet.
    private static func condition(of fields: HeaderFields) -> HeaderFields? {
        var condition = HeaderFields()
        let tags = fields.values(for: "ETag")
        if let tag = tags.first, tags.allSatisfy({ $0 == tag }), EntityTag(fieldValue: tag) != nil {
            condition.append(name: "If-None-Match", value: tag)
        }
        let dates = fields.values(for: "Last-Modified")
        if let date = dates.first, dates.allSatisfy({ $0 == date }),
            HTTPDate(fieldValue: date, isLenient: true) != nil
        {
            condition.append(name: "If-Modified-Since", value: date)
        }
        return condition.isEmpty ? nil : condition
    }
}
