/// The names of files.
package enum FileName {
    /// The part of a path behind the last slash. A byte is looked for: with an accent behind it, a slash is
    /// another character.
    package static func last(of path: String) -> String {
        let bytes = path.utf8
        let start = bytes.lastIndex(of: UInt8(ascii: "/")).map(bytes.index(after:)) ?? bytes.startIndex
        return String(Substring(bytes[start...]))
    }

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
}
