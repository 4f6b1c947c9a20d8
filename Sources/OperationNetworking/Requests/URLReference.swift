package import Foundation
internal import OperationNetworkingSystem

/// The text of a URL or URL reference, with invalid characters of its path, query and fragment
/// percent-encoded and existing encoding kept. `URL` itself would also encode every percent sign of a
/// component that contains an invalid character.
struct URLReference {
    /// Including the colon; may be empty.
    let scheme: Substring
    /// Unchanged.
    let authority: Substring?
    /// The path, query and fragment, encoded.
    let rest: String

    /// `isLatin1`: each scalar is one octet (ISO 8859-1).
    init(_ text: String, isLatin1: Bool = false) {
        let rest: Substring
        (scheme, authority, rest) = Self.split(text)
        self.rest = Self.encoded(isLatin1 ? String(rest).octets : Array(rest.utf8))
    }

    var text: String { scheme + (authority.map { "//" + $0 } ?? "") + rest }

    /// Splits off `scheme:` and `//authority`, by RFC 3986 appendix B.
    private static func split(
        _ text: String
    ) -> (scheme: Substring, authority: Substring?, rest: Substring) {
        // By scalars: a slash followed by a combining accent is a different character, but still begins a
        // path.
        let scalars = text.unicodeScalars
        var rest = scalars[...]
        var scheme = scalars[..<scalars.startIndex]
        let end = scalars.firstIndex { ":/?#".unicodeScalars.contains($0) }
        if let end, scalars[end] == ":", end != scalars.startIndex {
            scheme = scalars[...end]
            rest = scalars[scalars.index(after: end)...]
        }
        guard rest.starts(with: "//".unicodeScalars) else { return (Substring(scheme), nil, Substring(rest)) }
        rest = rest.dropFirst(2)
        let authority = rest.prefix { !"/?#".unicodeScalars.contains($0) }
        return (Substring(scheme), Substring(authority), Substring(rest[authority.endIndex...]))
    }

    /// Percent-encodes characters that are invalid in a URL.
    private static func encoded(_ octets: [UInt8]) -> String {
        var result = ""
        var hasFragment = false
        for (index, octet) in octets.enumerated() {
            let isPlain =
                switch octet {
                case UInt8(ascii: "%"): octets.dropFirst(index + 1).prefix(2).filter(\.isHexDigit).count == 2
                // Only the first `#` begins a fragment.
                case UInt8(ascii: "#"): !hasFragment
                default: octet.isInReference
                }
            if octet == UInt8(ascii: "#") { hasFragment = true }
            if isPlain {
                result.unicodeScalars.append(Unicode.Scalar(octet))
            } else {
                result += "%" + (octet < 16 ? "0" : "") + String(octet, radix: 16, uppercase: true)
            }
        }
        return result
    }
}

extension URL {
    /// Creates a URL from text entered by a user: existing percent-encoding is kept, and invalid characters
    /// are encoded.
    package init?(reference text: String, relativeTo base: URL? = nil) {
        self.init(string: URLReference(text).text, relativeTo: base)
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(lowercasedASCII)
    }

    /// Whether RFC 3986 §2 allows the octet in paths and queries, reserved or not.
    fileprivate var isInReference: Bool {
        switch lowercasedASCII {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case let octet: "-._~/?!$&'()*+,;=:@".utf8.contains(octet)
        }
    }
}
