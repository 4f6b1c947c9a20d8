internal import Foundation
internal import OperationNetworkingSystem

/// The existing file that a complete download may replace, when it gets its name.
package enum ReplaceableFile: Hashable, Sendable {
    case none
    /// One without bytes, such as mktemp(1) makes.
    case empty
    /// One of this length and time, in nanoseconds since 1970: one that was looked at, and is still the same.
    case unchanged(length: Int64, seconds: Int64, nanoseconds: Int64)
    case any

    /// Whether the file with this status, which has the name `url`, is such a one.
    func contains(_ status: FileStatus, at url: URL) throws -> Bool {
        switch self {
        case .none: false
        case .empty: status.size == 0
        case .unchanged(let length, let seconds, let nanoseconds):
            try FileStamp(path: url.path)
                == FileStamp(length: length, seconds: seconds, nanoseconds: nanoseconds)
        case .any: true
        }
    }
}
