import Foundation

/// The real servers that `scripts/with-servers` starts; each is `nil` in a run without it.
enum RealServers {
    static var httpbin: URL? { url("HTTPBIN") }
    static var nginx: URL? { url("NGINX_HTTP") }
    static var nginxTLS: URL? { url("NGINX_HTTPS") }
    /// A Python, for parsers and servers that nobody here wrote.
    static var python: URL? { file("PYTHON") }
    /// The certificate authority that signed for ``nginxTLS``: a PEM file.
    static var authorities: URL? { file("CA") }
    /// The certificate authority that signed for ``NginxTLSServer/other``.
    static var otherAuthorities: URL? { file("CA_OTHER") }
    /// The directory that nginx serves.
    static var nginxRoot: URL? { file("NGINX_ROOT") }
    /// nginx's access log.
    static var nginxLog: URL? { file("NGINX_LOG") }

    private static func value(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["OPERATIONNETWORKING_\(name)"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The address in a variable of `scripts/with-servers`; its name without `OPERATIONNETWORKING_`.
    static func url(_ name: String) -> URL? {
        value(name).flatMap { URL(string: $0) }
    }

    /// The file or directory in a variable.
    static func file(_ name: String) -> URL? {
        value(name).map { URL(fileURLWithPath: $0) }
    }
}
