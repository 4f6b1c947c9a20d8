import Foundation

/// A cookie ([RFC 6265 §5.3](https://www.rfc-editor.org/rfc/rfc6265#section-5.3)) whose characters are all
/// valid in a header field and in a cookie file.
struct Cookie: Hashable, Sendable {
    /// The identity of a cookie. A cookie replaces the one with the same identity.
    struct Identity: Hashable, Sendable {
        let name: String
        let domain: String
        let includesSubdomains: Bool
        let path: String
    }

    let name: String
    let value: String
    /// In lower case, without a leading dot. A trailing dot (of the DNS root) is kept and makes it a
    /// different host (RFC 6265 §5.1.2).
    let domain: String
    /// Whether the server named the domain. If not, the cookie is sent only to the host that set it.
    let includesSubdomains: Bool
    /// Begins with a slash.
    let path: String
    let isSecure: Bool
    let isHTTPOnly: Bool
    /// Seconds since 1970; `nil` for a session cookie, which lasts as long as the jar.
    let expires: Int64?

    /// - Returns: `nil` if a character could end the line or begin another cookie.
    init?(
        name: String,
        value: String,
        domain: String,
        includesSubdomains: Bool = false,
        path: String = "/",
        isSecure: Bool = false,
        isHTTPOnly: Bool = false,
        expires: Int64? = nil
    ) {
        let domain = Self.canonical(domain)
        guard !name.isEmpty, name.utf8.allSatisfy({ Self.isCookieText($0) && $0 != UInt8(ascii: "=") }),
            value.utf8.allSatisfy(Self.isCookieText), Self.isDomain(domain),
            path.hasPrefix("/"), path.utf8.allSatisfy(Self.isCookieText)
        else { return nil }
        self.name = name
        self.value = value
        self.domain = domain
        self.includesSubdomains = includesSubdomains
        self.path = path
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.expires = expires
    }

    var identity: Identity {
        Identity(name: name, domain: domain, includesSubdomains: includesSubdomains, path: path)
    }

    /// A copy for the host ``domain`` only, without its subdomains.
    var forHostOnly: Cookie? {
        Cookie(
            name: name,
            value: value,
            domain: domain,
            path: path,
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly,
            expires: expires
        )
    }

    /// A copy with another path; `nil` if the path is invalid.
    func at(path: String) -> Cookie? {
        Cookie(
            name: name,
            value: value,
            domain: domain,
            includesSubdomains: includesSubdomains,
            path: path,
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly,
            expires: expires
        )
    }

    func hasExpired(by now: Int64) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    // MARK: - Matching

    /// Whether the cookie matches `host` (in lower case): its own host or, if it includes subdomains, one of
    /// these.
    func concerns(host: String) -> Bool {
        host == domain || (includesSubdomains && host.hasSuffix("." + domain) && !Self.isAddress(host))
    }

    /// Whether the requested path is the cookie's path or below it ([RFC 6265
    /// §5.1.4](https://www.rfc-editor.org/rfc/rfc6265#section-5.1.4)).
    func concerns(path requested: String) -> Bool {
        let (own, requested) = (path.utf8, requested.utf8)
        guard requested.starts(with: own) else { return false }
        return own.count == requested.count || own.last == UInt8(ascii: "/")
            || requested.dropFirst(own.count).first == UInt8(ascii: "/")
    }

    /// Whether `other`, set by a response without TLS, would overlay or replace this cookie ([RFC 6265bis
    /// §5.7](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.7)).
    func isProtected(from other: Cookie) -> Bool {
        isSecure && name == other.name && concerns(path: other.path)
            && (Self.isDomain(domain, within: other.domain) || Self.isDomain(other.domain, within: domain))
    }

    /// RFC 6265 §5.1.3.
    private static func isDomain(_ domain: String, within other: String) -> Bool {
        domain == other || (domain.hasSuffix("." + other) && !isAddress(domain))
    }

    /// Whether a server may set and receive `Secure` cookies. As in libcurl, loopback hosts need no TLS. The
    /// host is in lower case.
    static func isSecure(host: String, isTLS: Bool) -> Bool {
        isTLS || ["localhost", "127.0.0.1", "::1"].contains(host)
    }

    /// Returns a host, or the value of a `Host` field, in the form of ``domain``.
    static func canonical(_ host: String) -> String {
        // By octets: this runs for every request, and takes 9 µs by characters.
        var octets = Substring(host.lowercased()).utf8
        if octets.first == UInt8(ascii: "["), let end = octets.firstIndex(of: UInt8(ascii: "]")) {
            return String(Substring(octets[..<end].dropFirst()))
        }
        if let colon = octets.firstIndex(of: UInt8(ascii: ":")),
            octets[colon...].dropFirst().allSatisfy(\.isASCIIDigit)
        {
            octets = octets[..<colon]
        }
        if octets.first == UInt8(ascii: ".") { octets = octets.dropFirst() }
        return String(Substring(octets))
    }

    private static func isAddress(_ host: String) -> Bool {
        host.contains(":") || host.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
    }

    /// Whether the octet may be part of a cookie: no control character, and no semicolon.
    private static func isCookieText(_ octet: UInt8) -> Bool {
        octet >= 0x20 && octet != 0x7F && octet != UInt8(ascii: ";")
    }

    private static func isDomain(_ text: String) -> Bool {
        guard !text.isEmpty, text != "." else { return false }
        if text.utf8.contains(UInt8(ascii: ":")) {
            return text.utf8.allSatisfy {
                $0.isHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
        }
        return text.utf8.allSatisfy {
            $0.isASCIIDigit || ($0.lowercasedASCII &- UInt8(ascii: "a")) < 26
                || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_")].contains($0)
        }
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        isASCIIDigit || (lowercasedASCII &- UInt8(ascii: "a")) < 6
    }
}

// MARK: - CustomStringConvertible, CustomReflectable

extension Cookie: CustomStringConvertible, CustomReflectable {
    /// The cookie's name and domain, without its value.
    var description: String { "cookie \(name) of \(domain)" }

    var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
