public import Foundation

/// Whose signature makes a server's certificate trustworthy.
public enum TrustAnchors: Hashable, Codable, Sendable {
    /// The certificate authorities of the system; those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name instead, if one of them
    /// is set when the first request of the process is made.
    case system
    /// Those in a file, PEM, and no others. A file that cannot be read makes every request fail.
    case file(URL)
    /// Those in a directory as `openssl rehash` makes them, and no others.
    case directory(URL)
    /// These, and no others.
    case certificates([Certificate])
}

/// Where OpenSSL's own programs look for authorities; libcurl does not.
struct AuthorityPlaces: Hashable, Sendable {
    var file: String?
    var directory: String?

    /// - Parameter environment: that of the process.
    init(environment: [String: String]) {
        let value = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        file = value("SSL_CERT_FILE")
        directory = value("SSL_CERT_DIR")
    }

    /// Of this process, read once.
    static let ofProcess = AuthorityPlaces(environment: ProcessInfo.processInfo.environment)

    var isEmpty: Bool { file == nil && directory == nil }
}
