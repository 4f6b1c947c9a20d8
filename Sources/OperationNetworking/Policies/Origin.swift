import Foundation

/// Scheme, host and port of a URL: what one server answers for
/// ([RFC 9110 §4.3.1](https://www.rfc-editor.org/rfc/rfc9110#section-4.3.1)). Default ports are filled in.
struct Origin: Hashable, Sendable {
    let scheme: String?
    let host: String?
    let port: Int

    init(_ url: URL) {
        self = Self(plain: url.absoluteString) ?? Self(parsing: url)
    }

    /// By Foundation, which knows all that a URL may be.
    init(parsing url: URL) {
        scheme = url.scheme?.inLowerCase
        host = url.host?.inLowerCase
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    var isTLS: Bool { scheme == "https" }
}

extension Origin {
    /// The same, half of the work, for what nearly all URLs are; `nil` for all others.
    init?(plain text: String) {
        guard let authority = PlainAuthority(text.utf8Span.span) else { return nil }
        scheme = authority.isTLS ? "https" : "http"
        host = String(Substring(text.utf8.dropFirst(authority.host.lowerBound).prefix(authority.host.count)))
        port = authority.port ?? authority.defaultPort
    }
}

/// The beginning of a URL as nearly all are: `https://example.org:8080`, with scheme and host in lower case.
/// One that has a user, a bracket, a percent sign or anything else that is rare is for Foundation to read.
struct PlainAuthority {
    let isTLS: Bool
    /// Places of octets.
    let host: Range<Int>
    /// 1 to 65535; `nil`: there is none.
    let port: Int?
    /// The place behind it.
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
    /// The same as `lowercased()`, which copies what is in lower case already.
    fileprivate var inLowerCase: String {
        let isLowerASCII = utf8.allSatisfy { $0 < 0x80 && $0.lowercasedASCII == $0 }
        return isLowerASCII ? self : lowercased()
    }
}

extension URL {
    /// `http://host:8080`: the part of an address that may be shown where its path and query are private.
    var originText: String {
        var components = URLComponents()
        components.scheme = scheme
        components.host = host
        components.port = port
        return components.string ?? "\(scheme ?? ""):"
    }
}
