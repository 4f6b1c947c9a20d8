import Glibc

/// The names of files.
package enum FileName {
    /// Whether a name, or the end of a path, is such as partial files and checkpoints have. A file that a
    /// server sent must not get one: it is for what downloads have themselves. Upper and lower case, and dots
    /// and spaces at the end, are no difference to some file systems.
    package static func isReserved(_ name: String) -> Bool {
        let upper = name.uppercased()
        let end = upper.unicodeScalars.lastIndex { $0 != "." && $0 != " " }
        guard let end else { return false }
        let text = String(upper.unicodeScalars[...end])
        return [".PART", ".PART.RESUME", ".PART.RESUME.NEW"].contains { text.hasSuffix($0) }
    }

    /// Gives a file another name in the same file system; a file of that name is replaced in the same moment
    /// (rename(2)).
    package static func rename(_ old: String, to new: String) throws {
        guard Glibc.rename(old, new) == 0 else { throw SystemError(errno, "rename \(old) to \(new)") }
    }
}
