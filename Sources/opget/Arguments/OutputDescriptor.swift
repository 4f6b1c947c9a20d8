import Glibc

/// The names of open descriptors that `-o` accepts.
///
/// | Name                                                             | Descriptor |
/// |------------------------------------------------------------------|------------|
/// | `-`, `/dev/stdout`                                               | 1          |
/// | `/dev/stderr`                                                    | 2          |
/// | `/dev/fd/N`, `/proc/self/fd/N`, the same with our process ID     | N          |
/// | a symbolic link to one of these, directly or through other links | the same   |
enum OutputDescriptor {
    /// The maximum number of links that Linux follows (path_resolution(7)).
    private static let mostLinks = 40

    /// - Returns: `nil` for any other name.
    static func number(of name: String) -> Int32? {
        if name == "-" { return 1 }
        guard !name.isEmpty, !name.hasSuffix("/"), !name.contains("\0") else { return nil }
        var path = name
        // Link by link: fully resolved, the path would be that of the open file, not its descriptor.
        for _ in 0...mostLinks {
            if let number = number(ofPath: path) { return number }
            let parent = FilePath(path).parent.text
            if let folder = FilePath(parent).canonical,
                let number = number(ofPath: FilePath(folder).appending(FilePath(path).name).text)
            {
                return number
            }
            guard let target = target(ofLink: path), !target.hasSuffix("/") else { return nil }
            path = target.hasPrefix("/") ? target : FilePath(parent).appending(target).text
        }
        return nil
    }

    /// - Returns: `nil` if it is not a link.
    private static func target(ofLink path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(path, &bytes, bytes.count)
        guard length > 0, length < bytes.count else { return nil }
        return String(validating: bytes.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The number in the name itself. Does not follow links.
    private static func number(ofPath name: String) -> Int32? {
        guard name.hasPrefix("/") else { return nil }
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

    /// Checks that the descriptor was inherited and is writable: a body must not go to a descriptor that
    /// opget opened itself.
    /// - Throws: `Failure` with ``Outcome/file``.
    static func check(_ descriptor: Int32) throws {
        let (flags, access) = (fcntl(descriptor, F_GETFD), fcntl(descriptor, F_GETFL))
        let isOurs = flags & FD_CLOEXEC != 0
        guard flags != -1, access != -1, !isOurs, access & O_ACCMODE != O_RDONLY else {
            let name = descriptor == 1 ? "Standard output" : "Descriptor \(descriptor)"
            throw Failure(.file, "\(name) is not open for writing.")
        }
    }
}
