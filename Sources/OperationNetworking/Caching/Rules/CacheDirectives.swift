internal import OperationNetworkingSystem

/// The directives of a `Cache-Control` field, of a request or a response
/// ([RFC 9111 §5.2](https://www.rfc-editor.org/rfc/rfc9111#section-5.2)).
///
/// | Field value                      | Meaning                                                    |
/// |----------------------------------|------------------------------------------------------------|
/// | `Max-Age="60"`                   | as `max-age=60`: case and form do not matter (§5.2)        |
/// | `max-age=99999999999`            | 2147483648 s (§1.2.2)                                      |
/// | `max-age=60, max-age=60`         | 60 s                                                       |
/// | `max-age=60, max-age=1`          | malformed, so stale (§4.2.1)                               |
/// | `max-age=-1`, `=1.5`, `=1s`, ` =1` | malformed                                                |
/// | `x="max-age=60"`                 | not a `max-age`                                            |
/// | `no-store=1`, `no-cache=`        | as without a value: a restriction is never lost            |
/// | `no-store; max-age=60`           | `no-store`, and a malformed `max-age`                      |
/// | more than ``maximumCount``       | nothing is allowed: `no-store`, `no-cache`, no `public`    |
struct CacheDirectives: Hashable, Sendable {
    /// The number of seconds in a directive.
    enum Seconds: Hashable, Sendable {
        case absent
        /// A number, at most ``CacheDirectives/maximumSeconds``.
        case exactly(Double)
        /// The value is not a number, or the directive occurs with several values.
        case malformed

        /// The number, `fallback` if it is malformed, and `nil` without the directive.
        func value(malformed fallback: Double?) -> Double? {
            switch self {
            case .absent: nil
            case .exactly(let seconds): seconds
            case .malformed: fallback
            }
        }
    }

    private struct Directive: Hashable, Sendable {
        /// The name in lower case.
        let name: String
        /// The value without quotes; `nil` without `=`.
        let value: String?
        let isMalformed: Bool
    }

    /// 2^31. Larger numbers are reduced to it ([RFC 9111
    /// §1.2.2](https://www.rfc-editor.org/rfc/rfc9111#section-1.2.2)).
    static let maximumSeconds: Double = 2_147_483_648

    /// The number of directives that are read per message. A head has room for 45,000, and every query looks
    /// at each.
    static let maximumCount = 256

    /// The directives assumed for a message with more: the unread ones may forbid anything.
    private static let strictest = [
        Directive(name: "no-store", value: nil, isMalformed: false),
        Directive(name: "no-cache", value: nil, isMalformed: false),
        Directive(name: "must-revalidate", value: nil, isMalformed: true),
        Directive(name: "private", value: nil, isMalformed: true),
        Directive(name: "max-age", value: nil, isMalformed: true),
    ]

    private var directives: [Directive] = []

    /// - Parameter fields: the fields of the message.
    init(_ fields: HeaderFields) {
        fields.forEachValue(of: "Cache-Control") { value in
            guard directives.count <= Self.maximumCount else { return }
            if !appendPlain(value) { append(String(value)) }
        }
        if directives.count > Self.maximumCount { directives = Self.strictest }
    }

    var isEmpty: Bool { directives.isEmpty }

    var count: Int { directives.count }

    /// Whether the directive is present, even if malformed. For directives that forbid something.
    func has(_ name: String) -> Bool {
        directives.contains { $0.name == name }
    }

    /// Whether the directive is present and well-formed. For directives that allow something.
    func allows(_ name: String) -> Bool {
        directives.contains { $0.name == name && !$0.isMalformed }
    }

    /// Whether the directive is present, and never with a value.
    func hasPlain(_ name: String) -> Bool {
        has(name) && !directives.contains { $0.name == name && $0.value != nil }
    }

    /// The seconds in the directive.
    func seconds(_ name: String) -> Seconds {
        var result: Seconds = .absent
        for directive in directives where directive.name == name {
            guard !directive.isMalformed, let value = directive.value, let seconds = Self.seconds(value),
                result == .absent || result == .exactly(seconds)
            else { return .malformed }
            result = .exactly(seconds)
        }
        return result
    }

