/// A validator of a response: proves, later, that the server still has the same bytes.
enum EntityValidator: Hashable, Sendable {
    /// Equal tags mean equal bytes.
    case strongETag(EntityTag)
    /// A `Last-Modified`, as received, in a second that was over when the server sent it; and no tag at all.
    case strongDate(String)
    /// There is something, but it cannot prove that the bytes are the same: a weak tag, a malformed one, a
    /// date that a second change may share.
    case weak
    case none

    /// The strength that [RFC 9110 §8.8.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.2.2) gives a
    /// client, from one response alone.
    ///
    /// A date is strong when the same response has a `Date` at least a second later; a minute later if the
    /// two may come from different clocks, as `Age` and `Via` tell. Any tag, even a weak one, rules the date
    /// out ([§13.1.5](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5)).
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

    /// The same, of a response whose `Vary` names these fields; `nil` is `*`. Two variants may have one date,
    /// and then nothing in a request tells them apart; two strong tags differ (RFC 9110 §8.8.1).
    init(_ fields: HeaderFields, varying names: [String]?) {
        self.init(fields)
        if case .strongDate = self, names == nil { self = .weak }
    }

    /// The `Last-Modified` as received, if it is strong: tags are not looked at.
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

    /// The value of `If-Range`: the octets that were received, `nil` when nothing may be sent.
    var ifRange: String? {
        switch self {
        case .strongETag(let tag): tag.rawValue
        case .strongDate(let text): text
        case .weak, .none: nil
        }
    }

    /// Whether the response with these fields is of the same bytes.
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
        /// The response has none of its kind, or there is none to compare with.
        case absent
    }
}
