import Glibc

/// The working directory, where relative paths begin. Foundation makes them absolute, as text, and the kernel
/// takes an absolute path of limited length only.
struct WorkingDirectory: Hashable, Sendable {
    /// The path of the directory; empty if it is of no use.
    let path: String
    /// Why no relative path can be used in it, as a clause; `nil` if they can.
    let problem: String?

    /// That of the process.
    static var current: WorkingDirectory {
        guard let path = getcwd(nil, 0) else { return WorkingDirectory(errno: errno) }
        defer { free(path) }
        return WorkingDirectory(octets: path)
    }

    private init(errno code: Int32) {
        path = ""
        problem =
            code == ENOENT
            ? "the working directory is not there any more"
            : "the path of the working directory is not known: " + String(cString: strerror(code))
    }

    /// - Parameter octets: the path, with a NUL behind it.
    init(octets: UnsafePointer<CChar>) {
        let text = String(validatingCString: octets)
        if let text, text.utf8.count < Int(PATH_MAX) {
            path = text
            problem = nil
        } else {
            path = ""
            problem =
                text == nil
                ? "the path of the working directory is not UTF-8"
                : "the path of the working directory has more than \(PATH_MAX - 1) bytes"
        }
    }

    /// - Throws: `Failure` with ``Outcome/usage`` for a relative path, if it would be that of another file.
    func check(_ path: FilePath) throws {
        guard let problem, !path.isAbsolute else { return }
        throw Failure(.usage, "\(path.text) is a relative path, and \(problem): use an absolute one.")
    }
}
