import Foundation

/// The proxies of `scripts/with-servers`, which connect to any port of this machine. Those with a password know
/// ``RealServers/user`` and ``RealServers/password``.
enum ProxyServer: String, CaseIterable, Sendable {
    /// tinyproxy, for every client.
    case http = "HTTP_PROXY"
    /// tinyproxy with Basic authentication. To the wrong password it answers 401, although RFC 9110 §15.5.8 wants 407.
    case httpBasic = "HTTP_PROXY_PASSWORD"
    /// Apache with Digest authentication.
    case httpDigest = "HTTP_PROXY_DIGEST"
    /// microsocks, SOCKS 5 (RFC 1928), for every client. It resolves names.
    case socks = "SOCKS"
    /// The same with a password (RFC 1929).
    case socksPassword = "SOCKS_PASSWORD"

    var isSOCKS: Bool { self == .socks || self == .socksPassword }

    /// The proxy's address: `http://127.0.0.1:PORT` or `socks5h://127.0.0.1:PORT`; `nil` in a run without
    /// `scripts/with-servers`.
    var url: URL? { RealServers.url(rawValue) }

    /// Where it says what it was asked for: before it answers, but for Apache, which does so afterwards.
    ///
    /// | Proxy           | A line for each request                                                            |
    /// |-----------------|------------------------------------------------------------------------------------|
    /// | tinyproxy       | `CONNECT ... Request (file descriptor 5): GET http://127.0.0.1:80/ HTTP/1.1`       |
    /// | Apache          | as in `Tests/Servers/apache.conf`                                                  |
    /// | microsocks      | `client[4] 127.0.0.1: connected to localhost:443`                                  |
    var log: URL? { RealServers.file("\(rawValue)_LOG") }
}
