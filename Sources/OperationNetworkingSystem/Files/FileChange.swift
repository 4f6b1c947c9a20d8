/// One step that changes what is in a folder, as it is about to be asked of the system.
///
/// Every change that a ``DownloadFolder`` and its files make is one of these, so an observer knows the order
/// in which the disk was told. `file` is the inode.
package enum FileChange: Hashable, Sendable {
    /// A new, empty file has this name now.
    case create(String, file: UInt64)
    case write(file: UInt64, offset: Int64, bytes: [UInt8])
    case truncate(file: UInt64, length: Int64)
    /// The bytes written to the file until now are asked to be on the disk.
    case synchronize(file: UInt64)
    /// A file of the new name is replaced.
    case rename(String, to: String)
    case remove(String)
    /// The names given and taken until now are asked to be on the disk.
    case synchronizeFolder

    /// An observer of changes, called before each change is made, after a creation. An error that it throws
    /// is thrown instead of making the change.
    package typealias Watcher = (FileChange) throws -> Void
}
