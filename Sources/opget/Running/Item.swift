import Foundation
import OperationNetworking

/// One thing to fetch: from where, to where.
struct Item: Hashable, Sendable {
    /// The destination of the body.
    enum Destination: Hashable, Sendable {
        /// An open descriptor, such as standard output.
        case descriptor(Int32)
        case file(FilePath)
    }

    let url: URL
    let destination: Destination
    /// The name shown while it is fetched: its path below the directory, or its address.
    let name: String
    /// The checksums that the file has to have, all of them.
    var digests: [FileDigest] = []

    /// The descriptor that the body goes to; `nil`: a file.
    var descriptor: Int32? { if case .descriptor(let number) = destination { number } else { nil } }

    /// The address as it may be printed: without a user's name and password.
    var printableURL: String { url.withoutUser }
}

extension URL {
    /// The address without a user's name and password.
    var withoutUser: String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            // The places of its secrets are unknown.
            return (scheme ?? "") + "://" + (host ?? "")
        }
        components.user = nil
        components.password = nil
        return components.string ?? (scheme ?? "") + "://" + (host ?? "")
    }
}
