import Foundation

/// The primary key of a stored response ([RFC 9111 §2](https://www.rfc-editor.org/rfc/rfc9111#section-2)).
struct CacheKey: Hashable, Sendable {
    /// The requested URL, without fragment, user and password.
    var url: String
    /// Separates responses by the trust settings with which they were received, since one setting may accept
    /// a server that another refuses. Usually empty.
    var partition: String

    init(url: String, partition: String = "") {
        self.url = url
        self.partition = partition
    }

    /// Creates the key of a request for `url`.
    init(_ url: URL, partition: String = "") {
        self.init(url: Self.text(of: url), partition: partition)
    }

    /// The canonical text of a URL: equal for equivalent URLs ([RFC 9110
    /// §4.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-4.2.3)).
    ///
    /// | URL                              | Text                     |
    /// |----------------------------------|--------------------------|
    /// | `HTTP://Example.com:80/a#part`   | `http://example.com/a`   |
    /// | `https://user:secret@host`       | `https://host/`          |
    /// | `http://host/a?q`                | `http://host/a?q`        |
    ///
    /// Paths and queries are compared as written.
    static func text(of url: URL) -> String {
        let known = url.absoluteString
        return isPlain(known) ? known : text(parsing: url)
    }

    /// Whether the text of a URL is already canonical: no default port, a path, and no fragment. True for
    /// nearly all URLs.
    private static func isPlain(_ text: String) -> Bool {
        let bytes = text.utf8Span.span
        guard let authority = PlainAuthority(bytes), authority.port != authority.defaultPort,
            bytes.has("/", at: authority.end)
        else { return false }
        return bytes.range(from: authority.end, while: { $0 != UInt8(ascii: "#") }).upperBound == bytes.count
    }

    /// The canonical text as Foundation parses the URL. It handles every URL.
    static func text(parsing url: URL) -> String {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            return url.absoluteString
        }
        let host = components.encodedHost?.lowercased() ?? ""
        let scheme = components.scheme?.lowercased()
        components.fragment = nil
        components.user = nil
        components.password = nil
        components.scheme = scheme
        if let host = components.percentEncodedHost { components.percentEncodedHost = host.lowercased() }
        switch (scheme, components.port) {
        case ("http", 80), ("https", 443): components.port = nil
        default: break
        }
        if components.percentEncodedPath.isEmpty, !host.isEmpty { components.percentEncodedPath = "/" }
        guard host.isEmpty || components.encodedHost?.isEmpty == false else {
            // Foundation returns no host that is invalid by IDNA, such as xn--a. All of these would get one
            // text.
            let port = components.port.map { ":\($0)" } ?? ""
            let query = components.percentEncodedQuery.map { "?" + $0 } ?? ""
            return "\(scheme ?? "")://\(host)\(port)\(components.percentEncodedPath)\(query)"
        }
        return components.string ?? url.absoluteString
    }
}
