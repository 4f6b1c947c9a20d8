/// A challenge in a `WWW-Authenticate` field: one authentication scheme that a server offers.
///
/// | Field value                         | `scheme`     | `token68` | `parameters`                     |
/// |-------------------------------------|--------------|-----------|----------------------------------|
/// | `Basic realm="a \"b\""`             | `.basic`     | `nil`     | `realm`: `a "b"`                 |
/// | `Negotiate YII=`                    | `.negotiate` | `YII=`    | none                             |
/// | `Digest realm=a, nonce="1", NTLM`   | `.digest`, `.ntlm` | `nil` | `realm`: `a`, `nonce`: `1`; none |
///
/// The syntax is that of [RFC 9110 §11.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1).
public struct AuthenticationOffer: Hashable, Sendable {
    /// The maximum number of challenges that are parsed per response.
    static let maximumCount = 64

    /// The scheme.
    public let scheme: AuthenticationScheme
    /// The token that some schemes use instead of parameters.
    public internal(set) var token68: String?
    /// The parameters by lowercase name; the first one if a name is repeated.
    public internal(set) var parameters: [String: String] = [:]
    /// Whether the parameters were not UTF-8; each octet is then one scalar.
    private(set) var isLatin1 = false

    /// The realm, if the server names one.
    public var realm: String? { parameters["realm"] }

    init(_ scheme: AuthenticationScheme, token68: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.token68 = token68
        self.parameters = parameters
    }

    /// Parses the challenges of all field values, in order. Anything else is skipped.
    static func offers(in fieldValues: [String], areLatin1: Bool = false) -> [AuthenticationOffer] {
        var offers = fieldValues.flatMap { value in
            var reader = Reader(bytes: Array(value.utf8))
            return reader.offers()
        }
        if areLatin1 { for index in offers.indices { offers[index].isLatin1 = true } }
        return offers
    }
}

extension AuthenticationOffer {
    /// Parses one field, in linear time. It backtracks only after text that turns out not to be a `token68`.
    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        private var isAtEnd: Bool { position >= bytes.count }
        private var next: UInt8? { isAtEnd ? nil : bytes[position] }
        private var isAtEndOfElement: Bool { next == nil || next == UInt8(ascii: ",") }

        mutating func offers() -> [AuthenticationOffer] {
            var offers: [AuthenticationOffer] = []
            // Whether a parameter would belong to the last offer.
            var takesParameters = false
            var mayBegin = true
            while true {
                if skipSeparators() { mayBegin = true }
                guard !isAtEnd else { return offers }
                let name = token()
                let end = position
                skipSpaces()
                if next == UInt8(ascii: "="), !name.isEmpty {
                    position += 1
                    let value = value()
                    if let value, takesParameters, let last = offers.indices.last {
                        let key = name.lowercased()
                        if offers[last].parameters[key] == nil { offers[last].parameters[key] = value }
                    }
                    if value == nil { skipElement() }
                    mayBegin = false
                    continue
                }
                guard !name.isEmpty, mayBegin, isAtEndOfElement || end < position else {
                    skipElement()
                    takesParameters = false
                    continue
                }
                mayBegin = false
                let token68 = token68()
                offers.append(AuthenticationOffer(AuthenticationScheme(name), token68: token68))
                takesParameters = token68 == nil
            }
        }

        /// - Returns: whether there was a comma.
        private mutating func skipSeparators() -> Bool {
            var hasComma = false
            while let byte = next, byte == 0x20 || byte == 0x09 || byte == UInt8(ascii: ",") {
                if byte == UInt8(ascii: ",") { hasComma = true }
                position += 1
            }
            return hasComma
        }

        private mutating func skipSpaces() {
            while next == 0x20 || next == 0x09 { position += 1 }
        }

        /// Skips to the next comma outside of quotes.
        private mutating func skipElement() {
            while let byte = next, byte != UInt8(ascii: ",") {
                if byte == UInt8(ascii: "\"") { _ = quotedString() } else { position += 1 }
            }
        }

        private mutating func token() -> String {
            let start = position
            while let byte = next, byte.isHTTPTokenCharacter { position += 1 }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }

        /// Parses the value after an equals sign; `nil` if it is invalid or followed by something else.
        private mutating func value() -> String? {
            skipSpaces()
            let value: String?
            if next == UInt8(ascii: "\"") {
                value = quotedString()
            } else {
                let token = token()
                value = token.isEmpty ? nil : token
            }
            skipSpaces()
            return isAtEndOfElement ? value : nil
        }

        /// `nil` if it is not terminated; everything is then consumed.
        private mutating func quotedString() -> String? {
            position += 1
            var text: [UInt8] = []
            while let byte = next {
                position += 1
                switch byte {
                case UInt8(ascii: "\""):
                    return String(decoding: text, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let quoted = next else { return nil }
                    position += 1
                    text.append(quoted)
                default:
                    text.append(byte)
                }
            }
            return nil
        }

        /// `nil` if there is no `token68`; nothing is then consumed.
        private mutating func token68() -> String? {
            let start = position
            while let byte = next, byte.isToken68Character { position += 1 }
            let hasText = position > start
            while next == UInt8(ascii: "=") { position += 1 }
            let end = position
            skipSpaces()
            guard hasText, isAtEndOfElement else {
                position = start
                return nil
            }
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
    }
}

extension UInt8 {
    fileprivate var isToken68Character: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "+"),
            UInt8(ascii: "/"):
            true
        default:
            false
        }
    }
}
