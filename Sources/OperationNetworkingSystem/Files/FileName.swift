/// The names of files.
package enum FileName {
    /// Returns the part of a path after the last slash. Searches bytes, because a slash followed by a
    /// combining accent is a different character.
    package static func last(of path: String) -> String {
        let bytes = path.utf8
        let start = bytes.lastIndex(of: UInt8(ascii: "/")).map(bytes.index(after:)) ?? bytes.startIndex
        return String(Substring(bytes[start...]))
    }

    /// Whether a name, or the end of a path, is reserved for partial files and checkpoints. A file from a
    /// server must not get such a name. Ignores case, and trailing dots and spaces, like some file systems.
    package static func isReserved(_ name: String) -> Bool {
        let upper = name.uppercased()
        let end = upper.unicodeScalars.lastIndex { $0 != "." && $0 != " " }
        guard let end else { return false }
        let text = String(upper.unicodeScalars[...end])
        return [".PART", ".PART.RESUME", ".PART.RESUME.NEW"].contains { text.hasSuffix($0) }
    }
}
