/// Whether a file that has a name of ours (a partial file, a checkpoint, a journal) may be believed to be one
/// of ours.
///
/// Another user who may write to the folder can give such a name to any file, and so can another program of
/// this user with what a server sent, under a umask of 077 with mode 0600. Ours are made with mode 0600 and a
/// ``FileMark``.
///
/// | What has the name                                         | Its mark      | Trust      |
/// |-----------------------------------------------------------|---------------|------------|
/// | a directory, a symbolic link, a FIFO, a socket, a device  | -             | `none`     |
/// | a file of another user                                    | any           | `none`     |
/// | a file with several names (hard links)                    | any           | `none`     |
/// | a file that its group or others may read, write or execute | any          | `none`     |
/// | any other file                                            | present       | `full`     |
/// | the same                                                  | no attributes are kept | `unmarked` |
/// | the same, with bytes                                      | missing; a new file here can have one | `none` |
/// | the same, with bytes                                      | missing; none can be set here | `unmarked` |
/// | the same, without bytes                                   | missing       | `blank`    |
///
/// A file system without modes, such as FAT, shows the same mode for every file: there the fourth row does
/// not count.
package enum FileTrust: Hashable, Sendable {
    /// Not ours.
    case none
    /// Of no other user, and empty: left by a process that died between making the file and marking it.
    case blank
    /// Of the effective user, and no other can have changed it; no mark can say here which program made it.
    case unmarked
    /// Made by this library.
    case full

    /// - Parameters:
    ///   - status: of the file.
    ///   - mark: what the file system says of its mark.
    ///   - user: the effective user.
    ///   - keepsModes: whether the file system keeps modes; asked only where it matters.
    ///   - keepsMarks: whether a new file in this folder can be marked; asked only where it matters.
    package init(
        _ status: FileStatus,
        mark: FileMark.Finding,
        user: UInt32,
        keepsModes: () throws -> Bool,
        keepsMarks: () throws -> Bool = { true }
    ) rethrows {
        guard status.owner == user, status.links == 1 else {
            self = .none
            return
        }
        guard try status.mode & 0o077 == 0 || !keepsModes() else {
            self = .none
            return
        }
        switch mark {
        case .present: self = .full
        case .unsupported: self = .unmarked
        case .missing where status.size == 0: self = .blank
        case .missing: self = try keepsMarks() ? .none : .unmarked
        }
    }
}
