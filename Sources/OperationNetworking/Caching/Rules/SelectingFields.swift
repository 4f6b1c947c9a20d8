/// The request's fields that `Vary` names: whether a stored response suits another request
/// ([RFC 9111 §4.1](https://www.rfc-editor.org/rfc/rfc9111#section-4.1)).
///
/// Values are compared after what does not matter is taken away:
///
/// | Field             | Does not matter                                                             |
/// |-------------------|-----------------------------------------------------------------------------|
/// | any               | several lines or one list; white space around commas and at the ends        |
/// | `Accept-Language` | case; white space around `;`; the form of a weight (`q=1.0` is none)        |
/// | `Accept-Encoding` | the same, the order, and `x-` before `gzip`                                 |
///
/// A field that names a user is a secret: its digest stands for it.
///
/// The order of languages does not matter by RFC 9110 §12.5.4, but servers take it for one of preference, so
/// it counts.
struct SelectingFields: Hashable, Sendable {
    /// A `Vary` with more names suits no other request.
    private static let maximumCount = 64

    /// In lower case.
    let names: [String]

    /// `nil` if no other request can match: `*`, or what is no name.
    ///
    /// - Parameter fields: of the response.
    init?(vary fields: HeaderFields) {
        var names: [String] = []
        for value in fields.values(for: "Vary") {
            for member in FieldList(value).members {
                guard member != "*", member.isHTTPToken, names.count < Self.maximumCount else { return nil }
                let name = member.lowercased()
                if !names.contains(name) { names.append(name) }
            }
        }
        self.names = names
    }

    /// The normalized values in a request; a field that it does not have is not among them.
    func values(in fields: HeaderFields) -> HeaderFields {
        var values = HeaderFields()
        for name in names {
            let lines = fields.values(for: name)
            if !lines.isEmpty { values.append(name: name, value: Self.normalized(lines, of: name)) }
        }
        return values
    }

    /// Whether a response stored with the values `stored` suits a request with these fields.
    ///
    /// The language that a request likes best suits it, whatever the request was that the response answered
    /// (RFC 9111 §4.1: a known mechanism).
    ///
    /// - Parameters:
    ///   - stored: as ``values(in:)`` made them.
    ///   - request: the fields of the other request.
    ///   - language: the `Content-Language` of the response.
    /// - Returns: whether all of them match.
    func match(_ stored: HeaderFields, _ request: HeaderFields, language: String?) -> Bool {
        names.allSatisfy { name in
            let lines = request.values(for: name)
            let value = lines.isEmpty ? nil : Self.normalized(lines, of: name)
            // By octets: composed and decomposed letters are equal to Swift, and not to a server.
            if value.map({ Array($0.utf8) }) == stored[name].map({ Array($0.utf8) }) { return true }
            guard name == "accept-language", let value, let language, language.isHTTPToken else {
                return false
            }
            return Self.favorite(value) == language.lowercased()
        }
    }

    // MARK: - Normalization

    private static func normalized(_ lines: [String], of name: String) -> String {
        switch name {
        case _ where SecretFields.namesUser(name): return SecretDigest.of(lines.joined(separator: "; "))
        case "accept-language":
            return weighted(lines).map(\.text).joined(separator: ",")
        case "accept-encoding":
            return weighted(lines)
                .map { $0.text.hasPrefix("x-gzip") ? String($0.text.dropFirst(2)) : $0.text }
                .sorted().joined(separator: ",")
        default:
            return lines.flatMap { FieldList($0).members }.joined(separator: ",")
        }
    }

    /// The members in lower case, each with its weight.
    private static func weighted(_ lines: [String]) -> [(value: String, weight: Double, text: String)] {
        lines.flatMap { FieldList($0).members }.map { member in
            let parts = member.lowercased().split(separator: ";").map {
                Substring($0.utf8.trimmingHTTPWhitespace())
            }
            let value = parts.first.map(String.init) ?? ""
            var weight = 1.0
            var others = ""
            for part in parts.dropFirst() {
                if part.hasPrefix("q="), let number = Double(part.dropFirst(2)), (0...1).contains(number) {
                    weight = number
                } else {
                    others += ";" + part
                }
            }
            return (value, weight, value + others + (weight == 1 ? "" : ";q=\(weight)"))
        }
    }

    /// The language that is liked best, if it is one.
    private static func favorite(_ value: String) -> String? {
        let languages = weighted([value])
        guard let best = languages.map(\.weight).max(), best > 0 else { return nil }
        let favorites = languages.filter { $0.weight == best }
        return favorites.count == 1 ? favorites.first?.value : nil
    }
}
