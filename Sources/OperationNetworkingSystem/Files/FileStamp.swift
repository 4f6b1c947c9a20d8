import COperationNetworking
import Glibc

/// The stamp of a regular file, which tells whether it was changed: its length, and the time of its last
/// change. Both stay when the file gets another name.
package struct FileStamp: Hashable, Codable, Sendable {
    /// In bytes.
    package let length: Int64
    /// Since 1970.
    package let seconds: Int64
    package let nanoseconds: Int64

    package init(length: Int64, seconds: Int64, nanoseconds: Int64) {
        self.length = length
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// The stamp of the file at `path` now; `nil` if there is none, or no regular file. A link is not
    /// followed.
    /// - Throws: `SystemError` when the system does not tell.
    package init?(path: String) throws {
        var stamp = cstamp()
        switch cstamp_of_path(path, &stamp) {
        case 1: self.init(length: stamp.length, seconds: stamp.seconds, nanoseconds: stamp.nanoseconds)
        case 0: return nil
        default:
            guard errno == ENOENT || errno == ENOTDIR else { throw SystemError(errno, "lstat \(path)") }
            return nil
        }
    }
}
