import Foundation

/// The primary key of a stored response ([RFC 9111 §2](https://www.rfc-editor.org/rfc/rfc9111#section-2)).
struct CacheKey: Hashable, Sendable {
    /// The URL that was asked for, without fragment, user and password.
    var url: String
    /// The trust settings by which the response came: a server that one setting believes is not believed by
    /// another. Usually empty.
    var partition: String

    init(url: String, partition: String = "") {
        self.url = url
        self.partition = partition
    }

    /// The key of a request for `url`.
    init(_ url: URL, partition: String = "") {
        self.init(url: Self.text(of: url), partition: partition)
    }

    /// The text by which two URLs are one
    /// ([RFC 9110 §4.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-4.2.3)).
    ///
    /// | URL                              | Text                     |
    /// |----------------------------------|--------------------------|
    /// | `HTTP://Example.com:80/a#part`   | `http://example.com/a`   |
    /// | `https://user:secret@host`       | `https://host/`          |
    /// | `http://host/a?q`                | `http://host/a?q`        |
    ///
    /// Paths and queries are compared as they are written.
    static func text(of url: URL) -> String {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            return url.absoluteString
        }
        components.fragment = nil
        components.user = nil
        components.password = nil
        let scheme = components.scheme?.lowercased()
        components.scheme = scheme
        if let host = components.percentEncodedHost { components.percentEncodedHost = host.lowercased() }
        switch (scheme, components.port) {
        case ("http", 80), ("https", 443): components.port = nil
        default: break
        }
        if components.percentEncodedPath.isEmpty, components.percentEncodedHost?.isEmpty == false {
            components.percentEncodedPath = "/"
        }
        return components.string ?? url.absoluteString
    }
}
