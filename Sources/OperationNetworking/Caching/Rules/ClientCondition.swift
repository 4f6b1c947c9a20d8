internal import Foundation

/// The client's own `If-None-Match` or `If-Modified-Since` ([RFC 9111
/// §4.3.2](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.2)). Tags take precedence over dates.
struct ClientCondition: Hashable, Sendable {
    /// `nil` without `If-None-Match`.
    private let tags: [Substring]?
    private let date: String?

    /// - Parameter fields: the fields of the request.
    init(_ fields: HeaderFields) {
        tags = fields.combined(for: "If-None-Match").map { FieldList($0, escapes: false).members }
        let dates = fields.values(for: "If-Modified-Since")
        date = dates.count == 1 ? dates.first : nil
    }

    /// Whether the client has the stored version, so that the answer is a 304.
    func isHeld(by candidate: CachedHead) -> Bool {
        // RFC 9110 §13.2.1: conditions apply to successful responses only.
        guard (200..<300).contains(candidate.head.status) else { return false }
        if let tags {
            guard let stored = candidate.fields["ETag"] else { return tags.contains("*") }
            return tags.contains { $0 == "*" || EntityTag.areWeaklyEqual(stored, [String($0)]) }
        }
        guard let date,
            let known = HTTPDate(
                fieldValue: date,
                now: Date(timeIntervalSince1970: candidate.responseTime),
                isLenient: true
            )
        else { return false }
        let modified = HTTPDate.cacheDate(in: candidate.fields, "Last-Modified", now: candidate.responseTime)
        return modified ?? candidate.time <= Double(known.secondsSince1970)
    }
}
