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
    /// The directory that nginx serves.
    static var nginxRoot: URL? { file("NGINX_ROOT") }
    /// nginx's access log.
    static var nginxLog: URL? { file("NGINX_LOG") }

    private static func value(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["OPERATIONNETWORKING_\(name)"].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func url(_ name: String) -> URL? {
        value(name).flatMap { URL(string: $0) }
    }

    private static func file(_ name: String) -> URL? {
        value(name).map { URL(fileURLWithPath: $0) }
    }
}
