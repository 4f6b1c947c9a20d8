import COperationNetworking
import Glibc

/// The directory of a cache, and the files in it, which are named by a descriptor of it: no change of the
/// path leads elsewhere.
///
/// | What has the path                                              | Believed                     |
/// |----------------------------------------------------------------|------------------------------|
/// | nothing                                                        | made, with mode 0700         |
/// | a directory of the effective user that only its owner may write | yes                         |
/// | a directory of another user, or that others may write          | no                           |
/// | a symbolic link, anything else                                 | no                           |
///
/// The same holds for a file in it: a regular one of the effective user, with one name, that no other may
/// read or write. The owner of the directory alone can put others there.
///
/// Its calls may wait for the disk. Not for two threads at once, but for the calls that take a name only.
package final class CacheFolder: @unchecked Sendable {
    // @unchecked: it is immutable, and each call is one or two system calls.
    private let descriptor: Int32
    /// Without symbolic links.
    package let path: String

    /// Why a directory or a file is not believed.
    package struct Distrust: Error, Hashable, Sendable {
        package let name: String
    }

    /// - Parameter path: an absolute one. Directories above that are missing are made as well.
    /// - Throws: ``Distrust``, `SystemError`.
    package init(path: String) throws {
        try Self.make(path)
        let descriptor = cfiles_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
        guard descriptor >= 0 else {
            if [ELOOP, ENOTDIR].contains(errno) { throw Distrust(name: path) }
            throw SystemError(errno, "open \(path)")
        }
        var entry = cfiles_entry()
        guard cfiles_entry_of(descriptor, &entry) == 0, entry.owner == geteuid(), entry.mode & 0o022 == 0
        else {
            Glibc.close(descriptor)
            throw Distrust(name: path)
        }
        // The same directory by its own name: what is opened by path meets no link.
        guard let real = realpath("/proc/self/fd/\(descriptor)", nil) else {
            let code = errno
            Glibc.close(descriptor)
            throw SystemError(code, "realpath \(path)")
        }
        self.path = String(cString: real)
        free(real)
        // A directory of another mount namespace has no name here.
        var named = cfiles_entry()
        guard cfiles_entry_of_path(self.path, &named) == 0, named.inode == entry.inode,
            named.device == entry.device
        else {
            Glibc.close(descriptor)
            throw Distrust(name: path)
        }
        self.descriptor = descriptor
    }

    deinit {
        Glibc.close(descriptor)
    }

    private static func make(_ path: String) throws {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT else { throw SystemError(errno, "mkdir \(path)") }
        let parent = String(
            decoding: path.utf8.reversed().drop { $0 != UInt8(ascii: "/") }.dropFirst().reversed(),
            as: UTF8.self
        )
        guard !parent.isEmpty else { throw SystemError(ENOENT, "mkdir \(path)") }
        try make(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError(errno, "mkdir \(path)") }
    }

    /// Whether the directory still has its path, and the file its name in it: they, and not others of that
    /// name. Where that cannot be asked now (`EACCES`, `EIO`, `ENOMEM`), they are taken to have them. Three
    /// system calls.
    package func has(_ file: FileIdentity, named name: String) -> Bool {
        var (own, named, entry) = (cfiles_entry(), cfiles_entry(), cfiles_entry())
        guard cfiles_entry_of(descriptor, &own) == 0 else { return true }
        guard cfiles_entry_of_path(path, &named) == 0 else { return !Self.isAbsence(errno) }
        guard own.inode == named.inode, own.device == named.device else { return false }
        guard cfiles_entry_at(descriptor, name, &entry) == 0 else { return !Self.isAbsence(errno) }
        return FileIdentity(device: entry.device, inode: entry.inode) == file
    }

    /// Whether nothing has the name.
    private static func isAbsence(_ code: Int32) -> Bool { code == ENOENT || code == ENOTDIR }

    /// Runs `work` while no other process, and no other object of this one, is in this function with the same
    /// directory. One that stays in it is waited for as long as the patience lasts; then, and where the file
    /// system has no locks, `work` runs all the same.
    ///
    /// - Parameters:
    ///   - patience: in milliseconds.
    ///   - work: what only one may do.
    /// - Returns: the result of `work`.
    package func whileLocked<Result>(_ patience: Int32, _ work: () throws -> Result) rethrows -> Result {
        let isLocked = lock(patience)
        defer { if isLocked { flock(descriptor, LOCK_UN) } }
        return try work()
    }

    private func lock(_ patience: Int32) -> Bool {
        var rest = Int(patience)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR || errno == EWOULDBLOCK, rest > 0 else { return false }
            // There is no wait with a limit; and this is seldom.
            usleep(1000)
            rest -= 1
        }
        return true
    }

    // MARK: - Files

    /// Makes a file of mode 0600, locked against other processes.
    /// - Throws: `SystemError`, with `EBUSY` if ``removeUnlessLocked(_:if:)`` has seen it before it was
    ///   locked.
    package func create(_ name: String) throws -> PartFile {
        let file = try open(name, O_RDWR | O_CREAT | O_EXCL)
        guard try file.lock() != .held, try file.status.links == 1 else {
            throw SystemError(EBUSY, "flock \(name)")
        }
        return file
    }

    /// Opens a file to read it; with `isWritten`, to read and write it, locked against other processes.
    ///
    /// - Returns: `nil` if there is none.
    /// - Throws: ``Distrust``; `SystemError`, with `EBUSY` for one that is locked.
    package func open(_ name: String, isWritten: Bool = false) throws -> PartFile? {
        do {
            let file = try open(name, isWritten ? O_RDWR : O_RDONLY)
            guard Self.isOurs(try file.status) else { throw Distrust(name: name) }
            if isWritten, try file.lock() == .held { throw SystemError(EBUSY, "flock \(name)") }
            return file
        } catch let error as SystemError where error.code == ENOENT {
            return nil
        } catch let error as SystemError where [ELOOP, EISDIR, ENXIO].contains(error.code) {
            throw Distrust(name: name)
        }
    }

    /// Makes sure of an empty file, or of one that is believed.
    ///
    /// - Parameters:
    ///   - name: of the file.
    ///   - leftovers: names that belong to the file; those of an earlier one are removed when it is made.
    /// - Returns: the file that has the name.
    /// - Throws: ``Distrust``, `SystemError`.
    package func provide(_ name: String, without leftovers: [String] = []) throws -> FileIdentity {
        if let identity = try identity(of: name) { return identity }
        do {
            let identity = try open(name, O_RDWR | O_CREAT | O_EXCL).status.identity
            for leftover in leftovers { remove(leftover) }
            return identity
        } catch let error as SystemError where error.code == EEXIST {
            // Another process was first.
            guard let identity = try identity(of: name) else { throw error }
            return identity
        }
    }

    /// The file that has the name, without opening it: closing a file takes all the locks away that this
    /// process has on it (fcntl(2)), and another connection of SQLite's may have some.
    private func identity(of name: String) throws -> FileIdentity? {
        var entry = cfiles_entry()
        guard cfiles_entry_at(descriptor, name, &entry) == 0 else {
            guard errno == ENOENT else { throw SystemError(errno, "fstatat \(name)") }
            return nil
        }
        guard entry.kind == cfiles_entry_file, entry.owner == geteuid(), entry.links == 1,
            entry.mode & 0o077 == 0
        else { throw Distrust(name: name) }
        return FileIdentity(device: entry.device, inode: entry.inode)
    }

    private func open(_ name: String, _ flags: Int32) throws -> PartFile {
        let file = cfiles_open_at(
            descriptor,
            name,
            flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
            0o600
        )
        guard file >= 0 else { throw SystemError(errno, "open \(name)") }
        return try PartFile(descriptor: file, name: name, watch: nil)
    }

    private static func isOurs(_ status: FileStatus) -> Bool {
        status.owner == geteuid() && status.links == 1 && status.mode & 0o077 == 0
    }

    /// Gives a file another name, in place of a file that has it.
    package func rename(_ old: String, to new: String) throws {
        guard renameat(descriptor, old, descriptor, new) == 0 else {
            throw SystemError(errno, "rename \(old)")
        }
    }

    /// Takes a name away, whatever it stands for, but no directory's. A failure cannot be helped: what is
    /// left is swept some time.
    package func remove(_ name: String) {
        unlinkat(descriptor, name, 0)
    }

    /// Waits until the names are on the disk.
    package func synchronize() throws {
        guard cfiles_synchronize_folder(descriptor) == 0 else { throw SystemError(errno, "fsync \(path)") }
    }

    /// The names in it.
    package func names() throws -> [String] {
        // Its own descriptor, since reading moves it on.
        let copy = cfiles_open_at(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemError(errno, "open \(path)") }
        guard let stream = fdopendir(copy) else {
            let code = errno
            close(copy)
            throw SystemError(code, "opendir \(path)")
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a file that no process has locked, none writes it, if `isUseless`: asked with the lock held.
    package func removeUnlessLocked(_ name: String, if isUseless: () -> Bool) {
        do {
            guard let file = try open(name, isWritten: true) else { return }
            withExtendedLifetime(file) {
                if isUseless() { remove(name) }
            }
        } catch is Distrust {
            if isUseless() { remove(name) }
        } catch {
            // Locked, or not to be opened now.
            return
        }
    }

    /// The longest file that a process may make without being sent a signal (RLIMIT_FSIZE); `nil`: any.
    package static var longestFile: Int64? {
        let limit = cfiles_limit()
        return limit < 0 ? nil : limit
    }
}
