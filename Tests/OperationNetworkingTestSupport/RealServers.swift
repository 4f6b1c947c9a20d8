import Foundation

/// The real servers that `scripts/with-servers` starts; each is `nil` in a run without it.
enum RealServers {
    static var httpbin: URL? { url("HTTPBIN") }
    static var nginx: URL? { url("NGINX_HTTP") }
    static var nginxTLS: URL? { url("NGINX_HTTPS") }
    /// Speaks HTTP/2 only, serves what nginx serves, and sends back what is posted.
    static var nghttpd: URL? { url("NGHTTPD") }
    /// The same, and no response has a length.
    static var nghttpdNoLength: URL? { url("NGHTTPD_NO_LENGTH") }
    /// The same, and each response ends with a trailer.
    static var nghttpdTrailers: URL? { url("NGHTTPD_TRAILERS") }
    /// Whether the tests run with another libcurl than that of the system.
    static var hasLaterLibcurl: Bool { value("LATER_LIBCURL") != nil }
    /// A Python, for parsers and servers of other authors.
    static var python: URL? { file("PYTHON") }
    /// The certificate authority that signed for ``nginxTLS``: a PEM file.
    static var authorities: URL? { file("CA") }
    /// The certificate authority that signed for ``NginxTLSServer/other``.
    static var otherAuthorities: URL? { file("CA_OTHER") }
    /// The directory that nginx serves.
    static var nginxRoot: URL? { file("NGINX_ROOT") }
    /// nginx's access log.
    static var nginxLog: URL? { file("NGINX_LOG") }

    // MARK: - Authentication: the user ``user`` with the password ``password``

    static let user = "user"
    static let password = "password"
    /// Apache: `/basic/`, `/digest/`, `/digest-stale/` and `/negotiate/`; `X-User` in the answer is who one is.
    static var apache: URL? { url("APACHE") }
    /// Apache's access log: `Tests/Servers/apache.conf` has the format.
    static var apacheLog: URL? { file("APACHE_LOG") }
    /// NTLM for every path, by connection; `Tests/Servers/ntlm_server.py` says what it answers.
    static var ntlm: URL? { url("NTLM") }
    /// A line for each request: `CONNECTION REQUEST STATUS METHOD PATH USER`.
    static var ntlmLog: URL? { file("NTLM_LOG") }

    /// The address in a variable of `scripts/with-servers`; its name without `OPERATIONNETWORKING_`.
    static func url(_ name: String) -> URL? {
        value(name).flatMap { URL(string: $0) }
    }

    /// The file or directory in a variable.
    static func file(_ name: String) -> URL? {
        value(name).map { URL(fileURLWithPath: $0) }
    }

    private static func value(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["OPERATIONNETWORKING_\(name)"].flatMap { $0.isEmpty ? nil : $0 }
    }
}
