// The characters of RFC 9110 §5.5 and §5.6, asked of octets: names, tokens and values.

extension UInt8 {
    /// `A` to `Z` as `a` to `z`; any other octet as it is.
    var lowercasedASCII: UInt8 {
        self &- UInt8(ascii: "A") < 26 ? self | 0x20 : self
    }

    /// Whether the octet is a `tchar`: what names, methods and codings are made of.
    var isHTTPTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default:
            false
        }
    }

    /// Whether the octet is `0` to `9`.
    var isASCIIDigit: Bool {
        self &- UInt8(ascii: "0") < 10
    }
}

extension Span<UInt8> {
    /// Whether `text` stands there. Not beyond the end.
    func has(_ text: String, at start: Int = 0) -> Bool {
        let text = text.utf8Span.span
        guard start >= 0, text.count <= count - start else { return false }
        for index in text.indices where self[start + index] != text[index] { return false }
        return true
    }

    /// The octets from `start` for which `predicate` holds; empty when it is behind the end.
    func range(from start: Int, while predicate: (UInt8) -> Bool) -> Range<Int> {
        var end = start
        while end < count, predicate(self[end]) { end += 1 }
        return start..<end
    }

    /// Whether this is a `token`, so a field name or a method.
    var isHTTPToken: Bool {
        !isEmpty && range(from: 0) { $0.isHTTPTokenCharacter }.upperBound == count
    }
}

extension StringProtocol {
    /// Whether both are the same octets, `A` to `Z` standing for `a` to `z`.
    func isEqualIgnoringASCIICase(to other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
    }

    /// Whether this is a `token`, so a field name or a method.
    var isHTTPToken: Bool {
        !isEmpty && utf8.allSatisfy { $0.isHTTPTokenCharacter }
    }

    /// The method as it is sent. Methods are told apart by case ([RFC 9110
    /// §9.1](https://www.rfc-editor.org/rfc/rfc9110#section-9.1)), and those that are registered are written
    /// in capitals: no server has a `get`.
    var normalizedMethod: String {
        let capitals = uppercased()
        return knownMethods.contains(capitals) ? capitals : String(self)
    }

    /// Whether this can be sent as a field value: without the characters that would end the line or the
    /// string, or begin another field. A tab is white space; other controls belong to no value.
    var isHTTPFieldValue: Bool {
        utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }
}

extension String {
    /// The same for two whole strings, which is the case that every field of every response takes.
    func isEqualIgnoringASCIICase(to other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }  // most names differ in length
        let one = utf8Span.span
        let two = other.utf8Span.span
        for index in one.indices where one[index] != two[index] {
            if one[index].lowercasedASCII != two[index].lowercasedASCII { return false }
        }
        return true
    }
}

extension BidirectionalCollection<UInt8> {
    /// Without the spaces, tabs and line ends around it.
    func trimmingHTTPWhitespace() -> SubSequence {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
        guard let last = lastIndex(where: { !isSpace($0) }) else { return self[endIndex...] }
        return self[...last].drop(while: isSpace)
    }
}

extension Int64 {
    /// `1*DIGIT` and nothing else; `nil` as well when the number does not fit.
    init?(digits: some StringProtocol) {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0.isASCIIDigit }) else { return nil }
        self.init(digits)
    }
}

/// Registered at IANA: https://www.iana.org/assignments/http-methods.
private let knownMethods: Set<String> = [
    "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD",
    "LABEL", "LINK", "LOCK", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE",
    "MOVE", "OPTIONS", "ORDERPATCH", "PATCH", "POST", "PROPFIND", "PROPPATCH", "PUT", "REBIND", "REPORT",
    "SEARCH", "TRACE", "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF",
    "VERSION-CONTROL",
]
