public import Foundation

/// The certificate authorities that are trusted to identify servers.
public enum TrustAnchors: Hashable, Codable, Sendable {
    /// The system's authorities, or those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name if one of them is set
    /// when the process makes its first request.
    case system
    /// Only the authorities in a PEM file. If the file cannot be read, every request fails.
    case file(URL)
    /// Only the authorities in a directory prepared by `openssl rehash`.
    case directory(URL)
    /// Only these authorities.
    case certificates([X509Certificate])
}

extension TrustAnchors {
    /// Their paths; empty if libcurl's defaults apply or they are in memory.
    var places: AuthorityPlaces {
        switch self {
        case .system: .ofProcess
        case .file(let url): AuthorityPlaces(file: url.path)
        case .directory(let url): AuthorityPlaces(directory: url.path)
        case .certificates: AuthorityPlaces()
        }
    }
}

/// A file and a directory of authorities, such as those that OpenSSL's own programs use; libcurl does not.
struct AuthorityPlaces: Hashable, Sendable {
    var file: String?
    var directory: String?

    init(file: String? = nil, directory: String? = nil) {
        self.file = file
        self.directory = directory
    }

    /// - Parameter environment: the variables of the process.
    init(environment: [String: String]) {
        let value = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        file = value("SSL_CERT_FILE")
        directory = value("SSL_CERT_DIR")
    }

    /// The paths in the environment of this process, read once.
    static let ofProcess = AuthorityPlaces(environment: ProcessInfo.processInfo.environment)

    var isEmpty: Bool { file == nil && directory == nil }
}
