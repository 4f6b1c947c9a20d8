import Foundation

/// The real servers that `scripts/with-servers` starts; each is `nil` in a run without it.
enum RealServers {
    static var httpbin: URL? { value("HTTPBIN").flatMap { URL(string: $0) } }
    static var nginx: URL? { value("NGINX_HTTP").flatMap { URL(string: $0) } }
    /// The directory that nginx serves.
    static var nginxRoot: URL? { value("NGINX_ROOT").map { URL(fileURLWithPath: $0) } }

    private static func value(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["OPERATIONNETWORKING_\(name)"].flatMap { $0.isEmpty ? nil : $0 }
    }
}
