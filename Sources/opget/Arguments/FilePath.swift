import Foundation
import OperationNetworking

/// A path, as text: what can be said about it without asking the file system.
struct FilePath: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    // All by bytes: a slash with a combining character behind it is another character, and a slash to the
    // kernel.

    var isAbsolute: Bool { text.utf8.first == Self.slash }

    private static let slash = UInt8(ascii: "/")

    private var components: [String] {
        text.utf8.split(separator: Self.slash).map { String(decoding: $0, as: UTF8.self) }.filter {
            $0 != "."
        }
    }

    /// The path of the same file as seen from `/`, without `.`, `..` and repeated slashes. Links are not
    /// followed.
    func normalized(in workingDirectory: String) -> String {
        var result: [String] = []
        for component in FilePath(isAbsolute ? text : workingDirectory + "/" + text).components {
            if component == ".." { _ = result.popLast() } else { result.append(component) }
        }
        return "/" + result.joined(separator: "/")
    }

    /// The path of the same file as seen from `directory`; `nil` if it is not below it. Links are not
    /// followed.
    func relative(to directory: FilePath, in workingDirectory: String) -> String? {
        let root = directory.normalized(in: workingDirectory)
        let place = normalized(in: workingDirectory)
        let prefix = root == "/" ? root : root + "/"
        guard place.utf8.starts(with: prefix.utf8) else { return nil }
        return String(decoding: place.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    /// The path of `path` seen from this directory.
    func appending(_ path: String) -> FilePath {
        if text.isEmpty || text == "." { return FilePath(path) }
        return FilePath(text.utf8.last == Self.slash ? text + path : text + "/" + path)
    }

    /// The directory the file is in.
    var parent: FilePath {
        guard let slash = text.utf8.lastIndex(of: Self.slash) else { return FilePath(".") }
        return FilePath(slash == text.startIndex ? "/" : String(decoding: text.utf8[..<slash], as: UTF8.self))
    }

    /// The last component.
    var name: String {
        let last = text.utf8.split(separator: Self.slash, omittingEmptySubsequences: false).last
        return last.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The URL of the file that the kernel knows by the path. Foundation takes a `~` at the beginning for a
    /// home directory, and drops `..` of a relative path without a look at links.
    var url: URL { url(isDirectory: false) }

    /// The URL of the directory; see ``url``.
    var directoryURL: URL { url(isDirectory: true) }

    private func url(isDirectory: Bool) -> URL {
        let isPlain = isAbsolute || text.utf8.first != UInt8(ascii: "~") && !components.contains("..")
        let path = isPlain ? text : FileManager.default.currentDirectoryPath + "/" + text
        return URL(fileURLWithPath: path, isDirectory: isDirectory)
    }

    // MARK: - What is wrong with it

    /// Why it cannot name a file below some directory; `nil` if it can.
    var problemAsFileBelow: String? {
        if text.isEmpty { return "is empty" }
        if name.isEmpty || name == "." { return "names a directory, not a file" }
        return problemAsDirectoryBelow
    }

    /// Why it cannot name a directory below some other one; `nil` if it can.
    var problemAsDirectoryBelow: String? {
        if isAbsolute { return "is absolute: it has to stay below the directory" }
        return problemAsDirectory
    }

    /// Why it cannot name a directory that a list of another author chose; `nil` if it can.
    var problemAsDirectory: String? {
        if text.isEmpty { return "is empty" }
        if components.contains("..") { return "has a \"..\" in it" }
        if text.contains("\0") { return "has a NUL in it" }
        if components.contains(where: { $0.utf8.count > SafeFilename.maximumLength }) {
            return "has a name of more than \(SafeFilename.maximumLength) bytes"
        }
        return nil
    }
}
