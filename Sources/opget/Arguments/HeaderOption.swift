import Foundation

/// An `-H` option: a header field of the requests.
struct HeaderOption: Hashable, Sendable {
    let name: String
    let value: String

    /// - Parameter text: `Name: value`; the name is a token of
    ///   [RFC 9110 §5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2).
    /// - Throws: `Failure` with ``Outcome/usage``, without the value, which may be a secret.
    init(_ text: String) throws {
        guard let colon = text.firstIndex(of: ":") else {
            throw Failure(.usage, "-H needs a field such as \"Accept: text/plain\", with a colon.")
        }
        name = String(text[..<colon])
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
            throw Failure(.usage, "-H: \(name.debugDescription) is not a field name.")
        }
        value = text[text.index(after: colon)...].trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
        let isControl: (Unicode.Scalar) -> Bool = { $0.properties.generalCategory == .control && $0 != "\t" }
        guard !value.unicodeScalars.contains(where: isControl) else {
            throw Failure(.usage, "-H: the value of \(name) contains a control character.")
        }
    }

    private init(name: String, value: String) {
        (self.name, self.value) = (name, value)
    }

    /// Returns the fields of all `-H` options.
    ///
    /// | Repeated field              | Result                                         |
    /// |-----------------------------|------------------------------------------------|
    /// | `Cookie`                    | one field, the values joined by `; `           |
    /// | a field with a single value | refused: all but one would be dropped silently |
    /// | any other                   | a list                                         |
    ///
    /// See [RFC 6265 §4.2.1](https://www.rfc-editor.org/rfc/rfc6265#section-4.2.1) and
    /// [RFC 9110 §5.3](https://www.rfc-editor.org/rfc/rfc9110#section-5.3).
    ///
    /// - Parameter texts: the values of the options; see ``init(_:)``.
    /// - Returns: the fields, in order.
    /// - Throws: `Failure` with ``Outcome/usage``.
    static func all(_ texts: [String]) throws -> [HeaderOption] {
        var fields: [HeaderOption] = []
        for field in try texts.map(HeaderOption.init) {
            let key = field.name.lowercased()
            let earlier = fields.firstIndex { $0.name.lowercased() == key }
            guard let earlier, key == "cookie" || singleValued.contains(key) else {
                fields.append(field)
                continue
            }
            guard key == "cookie" else {
                throw Failure(.usage, "-H: \(field.name) has a single value, but is given several times.")
            }
            let values = [fields[earlier].value, field.value].filter { !$0.isEmpty }
            fields[earlier] = HeaderOption(name: fields[earlier].name, value: values.joined(separator: "; "))
        }
        return fields
    }

    /// The request fields whose value is not a list: RFC 9110, and RFC 6454 §7 for `Origin`.
    private static let singleValued: Set<String> = [
        "authorization", "content-length", "content-location", "content-range", "content-type", "date",
        "from",
        "host", "if-modified-since", "if-range", "if-unmodified-since", "max-forwards", "origin",
        "proxy-authorization", "range", "referer", "user-agent",
    ]

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
