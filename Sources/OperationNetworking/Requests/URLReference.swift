package import Foundation
internal import OperationNetworkingSystem

/// The text of a URL, or of a reference to one, whose path, query and fragment `URL` takes as they are: what
/// no URL may have is percent-encoded, and what is encoded already stays. By itself `URL` encodes every
/// percent sign of a component in which a character has to be encoded.
struct URLReference {
    /// With its colon; may be empty.
    let scheme: Substring
    /// As it was.
    let authority: Substring?
    /// Path, query and fragment.
    let rest: String

    /// `isLatin1`: each scalar is an octet (ISO 8859-1), and path, query and fragment are these octets.
    init(_ text: String, isLatin1: Bool = false) {
        let rest: Substring
        (scheme, authority, rest) = Self.split(text)
        self.rest = Self.encoded(isLatin1 ? String(rest).octets : Array(rest.utf8))
    }

    var text: String { scheme + (authority.map { "//" + $0 } ?? "") + rest }

    /// Takes off `scheme:` and `//authority`, as RFC 3986 appendix B does.
    private static func split(
        _ text: String
    ) -> (scheme: Substring, authority: Substring?, rest: Substring) {
        // By scalars: a slash with an accent behind it is another character, and begins a path all the same.
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

    /// Percent-encodes what no URL may have.
    private static func encoded(_ octets: [UInt8]) -> String {
        var result = ""
        var hasFragment = false
        for (index, octet) in octets.enumerated() {
            let isPlain =
                switch octet {
                case UInt8(ascii: "%"): octets.dropFirst(index + 1).prefix(2).filter(\.isHexDigit).count == 2
                // Only the first one begins a fragment.
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
    /// The URL of a text that a person wrote: what is percent-encoded in it stays, and what has to be, is.
    package init?(reference text: String, relativeTo base: URL? = nil) {
        self.init(string: URLReference(text).text, relativeTo: base)
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(lowercasedASCII)
    }

    /// Whether RFC 3986 §2 has it in paths and queries, reserved or not.
    fileprivate var isInReference: Bool {
        switch lowercasedASCII {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case let octet: "-._~/?!$&'()*+,;=:@".utf8.contains(octet)
        }
    }
}
