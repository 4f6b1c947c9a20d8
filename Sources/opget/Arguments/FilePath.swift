import Foundation
import OperationNetworking

/// A path as text, with operations that do not access the file system.
struct FilePath: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    // By bytes: a slash followed by a combining character is a different character, but still a slash for the
    // kernel.

    var isAbsolute: Bool { text.utf8.first == Self.slash }

    private static let slash = UInt8(ascii: "/")

    private var components: [String] {
        text.utf8.split(separator: Self.slash).map { String(decoding: $0, as: UTF8.self) }.filter {
            $0 != "."
        }
    }

    /// Returns the absolute path without `.`, `..` and repeated slashes. Does not follow links.
    func normalized(in workingDirectory: String) -> String {
        var result: [String] = []
        for component in FilePath(isAbsolute ? text : workingDirectory + "/" + text).components {
            if component == ".." { _ = result.popLast() } else { result.append(component) }
        }
        return "/" + result.joined(separator: "/")
    }

    /// Returns the path relative to `directory`; `nil` if it is not below it. Does not follow links.
    func relative(to directory: FilePath, in workingDirectory: String) -> String? {
        let root = directory.normalized(in: workingDirectory)
        let place = normalized(in: workingDirectory)
        let prefix = root == "/" ? root : root + "/"
        guard place.utf8.starts(with: prefix.utf8) else { return nil }
        return String(decoding: place.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    /// Returns `path` within this directory.
    func appending(_ path: String) -> FilePath {
        if text.isEmpty || text == "." { return FilePath(path) }
        return FilePath(text.utf8.last == Self.slash ? text + path : text + "/" + path)
    }

    /// The parent directory.
    var parent: FilePath {
        guard let slash = text.utf8.lastIndex(of: Self.slash) else { return FilePath(".") }
        return FilePath(slash == text.startIndex ? "/" : String(decoding: text.utf8[..<slash], as: UTF8.self))
    }

    /// The last component.
    var name: String {
        let last = text.utf8.split(separator: Self.slash, omittingEmptySubsequences: false).last
        return last.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The URL of the file that the kernel finds by the path. Foundation would expand a leading `~`, and
    /// would remove `..` from a relative path without following links.
    var url: URL { url(isDirectory: false) }

    /// The URL of the directory; see ``url``.
    var directoryURL: URL { url(isDirectory: true) }

    private func url(isDirectory: Bool) -> URL {
        let isPlain = isAbsolute || text.utf8.first != UInt8(ascii: "~") && !components.contains("..")
        let path = isPlain ? text : FileManager.default.currentDirectoryPath + "/" + text
        return URL(fileURLWithPath: path, isDirectory: isDirectory)
    }

    // MARK: - Validation

    /// Why the path is invalid for a file below a directory; `nil` if it is valid.
    var problemAsFileBelow: String? {
        if text.isEmpty { return "is empty" }
        if name.isEmpty || name == "." { return "names a directory, not a file" }
        return problemAsDirectoryBelow
    }

    /// Why the path is invalid for a directory below another one; `nil` if it is valid.
    var problemAsDirectoryBelow: String? {
        if isAbsolute { return "is absolute: it must stay below the directory" }
        return problemAsDirectory
    }

    /// Why the path is invalid for a directory in a list from another author; `nil` if it is valid.
    var problemAsDirectory: String? {
        if text.isEmpty { return "is empty" }
        if components.contains("..") { return "contains \"..\"" }
        if text.contains("\0") { return "contains a NUL" }
        if components.contains(where: { $0.utf8.count > SafeFilename.maximumLength }) {
            return "has a name of more than \(SafeFilename.maximumLength) bytes"
        }
        return nil
    }
}
