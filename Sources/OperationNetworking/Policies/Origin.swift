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
    /// The same, half of the work, for what nearly all URLs are: `https://example.org:8080/path`, with
    /// scheme and host in lower case. `nil` for all others, as with a user or a bracket.
    init?(plain text: String) {
        let bytes = text.utf8Span.span
        let isTLS = bytes.has("https://")
        guard isTLS || bytes.has("http://") else { return nil }
        let range = bytes.range(from: isTLS ? 8 : 7, while: \.isPlainHostCharacter)
        guard !range.isEmpty, let port = Self.port(in: bytes, from: range.upperBound) else { return nil }
        let utf8 = text.utf8.dropFirst(range.lowerBound).prefix(range.count)
        scheme = isTLS ? "https" : "http"
        host = String(Substring(utf8))
        self.port = port > 0 ? port : isTLS ? 443 : 80
    }

    /// The port that may come after a host, and 0 if there is none; `nil`: it is no plain one.
    private static func port(in bytes: Span<UInt8>, from start: Int) -> Int? {
        guard bytes.has(":", at: start) else { return endsAuthority(bytes, at: start) ? 0 : nil }
        var (end, port) = (start + 1, 0)
        while end < bytes.count, bytes[end].isASCIIDigit, port < 10_000 {
            port = port * 10 + Int(bytes[end] - UInt8(ascii: "0"))
            end += 1
        }
        return (1...Int(UInt16.max)).contains(port) && endsAuthority(bytes, at: end) ? port : nil
    }

    /// RFC 3986 §3.2.
    private static func endsAuthority(_ bytes: Span<UInt8>, at index: Int) -> Bool {
        guard index < bytes.count else { return true }
        switch bytes[index] {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): return true
        default: return false
        }
    }
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
