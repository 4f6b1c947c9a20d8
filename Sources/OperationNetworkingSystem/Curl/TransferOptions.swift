/// The options of a libcurl transfer, decided before it starts.
package struct TransferOptions: Sendable {
    /// The permitted HTTP versions.
    package enum HTTPVersion: Hashable, Sendable {
        /// HTTP/2 if TLS negotiates it (ALPN), else HTTP/1.1.
        case automatic
        case http1
        /// Like ``automatic``, for an origin that only supports HTTP/2, where `http1` would fail.
        case http2
        /// HTTP/2 from the first byte, also without TLS (RFC 9113 §3.3).
        case http2PriorKnowledge
    }

    /// The body of the request.
    package enum Body: Hashable, Sendable {
        case none
        /// A body with this number of bytes.
        case length(Int64)
        /// A body of unknown length: chunked in HTTP/1.1.
        case unknownLength
    }

    /// A proxy server.
    package struct Proxy: Sendable {
        /// The authentication to an HTTP proxy.
        package enum Authentication: Hashable, Sendable {
            /// After a challenge, with the strongest offered scheme.
            case afterChallenge
            /// Basic, with the first request.
            case basic
        }

        /// `http://host:port`, `socks5h://host:port`, without credentials.
        package var url: String
        package var user: String?
        package var password: String?
        package var authentication: Authentication
        /// For HTTP proxies only; see ``TransferOptions/headerLines``.
        package var headerLines: [String]

        package init(
            url: String,
            user: String? = nil,
            password: String? = nil,
            authentication: Authentication = .afterChallenge,
            headerLines: [String] = []
        ) {
            self.url = url
            self.user = user
            self.password = password
            self.authentication = authentication
            self.headerLines = headerLines
        }
    }

    package var url: String
    package var method: String
    /// `Name: value`, in order; `Name:` removes a field that libcurl would add, `Name;` sends it empty.
    package var headerLines: [String] = []
    /// The line that is not UTF-8, with one scalar per octet.
    package var octetLine: String?
    package var body = Body.none
    package var version = HTTPVersion.automatic
    /// The TLS settings for an https URL; `nil` for libcurl's defaults.
    package var tls: TLSOptions?
    /// The time limit, in seconds, for name resolution, connecting and the TLS handshake together; `nil` for
    /// none.
    package var connectTimeout: Double?
    /// The cookies, as lines of Netscape's file format, from which libcurl chooses; `nil` to neither send nor
    /// store any.
    package var cookieLines: [String]?
    /// `nil` for none, even if the environment names one.
    package var proxy: Proxy?
    /// Whether to open a new connection even if idle ones exist.
    package var opensConnection = false
    /// The credentials; with `nil` libcurl answers no challenge.
    package var authentication: CurlAuthentication?

    package init(url: String, method: String) {
        self.url = url
        self.method = method
    }
}
