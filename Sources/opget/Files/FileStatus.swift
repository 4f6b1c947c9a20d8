import Glibc

/// The kind of file at a path.
enum FileStatus: Hashable, Sendable {
    case nothing
    /// A regular file, with its length in bytes.
    case file(size: Int64)
    case directory
    /// A file that is written directly, without a temporary file, such as `/dev/null`.
    case device
    /// A FIFO, a socket, or a dangling link.
    case other

    /// Whether the path is a symbolic link.
    static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// - Throws: `Failure` if the status cannot be read.
    init(of path: FilePath) throws {
        var status = stat()
        if stat(path.text, &status) == 0 {
            self =
                switch status.st_mode & S_IFMT {
                case S_IFREG: .file(size: Int64(status.st_size))
                case S_IFDIR: .directory
                case S_IFCHR, S_IFBLK: .device
                default: .other
                }
            return
        }
        let code = errno
        guard code == ENOENT else { throw Failure(reading: path, code) }
        self = lstat(path.text, &status) == 0 ? .other : .nothing
    }
}

extension FilePath {
    /// The path, or its first existing parent, if it is not a directory.
    fileprivate var obstacle: FilePath? {
        var (place, status) = (self, stat())
        while stat(place.text, &status) != 0 {
            guard place.parent != place else { return nil }
            place = place.parent
        }
        return status.st_mode & S_IFMT == S_IFDIR ? nil : place
    }
}

extension Failure {
    /// Creates the failure of reading a file or its status; `code` is an `errno`.
    init(reading path: FilePath, _ code: Int32) {
        if code == ENOTDIR, let obstacle = path.obstacle {
            self.init(noDirectory: obstacle)
        } else {
            self.init(.file, "\(path.text) could not be read: \(Self.reason(code)).")
        }
    }

    /// Creates the failure of creating or renaming a file or directory; `code` is an `errno`.
    init(making path: FilePath, _ code: Int32) {
        if code == ENOTDIR, let obstacle = path.obstacle {
            self.init(noDirectory: obstacle)
        } else {
            self.init(Outcome(file: code), "\(path.text) could not be created: \(Self.reason(code)).")
        }
    }

    private init(noDirectory path: FilePath) {
        self.init(.file, "\(path.text) is not a directory.")
    }

    /// Returns the system's message for an `errno`.
    static func reason(_ code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
