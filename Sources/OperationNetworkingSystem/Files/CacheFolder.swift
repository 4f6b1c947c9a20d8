import COperationNetworking
import Glibc

/// A folder of private files, which are named by a descriptor of it: no change of the path leads elsewhere.
///
/// | What has the path                                                | Trusted                   |
/// |------------------------------------------------------------------|---------------------------|
/// | nothing                                                          | created, with mode 0700   |
/// | a directory of the effective user that only its owner may write  | yes                       |
/// | a directory of another user, or that others may write            | no                        |
/// | a symbolic link, anything else                                   | no                        |
///
/// A file in it is trusted if it is a regular one of the same user, with one name, that no other may read or
/// write.
///
/// Callable from any thread; every call may wait for the disk.
package final class CacheFolder: @unchecked Sendable {
    // @unchecked: it is immutable, and each call is one or a few system calls.
    private let descriptor: Int32
    /// The effective user when the folder was opened, who owns it.
    private let owner: UInt32
    private let watch: FileChange.Watcher?

    /// A directory or a file that is not trusted.
    package struct Untrusted: Error, Hashable, Sendable {
        package let name: String
    }

    /// Opens a directory, which others may read. Creates it if it is missing, with those above it.
    ///
    /// - Parameter path: an absolute one.
    /// - Throws: ``Untrusted``, `SystemError`.
    package convenience init(path: String) throws {
        try Self.make(path)
        try self.init(cfiles_open(path, Self.flags, 0), path, minimum: 1, watch: nil)
    }

    /// Opens a folder of a directory, which no other may read. Creates it if it is missing.
    ///
    /// - Parameters:
    ///   - name: of the folder.
    ///   - parent: the directory.
    ///   - watch: called before each change in the folder.
    /// - Throws: ``Untrusted``, `SystemError`.
    package convenience init(_ name: String, in parent: CacheFolder, watch: FileChange.Watcher? = nil) throws
    {
        guard mkdirat(parent.descriptor, name, 0o700) == 0 || errno == EEXIST else {
            throw SystemError(errno, "mkdir \(name)")
        }
        try self.init(cfiles_open_at(parent.descriptor, name, Self.flags, 0), name, minimum: 2, watch: watch)
    }

    private static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

    private init(_ descriptor: Int32, _ name: String, minimum: Int32, watch: FileChange.Watcher?) throws {
        guard descriptor >= 0 else {
            if [ELOOP, ENOTDIR].contains(errno) { throw Untrusted(name: name) }
            throw SystemError(errno, "open \(name)")
        }
        self.descriptor = descriptor
        self.watch = watch
        owner = geteuid()
        // `deinit` closes it, also if an error is thrown here.
        guard ccache_folder_of(descriptor) >= minimum else { throw Untrusted(name: name) }
    }

    deinit {
        Glibc.close(descriptor)
    }

    private static func make(_ path: String) throws {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, let end = path.utf8.lastIndex(of: UInt8(ascii: "/")), end > path.startIndex
        else { throw SystemError(errno, "mkdir \(path)") }
        try make(String(path[..<end]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError(errno, "mkdir \(path)") }
    }

    // MARK: - Files

    /// Creates a file of mode 0600.
    package func create(_ name: String) throws -> CacheFile {
        let file = try file(name, O_RDWR | O_CREAT | O_EXCL)
        try watch?(.create(name, file: file.inode))
        return file
    }

    /// Opens a file to read it.
    ///
    /// - Returns: `nil` if there is none.
    /// - Throws: ``Untrusted``, `SystemError`.
    package func open(_ name: String) throws -> CacheFile? {
        do {
            let file = try file(name, O_RDONLY)
            guard file.isPrivate, file.owner == owner else { throw Untrusted(name: name) }
            return file
        } catch let error as SystemError where error.code == ENOENT {
            return nil
        } catch let error as SystemError where [ELOOP, EISDIR, ENXIO].contains(error.code) {
            throw Untrusted(name: name)
        }
    }

    private func file(_ name: String, _ flags: Int32) throws -> CacheFile {
        let all = flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let file = cfiles_open_at(descriptor, name, all, 0o600)
        guard file >= 0 else { throw SystemError(errno, "open \(name)") }
        return try CacheFile(file, name, watch)
    }

    /// Gives a file another name, in place of a file that has it.
    package func rename(_ old: String, to new: String) throws {
        try watch?(.rename(old, to: new))
        guard renameat(descriptor, old, descriptor, new) == 0 else {
            throw SystemError(errno, "rename \(old)")
        }
    }

    /// Removes a file, if there is one.
    package func remove(_ name: String) throws {
        var file = ccache_file()
        // Where nothing can be removed, nothing need be.
        if ccache_file_at(descriptor, name, &file) < 0, errno == ENOENT { return }
        try watch?(.remove(name))
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw SystemError(errno, "unlink \(name)")
        }
    }

    /// The length of a file and the time of its last use; `nil` if the name stands for no regular file.
    package func usage(of name: String) -> CacheFile.Usage? {
        var file = ccache_file()
        guard ccache_file_at(descriptor, name, &file) == 1 else { return nil }
        return CacheFile.Usage(length: file.length, time: file.used)
    }

    /// Calls `body` with each name in the folder.
    package func forEachName(_ body: (String) throws -> Void) throws {
        // Its own descriptor, since reading moves it on.
        let copy = cfiles_open_at(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemError(errno, "open a folder") }
        guard let stream = fdopendir(copy) else {
            let code = errno
            Glibc.close(copy)
            throw SystemError(code, "opendir")
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { try body(name) }
        }
    }

    /// The bytes that may still be written to the file system; `nil` if unknown.
    package var room: Int64? {
        var (available, capacity): (Int64, Int64) = (0, 0)
        return cfiles_room(descriptor, &available, &capacity) == 0 ? available : nil
    }

    /// Waits until the names are on the disk.
    package func synchronize() throws {
        try watch?(.synchronizeFolder)
        guard cfiles_synchronize_folder(descriptor) == 0 else { throw SystemError(errno, "fsync a folder") }
    }

    /// Runs `work` while no other process, and no other object of this one, is in this function with the same
    /// folder. If one stays in it for a second, or the file system has no locks, `work` runs all the same.
    package func whileLocked<Result>(_ work: () throws -> Result) rethrows -> Result {
        let isLocked = lock()
        defer { if isLocked { flock(descriptor, LOCK_UN) } }
        return try work()
    }

    private func lock() -> Bool {
        for _ in 0..<1000 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            guard errno == EINTR || errno == EWOULDBLOCK else { return false }
            // There is no wait with a limit; and this is seldom.
            usleep(1000)
        }
        return false
    }
}
