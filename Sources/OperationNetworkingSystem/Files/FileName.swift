import Glibc

/// What happens to the names of files, rather than to what is in them.
package enum FileName {
    /// Gives a file another name in the same file system; a file of that name is replaced in the same moment
    /// (rename(2)).
    package static func rename(_ old: String, to new: String) throws {
        guard Glibc.rename(old, new) == 0 else { throw SystemError(errno, "rename \(old) to \(new)") }
    }
}
