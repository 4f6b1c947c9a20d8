import COperationNetworking

/// The version of a file, or of a folder's list of names: its identity, and the time of its last change,
/// including changes of only its name or owner. Follows symbolic links (stat(2)).
package struct FileVersion: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let length: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// Reads the version of the file at `path`; `nil` if it cannot be read.
    package init?(path: String) {
        var version = cversion()
        guard cversion_of_path(path, &version) == 0 else { return nil }
        device = version.device
        inode = version.inode
        length = version.length
        seconds = version.seconds
        nanoseconds = version.nanoseconds
    }
}
