import Glibc

/// Names of open descriptors, as `-o` has them.
///
/// | Name                                                            | Descriptor |
/// |------------------------------------------------------------------|------------|
/// | `-`, `/dev/stdout`                                              | 1          |
/// | `/dev/stderr`                                                   | 2          |
/// | `/dev/fd/N`, `/proc/self/fd/N`, the same with our process's number | N      |
/// | a symbolic link to one of these, directly or by way of other links | the same   |
enum OutputDescriptor {
    /// As many links as Linux follows (path_resolution(7)).
    private static let mostLinks = 40

    /// - Returns: `nil` for the name of anything else.
    static func number(of name: String) -> Int32? {
        if name == "-" { return 1 }
        guard !name.isEmpty, !name.hasSuffix("/"), !name.contains("\0") else { return nil }
        var path = name
        // Step by step: at the end of all links is what is open, and not its descriptor.
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

    /// - Returns: `nil` if it is no link.
    private static func target(ofLink path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(path, &bytes, bytes.count)
        guard length > 0, length < bytes.count else { return nil }
        return String(validating: bytes.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The number in the name itself; links are not followed.
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

    /// Looks whether our caller gave us the descriptor to write to: one that we opened ourselves is no place
    /// for a body.
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
