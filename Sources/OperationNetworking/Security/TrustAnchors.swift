public import Foundation

/// The trusted certificate authorities of servers.
public enum TrustAnchors: Hashable, Codable, Sendable {
    /// The certificate authorities of the system; those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name instead,
    /// if one of them is set when the first request of the process is made.
    case system
    /// The authorities in a file, PEM, and no others. A file that cannot be read makes every request fail.
    case file(URL)
    /// The authorities in a directory as `openssl rehash` makes it, and no others.
    case directory(URL)
    /// These authorities, and no others.
    case certificates([X509Certificate])
}

extension TrustAnchors {
    /// Their places on the disk; empty, if libcurl knows them by itself, or they are in memory.
    var places: AuthorityPlaces {
        switch self {
        case .system: .ofProcess
        case .file(let url): AuthorityPlaces(file: url.path)
        case .directory(let url): AuthorityPlaces(directory: url.path)
        case .certificates: AuthorityPlaces()
        }
    }
}

/// A file and a directory of authorities, as those where OpenSSL's own programs look; libcurl does not.
struct AuthorityPlaces: Hashable, Sendable {
    var file: String?
    var directory: String?

    init(file: String? = nil, directory: String? = nil) {
        self.file = file
        self.directory = directory
    }

    /// - Parameter environment: that of the process.
    init(environment: [String: String]) {
        let value = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        file = value("SSL_CERT_FILE")
        directory = value("SSL_CERT_DIR")
    }

    /// The places of this process, read once.
    static let ofProcess = AuthorityPlaces(environment: ProcessInfo.processInfo.environment)

    var isEmpty: Bool { file == nil && directory == nil }
}
