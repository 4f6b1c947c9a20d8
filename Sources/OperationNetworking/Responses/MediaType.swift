/// The parts of a `Content-Type` field that serializers use ([RFC 9110
/// §8.3.1](https://www.rfc-editor.org/rfc/rfc9110#section-8.3.1)).
///
/// | Field value                          | `essence`          | `charset`    |
/// |--------------------------------------|--------------------|--------------|
/// | `application/json`                   | `application/json` | `nil`        |
/// | `Text/HTML; Charset="ISO-8859-1"`    | `text/html`        | `ISO-8859-1` |
/// | `application/json, text/csv`         | `text/csv`         | `nil`        |
///
/// A repeated field is a list. As in browsers, its last valid type is used
/// ([Fetch](https://fetch.spec.whatwg.org/#content-type-header)).
struct MediaType: Hashable, Sendable {
    /// The type and subtype in lower case, without parameters.
    let essence: String
    /// The character set as written, without quotes. The first such parameter is used.
    let charset: String?

    /// Fails if no type precedes the first semicolon.
    init?(fieldValue: String) {
        let values = MediaType.split(fieldValue[...], at: UInt8(ascii: ","))
        let last = values.last { $0.contains("/") && !$0.hasPrefix("*/*") } ?? fieldValue[...]
        let parts = MediaType.split(last, at: UInt8(ascii: ";"))
        guard let essence = parts.first?.lowercased(), !essence.isEmpty else { return nil }
        self.essence = essence
        charset =
            parts.dropFirst().lazy.compactMap { parameter -> String? in
                guard let equals = parameter.firstIndex(of: "="),
                    MediaType.trim(parameter[..<equals]).isEqualIgnoringASCIICase(to: "charset")
                else { return nil }
                let value = MediaType.unquote(MediaType.trim(parameter[parameter.index(after: equals)...]))
                return value.isEmpty ? nil : value
            }.first
    }

    /// Whether `pattern` matches this type: `text/html`, `text/*`, `*/*`, or a structured syntax such as
    /// `application/*+json` or `*/*+json`. Case is ignored.
    func matches(_ pattern: String) -> Bool {
        let pattern = pattern.lowercased()
        guard pattern != essence else { return true }
        let wanted = pattern.split(separator: "/", maxSplits: 1)
        let own = essence.split(separator: "/", maxSplits: 1)
        guard wanted.count == 2, own.count == 2 else { return false }
        guard wanted[0] == "*" || wanted[0] == own[0] else { return false }
        if wanted[1].hasPrefix("*+") { return own[1].hasSuffix(wanted[1].dropFirst()) }
        return wanted[1] == "*" || wanted[1] == own[1]
    }

    // MARK: - Parameters

    /// The trimmed parts between separators outside of quotes.
    static func split(_ text: Substring, at separator: UInt8) -> [Substring] {
        var isQuoted = false
        var isEscaped = false
        return text.utf8.split(omittingEmptySubsequences: false) { octet in
            if isEscaped {
                isEscaped = false
                return false
            }
            if isQuoted, octet == UInt8(ascii: "\\") { isEscaped = true }
            if octet == UInt8(ascii: "\"") { isQuoted.toggle() }
            return octet == separator && !isQuoted
        }.map { trim(Substring($0)) }
    }

    private static func trim(_ text: Substring) -> Substring {
        Substring(text.utf8.trimmingHTTPWhitespace())
    }

    /// The text of a quoted string (RFC 9110 §5.6.4), or the text itself if it is not quoted.
    static func unquote(_ text: Substring) -> String {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return String(text) }
        var unquoted = ""
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                unquoted.append(character)
                isEscaped = false
            }
        }
        return unquoted
    }
}
