import COperationNetworking
import Glibc

/// Identifies the state of a regular file, to detect changes: its length and modification time. Renaming does
/// not change it.
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

    /// Reads the stamp of the file at `path`; `nil` if there is no regular file. Does not follow a symbolic
    /// link.
    /// - Throws: `SystemError` if it cannot be read.
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
