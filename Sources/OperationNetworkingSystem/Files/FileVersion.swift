import COperationNetworking

/// The version of a file, or of a folder's list of names: its identity, and the time of its last change, be
/// it only of its name or its owner. Links are followed (stat(2)).
package struct FileVersion: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let length: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// The version of the file at `path` now; `nil` if the system does not tell.
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
