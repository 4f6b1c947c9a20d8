import COperationNetworking
import CoreFoundation
import Glibc

/// A file that only its owner can read, written atomically.
package enum PrivateFile {
    /// Replaces a file by one with mode 0600.
    ///
    /// - Parameters:
    ///   - path: the path. The bytes are first written to a new file in the same directory, which is then
    ///     renamed.
    ///   - bytes: the contents.
    /// - Throws: `SystemError`; the old file is then unchanged.
    package static func replace(path: String, with bytes: Span<UInt8>) throws {
        let name = path + "." + String(UInt64.random(in: .min ... .max), radix: 36)
        let descriptor = cfiles_open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError(errno, "create a file beside \(path)") }
        do {
            try WriteSignals.heldBack { try write(bytes, to: descriptor, path) }
            guard fsync(descriptor) == 0 else { throw SystemError(errno, "fsync \(path)") }
            guard rename(name, path) == 0 else { throw SystemError(errno, "rename to \(path)") }
        } catch {
            unlink(name)
            close(descriptor)
            throw error
        }
        close(descriptor)
    }

    /// Replaces the file's bytes by the result of `change`, while other processes are locked out. Without a
    /// file, `change` receives no bytes. If the file system does not support locks, no lock is used.
    ///
    /// Locks the file itself, not its directory or a lock file: only users who can read it can lock it, and
    /// nothing is left behind.
    ///
    /// - Parameters:
    ///   - path: the path; must not be a symbolic link.
    ///   - lockTimeout: the maximum wait for another process, in milliseconds.
    ///   - change: receives the bytes, and returns the new ones.
    /// - Throws: `SystemError`, with `EBUSY` after `lockTimeout`, and any error of `change`. The file is then
    ///   unchanged.
    package static func update(
        path: String,
        lockTimeout: Int32,
        _ change: ([UInt8]) throws -> [UInt8]
    ) throws {
        var rest = lockTimeout
        while try !updateIfCurrent(path, &rest, change) {}
    }

    /// - Returns: false if the file was replaced during the wait for its lock.
    private static func updateIfCurrent(
        _ path: String,
        _ rest: inout Int32,
        _ change: ([UInt8]) throws -> [UInt8]
    ) throws -> Bool {
        let (descriptor, isNew) = try open(path)
        defer { close(descriptor) }
        try lock(descriptor, path, &rest)
        guard try isCurrent(descriptor, path) else { return false }
        do {
            let changed = try change(bytes(of: descriptor, path))
            try replace(path: path, with: changed.span)
        } catch {
            if isNew { unlink(path) }
            throw error
        }
        return true
    }

    /// Opens the file, or creates an empty one.
    private static func open(_ path: String) throws -> (descriptor: Int32, isNew: Bool) {
        let flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        while true {
            // Over NFS, only a file that is open for writing can be locked.
            var descriptor = cfiles_open(path, O_RDWR | flags, 0)
            if descriptor < 0, errno == EACCES || errno == EROFS {
                descriptor = cfiles_open(path, O_RDONLY | flags, 0)
            }
            if descriptor >= 0 { return (descriptor, false) }
            guard errno == ENOENT else { throw SystemError(errno, "open \(path)") }
            descriptor = cfiles_open(path, O_RDWR | O_CREAT | O_EXCL | flags, 0o600)
            if descriptor >= 0 { return (descriptor, true) }
            guard errno == EEXIST else { throw SystemError(errno, "create \(path)") }
        }
    }

    private static func lock(_ descriptor: Int32, _ path: String, _ rest: inout Int32) throws {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK where rest > 0:
                // There is no lock call with a timeout, and waits are rare.
                usleep(1000)
                rest -= 1
            case EWOULDBLOCK: throw SystemError(EBUSY, "lock \(path)")
            // A read-only file over NFS, and file systems without locks.
            case EBADF, ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL: return
            default: throw SystemError(errno, "lock \(path)")
            }
        }
    }

    private static func isCurrent(_ descriptor: Int32, _ path: String) throws -> Bool {
        var (own, named) = (stat(), stat())
        guard fstat(descriptor, &own) == 0 else { throw SystemError(errno, "stat \(path)") }
        guard own.st_mode & S_IFMT == S_IFREG else { throw SystemError(EINVAL, "lock \(path)") }
        guard lstat(path, &named) == 0 else {
            guard errno == ENOENT else { throw SystemError(errno, "stat \(path)") }
            return false
        }
        return own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }

    private static func bytes(of descriptor: Int32, _ path: String) throws -> [UInt8] {
        var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 65536))
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError(errno, "read \(path)") }
            guard count > 0 else { return bytes }
            bytes += piece.prefix(count)
        }
    }

    private static func write(_ bytes: Span<UInt8>, to descriptor: Int32, _ path: String) throws {
        try bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let written = Glibc.write(
                    descriptor,
                    UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                    rest.count
                )
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw SystemError(written < 0 ? errno : ENOSPC, "write \(path)") }
                rest = rest.dropFirst(written)
            }
        }
    }
}
