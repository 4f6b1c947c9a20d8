/// The members of a list in a field value, trimmed ([RFC 9110
/// §5.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.1)).
///
/// | Field value    | Members                        |
/// |----------------|--------------------------------|
/// | `a, b`         | `a`, `b`                       |
/// | `a="b, c",, d` | `a="b, c"`, `d`                |
/// | `a, "b, c`     | `a`, `"b`, `c`, and `isBroken` |
struct FieldList: Hashable, Sendable {
    /// Without empty members.
    let members: [Substring]
    /// Whether a quoted string is not terminated. Its commas then separate members, so that no directive can
    /// hide behind the quote.
    let isBroken: Bool

    /// - Parameters:
    ///   - fieldValue: one line, or lines joined by commas.
    ///   - escapes: whether a backslash escapes the next character, as in quoted strings; in entity tags it
    ///     is an ordinary character.
    ///   - limit: the maximum number of members; the rest is ignored.
    init(_ fieldValue: String, escapes: Bool = true, limit: Int = .max) {
        if let members = Self.split(fieldValue, quotes: true, escapes: escapes, limit: limit) {
            self.members = members
            isBroken = false
        } else {
            members = Self.split(fieldValue, quotes: false, escapes: false, limit: limit) ?? []
            isBroken = true
        }
    }

    /// - Returns: `nil` if a quoted string is not terminated.
    private static func split(_ text: String, quotes: Bool, escapes: Bool, limit: Int) -> [Substring]? {
        var members: [Substring] = []
        let octets = text.utf8
        var start = octets.startIndex
        var index = start
        var isQuoted = false
        func end(at position: String.Index) {
            let member = Substring(octets[start..<position].trimmingHTTPWhitespace())
            if !member.isEmpty { members.append(member) }
        }
        while index < octets.endIndex {
            let octet = octets[index]
            let next = octets.index(after: index)
            if quotes, octet == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if isQuoted, escapes, octet == UInt8(ascii: "\\"), next < octets.endIndex {
                index = octets.index(after: next)
                continue
            } else if !isQuoted, octet == UInt8(ascii: ",") {
                end(at: index)
                if members.count >= limit { return members }
                start = next
            }
            index = next
        }
        guard !isQuoted else { return nil }
        end(at: octets.endIndex)
        return members
    }
}