    /// The field names to which the directive is limited, in lower case ([RFC 9111
    /// §5.2.2.4](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.2.4)). `nil` if it is absent or concerns
    /// the whole response.
    func fieldNames(_ name: String) -> Set<String>? {
        var names: Set<String> = []
        for directive in directives where directive.name == name {
            guard !directive.isMalformed, let value = directive.value else { return nil }
            let listed = FieldList(value, limit: Self.maximumCount + 1).members
            guard (1...Self.maximumCount).contains(listed.count), listed.allSatisfy(\.isHTTPToken) else {
                return nil
            }
            names.formUnion(listed.map { $0.lowercased() })
        }
        return names.isEmpty ? nil : names
    }

    /// The number of seconds in `text`; `nil` unless it consists of digits only (RFC 9111 §1.2.2).
    static func seconds(_ text: some StringProtocol) -> Double? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0.isASCIIDigit }) else { return nil }
        return min(Int64(digits: text).map(Double.init) ?? maximumSeconds, maximumSeconds)
    }

    /// Adds the members of a list, octet by octet, if all of them are tokens with tokens for values. Nearly
    /// all are.
    /// - Returns: false, without adding anything, for any other list. ``append(_:)`` reads those.
    private mutating func appendPlain(_ list: Span<UInt8>) -> Bool {
        let count = directives.count
        var position = 0
        while true {
            position = list.range(from: position) { Self.isBlank($0) || $0 == UInt8(ascii: ",") }.upperBound
            guard position < list.count, directives.count <= Self.maximumCount else { return true }
            let name = list.range(from: position) { $0.isHTTPTokenCharacter }
            var (value, end): (Range<Int>?, Int) = (nil, name.upperBound)
            if end < list.count, list[end] == UInt8(ascii: "=") {
                let token = list.range(from: end + 1) { $0.isHTTPTokenCharacter }
                (value, end) = (token, token.upperBound)
            }
            position = list.range(from: end, while: Self.isBlank).upperBound
            guard !name.isEmpty, value?.isEmpty != true,
                position == list.count || list[position] == UInt8(ascii: ",")
            else {
                directives.removeLast(directives.count - count)
                return false
            }
            directives.append(
                Directive(
                    name: String(ascii: list.extracting(name)) { $0.lowercasedASCII },
                    value: value.map { String(list.extracting($0)) },
                    isMalformed: false
                )
            )
        }
    }

    /// Whether the octet is white space around the members of a list (RFC 9110 §5.6.3).
    private static func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }

    private mutating func append(_ text: String) {
        let list = FieldList(text, limit: Self.maximumCount + 1)
        for member in list.members where directives.count <= Self.maximumCount {
            // A semicolon is not a separator, but servers often take it for one.
            let isPlain =
                !member.utf8.contains(UInt8(ascii: ";")) || member.utf8.contains(UInt8(ascii: "\""))
            let parts = isPlain ? [member] : member.split(separator: ";", maxSplits: Self.maximumCount)
            for part in parts {
                directives.append(Self.directive(part, isBroken: list.isBroken || parts.count > 1))
            }
        }
    }

    private static func name(_ text: Substring) -> String {
        String(decoding: text.utf8.trimmingHTTPWhitespace().map(\.lowercasedASCII), as: UTF8.self)
    }

    private static func directive(_ member: Substring, isBroken: Bool) -> Directive {
        guard let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            return Directive(name: name(member), value: nil, isMalformed: isBroken)
        }
        let rawName = member[..<equals]
        let name = name(rawName)
        let rawValue = member[member.utf8.index(after: equals)...]
        var isMalformed = isBroken || !rawName.isHTTPToken
        guard rawValue.utf8.first == UInt8(ascii: "\"") else {
            isMalformed = isMalformed || !rawValue.isHTTPToken
            return Directive(name: name, value: String(rawValue), isMalformed: isMalformed)
        }
        guard rawValue.utf8.count >= 2, rawValue.utf8.last == UInt8(ascii: "\"") else {
            return Directive(name: name, value: String(rawValue), isMalformed: true)
        }
        var value = ""
        var isEscaped = false
        for scalar in rawValue.unicodeScalars.dropFirst().dropLast() {
            if !isEscaped, scalar == "\\" {
                isEscaped = true
                continue
            }
            isMalformed = isMalformed || (scalar == "\"" && !isEscaped)
            isEscaped = false
            value.unicodeScalars.append(scalar)
        }
        return Directive(name: name, value: value, isMalformed: isMalformed)
    }
}
