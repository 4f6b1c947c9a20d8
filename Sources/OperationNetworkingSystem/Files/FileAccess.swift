/// The access to a complete file: its permissions, group and access control list. While it is being written,
/// its mode is 0600.
///
/// | Previously under the name    | Access of the complete file                                          |
/// |------------------------------|----------------------------------------------------------------------|
/// | nothing                      | that of open(2) with 0666, by the umask or the folder's default list |
/// | a file of the effective user | the permissions, the group and the access control list of that file  |
/// | a file of another user       | as for nothing: its owner must not decide about our file             |
///
/// Granted right before the file gets its final name: a part that others may write is not taken for ours
/// (``FileStatus/isOwn(of:)``). If the group cannot be set because the user is not a member, the file's own group gets
/// the permissions of others.
package struct FileAccess: Hashable, Sendable {
    /// Permissions to read, write and execute.
    package let mode: UInt32
    /// `nil` for the group of a new file.
    package var group: UInt32?
    /// The access control list in the system's format; empty for none.
    package var list: [UInt8] = []

    package init(mode: UInt32, group: UInt32? = nil, list: [UInt8] = []) {
        self.mode = mode
        self.group = group
        self.list = list
    }

    /// The mode if the group could not be set.
    package var modeWithoutGroup: UInt32 { mode & ~0o070 | (mode & 0o007) << 3 }
}
