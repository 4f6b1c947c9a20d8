/// Whether a file that has a name of ours (a partial file, a checkpoint, a journal) may be believed to be one of ours.
///
/// Another user who may write to the folder can give such a name to any file, and a server can have a downloaded file get
/// it. Ours are made with mode 0600.
///
/// | What has the name                                        | Trust       |
/// |----------------------------------------------------------|-------------|
/// | a directory, a symbolic link, a FIFO, a socket, a device | `none`      |
/// | a file of another user                                   | `none`      |
/// | a file with several names (hard links)                   | `none`      |
/// | a file that its group or others may write                | `none`      |
/// | a file that its group or others may read or execute      | `readable`  |
/// | any other file                                           | `full`      |
///
/// A file system without modes, such as FAT, shows the same mode for every file: there the owner decides, and the last
/// three rows are `full`.
package enum FileTrust: Hashable, Sendable {
    /// Not ours.
    case none
    /// Of the effective user, and nobody else can have changed it. But it was not made as ours are: another program made it,
    /// or an earlier version of this library; and another user may have it open, and lock it.
    case readable
    /// Made as ours are.
    case full

    /// - Parameters:
    ///   - status: of the file.
    ///   - user: the effective user.
    ///   - keepsModes: whether the file system keeps modes; asked only where it matters.
    package init(
        _ status: FileStatus,
        user: UInt32,
        keepsModes: () throws -> Bool
    ) rethrows {
        guard status.owner == user, status.links == 1 else {
            self = .none
            return
        }
        if status.mode & 0o077 == 0 {
            self = .full
        } else if try !keepsModes() {
            self = .full
        } else {
            self = status.mode & 0o022 == 0 ? .readable : .none
        }
    }
}
