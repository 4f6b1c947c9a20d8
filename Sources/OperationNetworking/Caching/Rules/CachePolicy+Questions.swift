internal import Foundation
internal import FoundationNetworking

/// The requests sent to the server in place of the client's ([RFC 9111
/// §4.3.1](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.1)).
extension CachePolicy {
    private static let conditions = [
        "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range",
    ]

    /// The fields of a request that validates the response.
    ///
    /// The client's own condition is replaced if it concerns the same version. Otherwise the client needs the
    /// answer to its own condition.
    ///
    /// - Returns: `nil` if the response has no validator, or if the client's condition has to be sent.
    static func validationFields(_ candidate: CachedHead, for request: CacheRequest) -> HeaderFields? {
        guard let condition = condition(of: candidate.fields) else { return nil }
        if request.hasCondition, !ClientCondition(request.fields).isHeld(by: candidate) { return nil }
        var fields = request.fieldsToSend
        fields["If-None-Match"] = nil
        fields["If-Modified-Since"] = nil
        for field in condition.fields {
            // RFC 9111 §4.3.1: the date is sent beside the tag only without a range.
            if field.name == "If-Modified-Since", request.range != nil, condition.count > 1 { continue }
            fields.append(name: field.name, value: field.value)
        }
        return fields
    }

    /// The fields of a background request that validates the response.
    static func backgroundFields(_ candidate: CachedHead, for request: CacheRequest) -> HeaderFields {
        var fields = request.fieldsToSend
        for name in conditions { fields[name] = nil }
        fields["Range"] = nil
        for field in condition(of: candidate.fields)?.fields ?? [] {
            fields.append(name: field.name, value: field.value)
        }
        return fields
    }

    /// `If-None-Match` and `If-Modified-Since` for the validators of the response, octet for octet.
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
