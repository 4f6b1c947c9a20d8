import Foundation

/// The target of a `Location` field
/// ([RFC 9110 §10.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.2)): a pure decision.
///
/// | `Location`                                    | leads                                                        |
/// |-----------------------------------------------|--------------------------------------------------------------|
/// | relative, `//host/path`, `?query`             | to what RFC 3986 §5 makes of it                              |
/// | without a fragment                            | to the fragment of the request                               |
/// | with spaces, non-ASCII, `"<>\^{|}` and such   | there, percent-encoded; what is encoded already stays        |
/// | with octets that are not UTF-8                | there, each of them percent-encoded                          |
/// | with a host that is not ASCII                 | to its form in ASCII (RFC 5891)                              |
/// | with `user:password@`                         | there, without them: no server gives its clients credentials |
/// | empty, or with control characters             | nowhere                                                      |
/// | `ftp:`, `file:`, `data:`, `http:` without a host, a malformed host or port | nowhere                         |
///
/// What leads nowhere is not followed.
struct RedirectLocation: Hashable, Sendable {
    let url: URL

    /// `nil` if it leads nowhere. `isLatin1`: the octets of the field were not UTF-8, and are a scalar each.
    init?(_ text: String, isLatin1: Bool = false, from current: URL) {
        guard !text.isEmpty, text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }),
            let reference = Self.reference(URLReference(text, isLatin1: isLatin1)),
            let next = URL(string: reference, relativeTo: current)?.absoluteURL,
            let scheme = next.scheme?.lowercased(), scheme == "http" || scheme == "https",
            next.host?.isEmpty == false, (1...65535).contains(next.port ?? 80),
            var components = URLComponents(url: next, resolvingAgainstBaseURL: true)
        else { return nil }
        // A reference without a host inherits the caller's own user and password, which stay at their origin.
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

    /// A form of it that `URL` takes as it is, without user and password.
    /// - Returns: `nil` if it has a host that nothing can be made of.
    private static func reference(_ reference: URLReference) -> String? {
        guard let authority = reference.authority else { return reference.text }
        let server = authority.suffix(
            from: authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex
        )
        guard server.unicodeScalars.allSatisfy({ !$0.isASCII || isInServer($0) }) else { return nil }
        return reference.scheme + "//" + server + reference.rest
    }

    /// Without `%`: a host that is spelled with it may be read differently by different readers.
    private static func isInServer(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            || "-._~:[]".unicodeScalars.contains(scalar)
    }
}

extension ResponseHead {
    /// The target of `Location`, or of another field that has a reference to a URL; `nil` if there is none,
    /// or if it leads nowhere.
    func location(_ name: String = "Location", from current: URL) -> RedirectLocation? {
        fields[name].flatMap { RedirectLocation($0, isLatin1: latin1Values.contains($0), from: current) }
    }
}
