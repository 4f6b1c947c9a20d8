/// The access to a complete file: its permissions, group and access control list. While it is written, only
/// its owner has access: its mode is 0600.
///
/// | What the name stood for before | What the complete file gets                                                       |
/// |--------------------------------|-------------------------------------------------------------------------------|
/// | nothing                        | what open(2) gives with 0666: the umask, or the folder's default list, decide |
/// | a file of the effective user   | the permissions, the group and the access control list of that file           |
/// | a file of another user         | the same as for nothing: its owner has no say in who may write ours           |
///
/// It is granted when the file has the name: before, another download could take it for one that others may
/// lock. If the group cannot be given, since the user is not in it, the file's own group may do what others
/// may.
package struct FileAccess: Hashable, Sendable {
    /// Permissions to read, write and execute.
    package let mode: UInt32
    /// `nil`: the group that a new file has.
    package var group: UInt32?
    /// The access control list, as the system keeps it; empty: none.
    package var list: [UInt8] = []

    package init(mode: UInt32, group: UInt32? = nil, list: [UInt8] = []) {
        self.mode = mode
        self.group = group
        self.list = list
    }

    /// The mode where the group could not be given.
    package var modeWithoutGroup: UInt32 { mode & ~0o070 | (mode & 0o007) << 3 }
}
