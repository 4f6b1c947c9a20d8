import Foundation

/// Scheme, host and port of a URL: what one server answers for
/// ([RFC 9110 §4.3.1](https://www.rfc-editor.org/rfc/rfc9110#section-4.3.1)). Default ports are filled in.
struct Origin: Hashable, Sendable {
    let scheme: String?
    let host: String?
    let port: Int

    init(_ url: URL) {
        scheme = url.scheme?.inLowerCase
        host = url.host?.inLowerCase
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    var isTLS: Bool { scheme == "https" }
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
