internal import COperationNetworking
internal import Glibc

/// Renames a file without ever replacing an existing one.
///
/// | Method        | Used on                              | Intermediate state                 |
/// |---------------|--------------------------------------|------------------------------------|
/// | `inOneStep`   | file systems with `RENAME_NOREPLACE` | none                               |
/// | `byReserving` | others: FUSE, NFS, exFAT             | an empty file of ours has the name |
package enum FileMove: CaseIterable, Sendable {
    /// renameat2(2).
    case inOneStep
    /// Reserves the name with an empty file, which fails if the name exists, and then renames the file.
    case byReserving

    /// - Parameters:
    ///   - old: the current path.
    ///   - new: the new path, on the same file system.
    ///   - ways: the methods, tried in order.
    /// - Throws: `SystemError`: `EEXIST` if the name exists, even as a dangling link; `EXDEV` if it is on
    ///   another file system. Both names are then unchanged.
    package static func move(_ old: String, to new: String, by ways: [FileMove] = allCases) throws {
        var code = EOPNOTSUPP
        for way in ways {
            code = way.move(old, new)
            if code == 0 { return }
            guard way == .inOneStep, [EINVAL, ENOSYS, EOPNOTSUPP].contains(code) else { break }
        }
        throw SystemError(code, "rename \(new)")
    }

    /// Synchronizes the bytes of a file, or the names of a directory, to disk. Does nothing if the file
    /// system does not support it.
    /// - Throws: `SystemError`.
    package static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(errno, "open \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) != 0, ![EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else { return }
        throw SystemError(errno, "fsync \(path)")
    }

    /// - Returns: the `errno`; 0 for success.
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
