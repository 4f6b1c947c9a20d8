/// The request's fields that `Vary` names. They decide whether a stored response matches another request
/// ([RFC 9111 §4.1](https://www.rfc-editor.org/rfc/rfc9111#section-4.1)).
///
/// Values are normalized before they are compared:
///
/// | Field             | Ignored differences                                                         |
/// |-------------------|-----------------------------------------------------------------------------|
/// | any               | several lines or one list; white space around commas and at the ends        |
/// | `Accept-Language` | case; white space around `;`; the form of a weight (`q=1.0` is none)        |
/// | `Accept-Encoding` | the same, order, and `x-` before `gzip`                                     |
///
/// A field that names a user is a secret. Its digest is stored in its place.
///
/// By RFC 9110 §12.5.4 the order of languages does not matter. It is compared all the same, because servers
/// treat it as an order of preference.
struct SelectingFields: Hashable, Sendable {
    /// A `Vary` with more names matches no other request.
    private static let maximumCount = 64

    /// The names in lower case.
    let names: [String]

    /// Fails if no other request can match: for `*`, and for a value that is not a field name.
    ///
    /// - Parameter fields: the fields of the response.
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

    /// The normalized values in a request. Fields that the request does not have are left out.
    func values(in fields: HeaderFields) -> HeaderFields {
        var values = HeaderFields()
        for name in names {
            let lines = fields.values(for: name)
            if !lines.isEmpty { values.append(name: name, value: Self.normalized(lines, of: name)) }
        }
        return values
    }

    /// Whether a response stored with the values `stored` matches a request with these fields.
    ///
    /// A response in the language that the request prefers matches, whatever its own request preferred (RFC
    /// 9111 §4.1: a known mechanism).
    ///
    /// - Parameters:
    ///   - stored: values returned by ``values(in:)``.
    ///   - request: the fields of the other request.
    ///   - language: the `Content-Language` of the response.
    /// - Returns: whether all fields match.
    func match(_ stored: HeaderFields, _ request: HeaderFields, language: String?) -> Bool {
        names.allSatisfy { name in
            let lines = request.values(for: name)
            guard !lines.isEmpty else { return !stored.contains(name) }
            let value = Self.normalized(lines, of: name)
            // Compares octets: Swift considers composed and decomposed letters equal, but a server does not.
            if stored[name]?.utf8.elementsEqual(value.utf8) == true { return true }
            guard name == "accept-language", let language, language.isHTTPToken else { return false }
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

    /// The members in lower case, with their weights.
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

    /// The preferred language, if there is exactly one.
    private static func favorite(_ value: String) -> String? {
        let languages = weighted([value])
        guard let best = languages.map(\.weight).max(), best > 0 else { return nil }
        let favorites = languages.filter { $0.weight == best }
        return favorites.count == 1 ? favorites.first?.value : nil
    }
}
