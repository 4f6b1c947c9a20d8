/// A change of a folder that is about to be requested from the system.
///
/// Every change that a ``DownloadFolder`` and its files make is one of these, so an observer knows the order
/// of the requests. `file` is the inode.
package enum FileChange: Hashable, Sendable {
    /// A new, empty file was created with this name.
    case create(String, file: UInt64)
    case write(file: UInt64, offset: Int64, bytes: [UInt8])
    case truncate(file: UInt64, length: Int64)
    /// The file's bytes so far are synchronized to disk.
    case synchronize(file: UInt64)
    /// The file is renamed; replaces a file with the new name.
    case rename(String, to: String)
    case remove(String)
    /// The folder's names so far are synchronized to disk.
    case synchronizeFolder

    /// An observer that is called before each change is made, or after a creation. If it throws, the change
    /// is not made and the error is rethrown.
    package typealias Watcher = (FileChange) throws -> Void
}
