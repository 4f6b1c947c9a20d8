import Foundation

/// The target of a `Location` field ([RFC 9110
/// §10.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.2)).
///
/// | `Location`                                  | Target                                                 |
/// |---------------------------------------------|--------------------------------------------------------|
/// | relative, `//host/path`, `?query`           | resolved by RFC 3986 §5                                |
/// | without a fragment                          | gets the fragment of the request                       |
/// | with spaces, non-ASCII, `"<>\^{|}` and such | percent-encoded; existing encoding is kept             |
/// | with octets that are not UTF-8              | each of these is percent-encoded                       |
/// | with a host that is not ASCII               | the host's ASCII form (RFC 5891)                       |
/// | with `user:password@`                       | these are removed: servers do not hand out credentials |
/// | empty, or with control characters           | none                                                   |
/// | `ftp:`, `file:`, `data:`, `http:` without a host, a malformed host or port | none                                                   |
///
/// A redirect without a target is not followed.
struct RedirectLocation: Hashable, Sendable {
    let url: URL

    /// `nil` if there is no target. `isLatin1`: the field was not UTF-8, and each octet is one scalar.
    init?(_ text: String, isLatin1: Bool = false, from current: URL) {
        guard !text.isEmpty, text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }),
            let reference = Self.reference(URLReference(text, isLatin1: isLatin1)),
            let next = URL(string: reference, relativeTo: current)?.absoluteURL,
            let scheme = next.scheme?.lowercased(), scheme == "http" || scheme == "https",
            next.host?.isEmpty == false, (1...65535).contains(next.port ?? 80),
            var components = URLComponents(url: next, resolvingAgainstBaseURL: true)
        else { return nil }
        // A reference without a host inherits the request's user and password, which must not leave their
        // origin.
        let old = URLComponents(url: current, resolvingAgainstBaseURL: true)
        let isSame = Origin(current) == Origin(next)
        components.percentEncodedUser = isSame ? old?.percentEncodedUser : nil
        components.percentEncodedPassword = isSame ? old?.percentEncodedPassword : nil
        if components.percentEncodedFragment == nil {
            components.percentEncodedFragment = old?.percentEncodedFragment
        }
        guard let url = components.url else { return nil }
        self.url = url
    }

    /// Returns a form that `URL` can parse, without user and password.
    /// - Returns: `nil` if the host is invalid.
    private static func reference(_ reference: URLReference) -> String? {
        guard let authority = reference.authority else { return reference.text }
        let server = authority.suffix(
            from: authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex
        )
        guard server.unicodeScalars.allSatisfy({ !$0.isASCII || isInServer($0) }) else { return nil }
        return reference.scheme + "//" + server + reference.rest
    }

    /// Excludes `%`: parsers disagree about percent-encoded hosts.
    private static func isInServer(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            || "-._~:[]".unicodeScalars.contains(scalar)
    }
}

extension ResponseHead {
    /// The target of `Location`, or of another field that holds a URL reference; `nil` if the field is
    /// missing or has no target.
    func location(_ name: String = "Location", from current: URL) -> RedirectLocation? {
        fields[name].flatMap { RedirectLocation($0, isLatin1: latin1Values.contains($0), from: current) }
    }
}
