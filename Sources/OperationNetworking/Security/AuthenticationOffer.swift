/// A challenge of a `WWW-Authenticate` field: one way to authenticate that a server offers.
///
/// | Field value                         | `scheme`     | `token68` | `parameters`                     |
/// |-------------------------------------|--------------|-----------|----------------------------------|
/// | `Basic realm="a \"b\""`             | `.basic`     | `nil`     | `realm`: `a "b"`                 |
/// | `Negotiate YII=`                    | `.negotiate` | `YII=`    | none                             |
/// | `Digest realm=a, nonce="1", NTLM`   | `.digest`, `.ntlm` | `nil` | `realm`: `a`, `nonce`: `1`; none |
///
/// The form is that of [RFC 9110 §11.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1).
public struct AuthenticationOffer: Hashable, Sendable {
    /// The most challenges of a response that are read.
    static let maximumCount = 64

    /// The scheme.
    public let scheme: AuthenticationScheme
    /// The token that some schemes send instead of parameters.
    public internal(set) var token68: String?
    /// The parameters, by name in lower case; of several with one name the first.
    public internal(set) var parameters: [String: String] = [:]
    /// Whether the parameters are octets that are not UTF-8, each of which is one scalar here.
    private(set) var isLatin1 = false

    /// The protection space; `nil`: the server did not say.
    public var realm: String? { parameters["realm"] }

    init(_ scheme: AuthenticationScheme, token68: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.token68 = token68
        self.parameters = parameters
    }

    /// All that the fields of a head offer, in order. What is no challenge is passed over.
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
    /// Reads one field. Every step goes forward, but for the one look whether a `token68` ends as one:
    /// linear.
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

        /// To the next comma that is not in quotes.
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

        /// After an equals sign; `nil`: it is none, or something follows it.
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

        /// `nil` when it has no end; then nothing is left.
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

        /// `nil`, without a step, when what comes is something else.
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
