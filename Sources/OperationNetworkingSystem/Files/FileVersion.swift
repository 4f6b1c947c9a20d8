import COperationNetworking

/// What tells whether a file, or a folder's list of names, is still the same: which one it is, and when it
/// last changed, be it only in its name or its owner. Links are followed (stat(2)).
package struct FileVersion: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let length: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// Of what is there now; `nil` if nobody can tell.
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
