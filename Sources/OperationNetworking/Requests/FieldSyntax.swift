// The character classes of RFC 9110 §5.5 and §5.6 for octets: names, tokens and values.

extension UInt8 {
    /// The octet with `A` to `Z` lowercased.
    var lowercasedASCII: UInt8 {
        self &- UInt8(ascii: "A") < 26 ? self | 0x20 : self
    }

    /// Whether the octet is a `tchar`, a character of names, methods and codings.
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
    /// Whether `text` is at `start`.
    func has(_ text: String, at start: Int = 0) -> Bool {
        let text = text.utf8Span.span
        guard start >= 0, text.count <= count - start else { return false }
        for index in text.indices where self[start + index] != text[index] { return false }
        return true
    }

    /// The range of the octets from `start` that satisfy `predicate`; empty if `start` is past the end.
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
    /// Whether both are equal, ignoring the case of ASCII letters.
    func isEqualIgnoringASCIICase(to other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
    }

    /// Whether this is a `token`, so a field name or a method.
    var isHTTPToken: Bool {
        !isEmpty && utf8.allSatisfy { $0.isHTTPTokenCharacter }
    }

    /// The method as it is sent. Methods are case-sensitive ([RFC 9110
    /// §9.1](https://www.rfc-editor.org/rfc/rfc9110#section-9.1)), and registered ones are in capitals, so
    /// `get` is sent as `GET`.
    var normalizedMethod: String {
        let capitals = uppercased()
        return knownMethods.contains(capitals) ? capitals : String(self)
    }

    /// Whether this can be sent as a field value: it has no control characters except tabs, which are white
    /// space.
    var isHTTPFieldValue: Bool {
        utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }
}

extension String {
    /// The fast path for whole strings, used for every field of every response.
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
    /// Returns the collection without leading and trailing spaces, tabs and line ends.
    func trimmingHTTPWhitespace() -> SubSequence {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
        guard let last = lastIndex(where: { !isSpace($0) }) else { return self[endIndex...] }
        return self[...last].drop(while: isSpace)
    }
}

extension Int64 {
    /// Parses `1*DIGIT`; `nil` if there is anything else or the number overflows.
    init?(digits: some StringProtocol) {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0.isASCIIDigit }) else { return nil }
        self.init(digits)
    }
}

/// The methods registered at IANA: https://www.iana.org/assignments/http-methods.
private let knownMethods: Set<String> = [
    "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD",
    "LABEL", "LINK", "LOCK", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE",
    "MOVE", "OPTIONS", "ORDERPATCH", "PATCH", "POST", "PROPFIND", "PROPPATCH", "PUT", "REBIND", "REPORT",
    "SEARCH", "TRACE", "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF",
    "VERSION-CONTROL",
]
