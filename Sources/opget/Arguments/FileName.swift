import Foundation

/// The name of one file, without a directory: never empty, `.` or `..`, no `/`, no control characters.
struct FileName: Hashable, Sendable {
    /// The longest name of Linux's file systems, in bytes.
    static let maximumLength = 255

    let text: String

    /// The name that an address suggests: the last part of its path, decoded; `index.html` if there is none.
    ///
    /// | Address                     | Name         |
    /// |-----------------------------|--------------|
    /// | `http://h/a/b.iso?x=1`      | `b.iso`      |
    /// | `http://h/a/`, `http://h`   | `index.html` |
    /// | `http://h/a%20b`            | `a b`        |
    /// | `http://h/..%2Fetc%2Fpasswd`| `.._etc_passwd` |
    ///
    /// - Throws: `Failure` when it is `.` or `..`.
    init(suggestedBy url: URL) throws {
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        let encoded = path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        // Bytes that are not UTF-8 stay encoded.
        let decoded = encoded.removingPercentEncoding ?? encoded
        guard decoded != ".", decoded != ".." else {
            throw Failure(
                .usage,
                "The address ends in \(decoded.debugDescription), which is no file's name; use -o."
            )
        }
        var scalars = String.UnicodeScalarView()
        for scalar in decoded.unicodeScalars {
            let isAllowed = scalar != "/" && scalar.properties.generalCategory != .control
            scalars.append(isAllowed ? scalar : "_")
        }
        let name = String(scalars)
        text = name.isEmpty ? "index.html" : Self.shortened(name, toBytes: Self.maximumLength)
    }

    /// Cuts a name's middle so that it has no more than `limit` bytes of UTF-8, between characters, and keeps
    /// its extension if that is short.
    static func shortened(_ name: String, toBytes limit: Int) -> String {
        guard name.utf8.count > limit else { return name }
        let ending = nameExtension(name)
        var stem = name.dropLast(ending.count)
        // Counted once: a `dropLast` that recounts everything would take time that grows with the square.
        var length = stem.utf8.count
        while length + ending.utf8.count > limit, let last = stem.popLast() { length -= last.utf8.count }
        guard !stem.isEmpty else {
            // One character of more bytes than that.
            return String(String.UnicodeScalarView(name.unicodeScalars.prefix(limit / 4)))
        }
        return stem + ending
    }

    /// `.iso`, `.tar.gz`, or nothing.
    private static func nameExtension(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 32 else {
            return ""
        }
        let stem = name[..<dot]
        return stem.hasSuffix(".tar") && stem.count > 4 ? ".tar" + name[dot...] : String(name[dot...])
    }
}
