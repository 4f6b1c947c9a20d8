import Foundation
import OperationNetworking

/// A file to fetch: its address and destination.
struct Item: Hashable, Sendable {
    /// The destination of the body.
    enum Destination: Hashable, Sendable {
        /// An open descriptor, such as standard output.
        case descriptor(Int32)
        case file(FilePath)
    }

    let url: URL
    let destination: Destination
    /// The displayed name: its path below the directory, or its address.
    let name: String
    /// The expected checksums, all of which must match.
    var digests: [FileDigest] = []

    /// The descriptor that receives the body; `nil` for a file.
    var descriptor: Int32? { if case .descriptor(let number) = destination { number } else { nil } }

    /// The printable address, without user and password.
    var printableURL: String { url.withoutUser }
}

extension URL {
    /// The address without user and password.
    var withoutUser: String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            // The positions of its secrets are unknown.
            return (scheme ?? "") + "://" + (host ?? "")
        }
        components.user = nil
        components.password = nil
        return components.string ?? (scheme ?? "") + "://" + (host ?? "")
    }
}
