/// The evidence in a response by which a later response can be recognized as one of the same bytes.
enum EntityValidator: Hashable, Sendable {
    /// Equal tags mean equal bytes.
    case strongETag(EntityTag)
    /// A `Last-Modified` as received, from a second that had ended when the server sent it; the response has no tag.
    case strongDate(String)
    /// There is a validator, but it cannot prove that the bytes are the same: a weak or malformed tag, or a date
    /// that two versions may share.
    case weak
    case none

    /// Determines the strength as a client does, from one response alone
    /// ([RFC 9110 §8.8.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.2.2)).
    ///
    /// A date is strong if the same response has a `Date` at least one second later, or at least 60 seconds later if
    /// `Age` or `Via` show that the two may come from different clocks. Any tag, even a weak one, rules the date out
    /// ([§13.1.5](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5)).
    init(_ fields: HeaderFields) {
        let tags = fields.values(for: "ETag")
        if let first = tags.first {
            guard let tag = EntityTag(fieldValue: first), !tag.isWeak,
                tags.allSatisfy({ EntityTag(fieldValue: $0) == tag })
            else {
                self = .weak
                return
            }
            self = .strongETag(tag)
            return
        }
        guard fields["Last-Modified"] != nil else {
            self = .none
            return
        }
        self = EntityValidator.strongDate(in: fields).map { .strongDate($0) } ?? .weak
    }

    /// Determines the strength for a response whose `Vary` names these fields; `nil` stands for `*`. Then a date is
    /// weak: two variants may share one, and nothing in a request distinguishes them. Strong tags of two variants
    /// differ (RFC 9110 §8.8.1).
    init(_ fields: HeaderFields, varying names: [String]?) {
        self.init(fields)
        if case .strongDate = self, names == nil { self = .weak }
    }

    /// Returns the `Last-Modified` as received if it is strong, whatever the tags are.
    static func strongDate(in fields: HeaderFields) -> String? {
        let dates = fields.values(for: "Last-Modified")
        guard dates.count == 1, let text = dates.first, let modified = HTTPDate(fieldValue: text),
            fields.values(for: "Date").count == 1,
            let sent = fields["Date"].flatMap({ HTTPDate(fieldValue: $0) })
        else { return nil }
        let isFromOrigin = fields["Age"] == nil && fields["Via"] == nil
        let distance = sent.secondsSince1970 - modified.secondsSince1970
        return distance >= (isFromOrigin ? 1 : 60) ? text : nil
    }

    /// The value of `If-Range`, octet for octet as received; `nil` if none may be sent.
    var ifRange: String? {
        switch self {
        case .strongETag(let tag): tag.rawValue
        case .strongDate(let text): text
        case .weak, .none: nil
        }
    }

    /// Compares a later response, by its fields.
    func comparison(with fields: HeaderFields) -> Comparison {
        switch self {
        case .strongETag(let tag):
            let tags = fields.values(for: "ETag")
            guard !tags.isEmpty else { return .absent }
            return tags.allSatisfy { EntityTag(fieldValue: $0) == tag } ? .equal : .different
        case .strongDate(let text):
            let dates = fields.values(for: "Last-Modified")
            guard !dates.isEmpty else { return .absent }
            return dates.allSatisfy { $0.utf8.elementsEqual(text.utf8) } ? .equal : .different
        case .weak, .none:
            return .absent
        }
    }

    /// The result of comparing a later response with a validator.
    enum Comparison: Hashable, Sendable {
        case equal
        case different
        /// The response has no validator of this kind, or there is none to compare with.
        case absent
    }
}
