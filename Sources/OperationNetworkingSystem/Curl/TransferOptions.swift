/// All that libcurl must know of a transfer, decided before it starts.
package struct TransferOptions: Sendable {
    /// Which versions of HTTP may be spoken.
    package enum HTTPVersion: Hashable, Sendable {
        /// HTTP/2 where TLS negotiates it (ALPN), else HTTP/1.1.
        case automatic
        case http1
        /// HTTP/2 from the first byte, also without TLS (RFC 9113 §3.3).
        case http2PriorKnowledge
    }

    /// What is sent after the head.
    package enum Body: Hashable, Sendable {
        case none
        /// A body of that many bytes.
        case length(Int64)
        /// A body that ends when it ends: chunked in HTTP/1.1.
        case unknownLength
    }

    package var url: String
    package var method: String
    /// `Name: value`, in order; `Name:` removes a field that libcurl would add by itself, `Name;` sends it empty.
    package var headerLines: [String]
    package var body: Body
    package var version: HTTPVersion
    /// A PEM file to trust instead of the system's certificate authorities.
    package var authoritiesFile: String?
    /// Seconds that finding the server, connecting and TLS may take together; `nil`: for ever.
    package var connectTimeout: Double?
    /// Who asks; `nil`: libcurl has nobody's name, and answers no challenge.
    package var authentication: CurlAuthentication?

    package init(
        url: String,
        method: String,
        headerLines: [String] = [],
        body: Body = .none,
        version: HTTPVersion = .automatic,
        authoritiesFile: String? = nil,
        connectTimeout: Double? = nil,
        authentication: CurlAuthentication? = nil
    ) {
        self.url = url
        self.method = method
        self.headerLines = headerLines
        self.body = body
        self.version = version
        self.authoritiesFile = authoritiesFile
        self.connectTimeout = connectTimeout
        self.authentication = authentication
    }
}
