import COperationNetworking

/// The identity of a file, independent of its name, for as long as its file system stays mounted.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// The identity of a file across mounts and boots: another file that gets the inode later has another time of birth.
package struct LastingFileIdentity: Hashable, Sendable, Codable {
    package let inode: UInt64
    /// The time of its creation (statx(2)), which no program can set; `nil` if the file system does not record it.
    package let birth: FileTime?

    package init(inode: UInt64, birth: FileTime?) {
        self.inode = inode
        self.birth = birth
    }

    /// Whether this is certainly the identity of a file that has `other` now. Without a time of birth, the file may be
    /// a later one.
    package func proves(_ other: LastingFileIdentity) -> Bool { birth != nil && self == other }
}

/// A time that the file system records with a file, since 1970. The kernel's clock has a resolution of some
/// milliseconds.
package struct FileTime: Hashable, Sendable, Codable {
    package let seconds: Int64
    package let nanoseconds: Int64

    package init(seconds: Int64, nanoseconds: Int64) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Reads the time of creation; `nil` if the file system does not record it.
    init?(birthOf descriptor: Int32) {
        var (seconds, nanoseconds): (Int64, Int64) = (0, 0)
        guard cfiles_birth(descriptor, &seconds, &nanoseconds) == 1 else { return nil }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }
}

/// The kind of file that a name stands for; a link is a link, wherever it leads.
package enum NameStatus: Hashable, Sendable {
    case nothing
    case file(FileStatus)
    case directory
    case symbolicLink
    /// A device, a FIFO, a socket.
    case other
}

/// The status of a regular file (stat(2)).
package struct FileStatus: Hashable, Sendable {
    package let identity: FileIdentity
    /// The file's length in bytes.
    package let size: Int64
    /// The bytes of the disk that it holds; more than `size` if room was allocated for it, less if it has
    /// holes.
    package let allocated: Int64
    /// The number of its names; 0 for a file that was removed.
    package let links: UInt64
    /// The numbers of its user and group.
    package let owner: UInt32
    package let group: UInt32
    /// The file's permissions, such as `0o600`.
    package let mode: UInt32

    package init(
        identity: FileIdentity,
        size: Int64,
        allocated: Int64,
        links: UInt64,
        owner: UInt32,
        group: UInt32,
        mode: UInt32
    ) {
        self.identity = identity
        self.size = size
        self.allocated = allocated
        self.links = links
        self.owner = owner
        self.group = group
        self.mode = mode
    }
}

extension FileStatus {
    /// Whether no user but `user` can have made the file or written it: a regular file of this owner, with one name,
    /// that neither group nor others may write. With an access control list the mode of the group is its mask.
    package func isOwn(of user: UInt32) -> Bool {
        owner == user && links == 1 && mode & 0o022 == 0
    }
}

extension NameStatus {
    init(_ entry: cfiles_entry) {
        switch entry.kind {
        case cfiles_entry_file:
            self = .file(
                FileStatus(
                    identity: FileIdentity(device: entry.device, inode: entry.inode),
                    size: entry.size,
                    allocated: entry.allocated,
                    links: entry.links,
                    owner: entry.owner,
                    group: entry.group,
                    mode: entry.mode
                )
            )
        case cfiles_entry_directory: self = .directory
        case cfiles_entry_link: self = .symbolicLink
        default: self = .other
        }
    }
}
