import Foundation
internal import OperationNetworkingSystem

/// The scheme, host and port of a URL ([RFC 9110
/// §4.3.1](https://www.rfc-editor.org/rfc/rfc9110#section-4.3.1)). A missing port is the scheme's default.
struct Origin: Hashable, Sendable {
    let scheme: String?
    let host: String?
    let port: Int

    init(_ url: URL) {
        self = Self(plain: url.absoluteString) ?? Self(parsing: url)
    }

    /// Parses with Foundation, which handles every URL.
    init(parsing url: URL) {
        scheme = url.scheme?.inLowerCase
        host = url.host?.inLowerCase
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    var isTLS: Bool { scheme == "https" }
}

extension Origin {
    /// Parses nearly all URLs at half the cost; `nil` for all others.
    init?(plain text: String) {
        let octets = text.utf8Span.span
        guard let authority = PlainAuthority(octets) else { return nil }
        scheme = authority.isTLS ? "https" : "http"
        host = String(octets.extracting(authority.host))
        port = authority.port ?? authority.defaultPort
    }
}

/// The beginning of a common URL, `https://example.org:8080`, with scheme and host in lower case. URLs with a
/// user, a bracket, a percent sign or anything else that is rare are left to Foundation.
struct PlainAuthority {
    let isTLS: Bool
    /// Octet offsets.
    let host: Range<Int>
    /// 1 to 65535; `nil` if the URL has none.
    let port: Int?
    /// The octet offset behind the authority.
    let end: Int

    init?(_ bytes: Span<UInt8>) {
        isTLS = bytes.has("https://")
        guard isTLS || bytes.has("http://") else { return nil }
        host = bytes.range(from: isTLS ? 8 : 7, while: \.isPlainHostCharacter)
        var end = host.upperBound
        var port: Int?
        if bytes.has(":", at: end) {
            let digits = bytes.range(from: end + 1, while: \.isASCIIDigit)
            guard (1...5).contains(digits.count), bytes[digits.lowerBound] != UInt8(ascii: "0") else {
                return nil
            }
            let number = digits.reduce(0) { $0 * 10 + Int(bytes[$1] - UInt8(ascii: "0")) }
            guard number <= UInt16.max else { return nil }
            (port, end) = (number, digits.upperBound)
        }
        // RFC 3986 §3.2.
        let isAtEnd =
            end == bytes.count || bytes.has("/", at: end) || bytes.has("?", at: end)
            || bytes.has("#", at: end)
        guard !host.isEmpty, isAtEnd else { return nil }
        (self.port, self.end) = (port, end)
    }

    var defaultPort: Int { isTLS ? 443 : 80 }
}

extension UInt8 {
    fileprivate var isPlainHostCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

extension String {
    /// The same as `lowercased()`, without a copy if the text is already in lower case.
    fileprivate var inLowerCase: String {
        let isLowerASCII = utf8.allSatisfy { $0 < 0x80 && $0.lowercasedASCII == $0 }
        return isLowerASCII ? self : lowercased()
    }
}

extension URL {
    /// `http://host:8080`: the part of a URL that may be shown where path and query are private.
    var originText: String {
        var components = URLComponents()
        components.scheme = scheme
        components.host = host
        components.port = port
        return components.string ?? "\(scheme ?? ""):"
    }
}
