import Glibc

/// Names of open descriptors, as `-o` has them.
///
/// | Name                                                            | Descriptor |
/// |------------------------------------------------------------------|------------|
/// | `-`, `/dev/stdout`                                              | 1          |
/// | `/dev/stderr`                                                   | 2          |
/// | `/dev/fd/N`, `/proc/self/fd/N`, the same with our process's number | N      |
enum OutputDescriptor {
    /// - Returns: `nil` for the name of anything else.
    static func number(of name: String) -> Int32? {
        if name == "-" { return 1 }
        guard name.hasPrefix("/"), !name.hasSuffix("/") else { return nil }
        let path = FilePath(name).normalized(in: "/")
        switch path {
        case "/dev/stdout": return 1
        case "/dev/stderr": return 2
        default: break
        }
        for folder in ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/", "/proc/\(getpid())/fd/"]
        where path.hasPrefix(folder) {
            let digits = path.dropFirst(folder.count)
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
            return Int32(digits)
        }
        return nil
    }

    /// Looks whether our caller gave us the descriptor to write to: one that we opened ourselves is no place for a body.
    /// - Throws: `Failure` with ``Outcome/file``.
    static func check(_ descriptor: Int32) throws {
        let (flags, access) = (fcntl(descriptor, F_GETFD), fcntl(descriptor, F_GETFL))
        let isOurs = descriptor > 2 && flags & FD_CLOEXEC != 0
        guard flags != -1, access != -1, !isOurs, access & O_ACCMODE != O_RDONLY else {
            let name = descriptor == 1 ? "Standard output" : "Descriptor \(descriptor)"
            throw Failure(.file, "\(name) is not open for writing.")
        }
    }
}
