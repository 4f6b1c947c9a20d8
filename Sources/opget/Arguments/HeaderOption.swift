import Foundation

/// An `-H` option: a field of the requests.
struct HeaderOption: Hashable, Sendable {
    let name: String
    let value: String

    /// - Parameter text: `Name: value`; the name is a token of
    ///   [RFC 9110 §5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2).
    /// - Throws: `Failure` with ``Outcome/usage``. It does not show the value, which may be a secret.
    init(_ text: String) throws {
        guard let colon = text.firstIndex(of: ":") else {
            throw Failure(.usage, "-H needs a field such as \"Accept: text/plain\", with a colon.")
        }
        name = String(text[..<colon])
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
            throw Failure(.usage, "-H: \(name.debugDescription) is not the name of a field.")
        }
        value = text[text.index(after: colon)...].trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
        let isControl: (Unicode.Scalar) -> Bool = { $0.properties.generalCategory == .control && $0 != "\t" }
        guard !value.unicodeScalars.contains(where: isControl) else {
            throw Failure(.usage, "-H: the value of \(name) has a control character in it.")
        }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
