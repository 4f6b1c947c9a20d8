import Glibc

/// The working directory for relative paths. Foundation makes these absolute as text, and the kernel limits
/// the length of an absolute path.
struct WorkingDirectory: Hashable, Sendable {
    /// The path of the directory; empty if it cannot be used.
    let path: String
    /// Why relative paths cannot be used, as a clause; `nil` if they can.
    let problem: String?

    /// The working directory of the process.
    static var current: WorkingDirectory {
        guard let path = getcwd(nil, 0) else { return WorkingDirectory(errno: errno) }
        defer { free(path) }
        return WorkingDirectory(octets: path)
    }

    private init(errno code: Int32) {
        path = ""
        problem =
            code == ENOENT
            ? "the working directory no longer exists"
            : "the path of the working directory is unknown: " + String(cString: strerror(code))
    }

    /// - Parameter octets: the path, NUL-terminated.
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

    /// - Throws: `Failure` with ``Outcome/usage`` for a relative path that cannot be resolved.
    func check(_ path: FilePath) throws {
        guard let problem, !path.isAbsolute else { return }
        throw Failure(.usage, "\(path.text) is a relative path, but \(problem): use an absolute one.")
    }
}
