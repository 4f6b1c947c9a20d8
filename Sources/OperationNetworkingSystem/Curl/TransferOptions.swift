/// All that libcurl must know of a transfer, decided before it starts.
package struct TransferOptions: Sendable {
    /// The versions of HTTP that may be used.
    package enum HTTPVersion: Hashable, Sendable {
        /// HTTP/2 where TLS negotiates it (ALPN), else HTTP/1.1.
        case automatic
        case http1
        /// As ``automatic``; nothing would come of `http1`, because the origin has HTTP/2 only.
        case http2
        /// HTTP/2 from the first byte, also without TLS (RFC 9113 §3.3).
        case http2PriorKnowledge
    }

    /// The body of the request.
    package enum Body: Hashable, Sendable {
        case none
        /// A body of that many bytes.
        case length(Int64)
        /// A body that ends when it ends: chunked in HTTP/1.1.
        case unknownLength
    }

    /// A server to go through.
    package struct Proxy: Sendable {
        /// The authentication to an HTTP proxy.
        package enum Authentication: Hashable, Sendable {
            /// When it asks, with the strongest scheme that it offers.
            case asAsked
            /// Basic, with the first request.
            case basic
        }

        /// `http://host:port`, `socks5h://host:port`, without credentials.
        package var url: String
        package var user: String?
        package var password: String?
        package var authentication: Authentication
        /// For an HTTP proxy only, as ``TransferOptions/headerLines``.
        package var headerLines: [String]

        package init(
            url: String,
            user: String? = nil,
            password: String? = nil,
            authentication: Authentication = .asAsked,
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
    /// `Name: value`, in order; `Name:` removes a field that libcurl would add by itself, `Name;` sends it
    /// empty.
    package var headerLines: [String] = []
    /// The one of the lines that has one scalar for each octet, and is not UTF-8.
    package var octetLine: String?
    package var body = Body.none
    package var version = HTTPVersion.automatic
    /// The TLS settings, for an https URL; `nil`: libcurl's defaults.
    package var tls: TLSOptions?
    /// The time limit, in seconds, of finding the server, connecting and TLS together; `nil`: none.
    package var connectTimeout: Double?
    /// The cookies from which libcurl chooses those that it sends, in the lines of Netscape's file format;
    /// `nil`: it neither sends nor keeps any.
    package var cookieLines: [String]?
    /// `nil`: none, whatever the environment says.
    package var proxy: Proxy?
    /// Whether to open a connection, although some may be kept for later.
    package var opensConnection = false
    /// The credentials; `nil`: libcurl answers no challenge.
    package var authentication: CurlAuthentication?

    package init(url: String, method: String) {
        self.url = url
        self.method = method
    }
}
