import Glibc

/// A directory that files are to be saved in.
enum Directory {
    /// Makes it, and those above it, unless they are there.
    ///
    /// - Throws: `Failure` with ``Outcome/file``.
    static func make(_ path: FilePath) throws {
        if mkdir(path.text, 0o777) == 0 { return }
        let code = errno
        switch code {
        case EEXIST:
            guard try FileStatus(of: path) == .directory else { throw Failure(making: path, ENOTDIR) }
        case ENOENT where path.parent != path && path.text != ".":
            try make(path.parent)
            guard mkdir(path.text, 0o777) == 0 || errno == EEXIST else { throw Failure(making: path, errno) }
        default:
            // A directory on a read-only file system, for one, says so even if it exists.
            guard (try? FileStatus(of: path)) == .directory else { throw Failure(making: path, code) }
        }
    }
}
