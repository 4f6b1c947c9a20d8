import Foundation

/// A path, as text: what can be said about it without asking the file system.
struct FilePath: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    var isAbsolute: Bool { text.hasPrefix("/") }

    private var components: [Substring] {
        text.split(separator: "/").filter { $0 != "." }
    }

    /// The path of the same file as seen from `/`, without `.`, `..` and repeated slashes. Links are not
    /// followed.
    func normalized(in workingDirectory: String) -> String {
        var result: [Substring] = []
        for component in FilePath(isAbsolute ? text : workingDirectory + "/" + text).components {
            if component == ".." { _ = result.popLast() } else { result.append(component) }
        }
        return "/" + result.joined(separator: "/")
    }

    /// The path of `path` seen from this directory.
    func appending(_ path: String) -> FilePath {
        if text.isEmpty || text == "." { return FilePath(path) }
        return FilePath(text.hasSuffix("/") ? text + path : text + "/" + path)
    }

    /// The directory the file is in.
    var parent: FilePath {
        guard let slash = text.lastIndex(of: "/") else { return FilePath(".") }
        return FilePath(slash == text.startIndex ? "/" : String(text[..<slash]))
    }

    /// The last component.
    var name: String {
        text.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
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
        if components.contains(where: { $0.utf8.count > FileName.maximumLength }) {
            return "has a name of more than \(FileName.maximumLength) bytes"
        }
        return nil
    }
}
