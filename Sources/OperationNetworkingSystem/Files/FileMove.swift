internal import COperationNetworking
internal import Glibc

/// Gives a file another name, which nothing has: a file that has it by then is never replaced.
///
/// | Way           | Where                                          | Between two steps                          |
/// |---------------|------------------------------------------------|--------------------------------------------|
/// | `inOneStep`   | file systems that know `RENAME_NOREPLACE`      | there is one step                          |
/// | `byReserving` | the others: FUSE, NFS, exFAT                   | an empty file has the name, which is ours  |
package enum FileMove: CaseIterable, Sendable {
    /// renameat2(2).
    case inOneStep
    /// The name is taken by an empty file, which fails if anything has it; and then given to the file.
    case byReserving

    /// - Parameters:
    ///   - old: its path now.
    ///   - new: its next one, on the same file system.
    ///   - ways: are tried in order.
    /// - Throws: `SystemError`: `EEXIST` if anything has the name, be it a link that leads nowhere; `EXDEV`
    ///   if it is on another file system. Both names are as they were then.
    package static func move(_ old: String, to new: String, by ways: [FileMove] = allCases) throws {
        var code = EOPNOTSUPP
        for way in ways {
            code = way.move(old, new)
            if code == 0 { return }
            guard way == .inOneStep, [EINVAL, ENOSYS, EOPNOTSUPP].contains(code) else { break }
        }
        throw SystemError(code, "rename \(new)")
    }

    /// Waits until the bytes of the file are on the disk, or the names of the directory. Nothing happens
    /// where the file system cannot do that.
    /// - Throws: `SystemError`.
    package static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(errno, "open \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) != 0, ![EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else { return }
        throw SystemError(errno, "fsync \(path)")
    }

    /// - Returns: the `errno`, 0 for success.
    private func move(_ old: String, _ new: String) -> Int32 {
        switch self {
        case .inOneStep:
            return cfiles_rename_exclusively(AT_FDCWD, old, new) == 0 ? 0 : errno
        case .byReserving:
            let reserved = cfiles_reserve(new)
            guard reserved == 0 else { return errno }
            guard rename(old, new) != 0 else { return 0 }
            let code = errno
            unlink(new)
            return code
        }
    }
}
