import COperationNetworking

/// The identity of a file, independent of its name: the same for as long as its file system stays mounted.
package struct FileIdentity: Hashable, Sendable, Codable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
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
