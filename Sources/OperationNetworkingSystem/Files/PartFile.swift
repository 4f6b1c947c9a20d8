import COperationNetworking
import Glibc

/// A regular file that is read and written anywhere, and locked against other processes on request.
///
/// Used by one thread at a time; every call may wait for the disk. Closed, and so unlocked, with this object.
package final class PartFile {
    private var descriptor: Int32
    private let name: String
    package let identity: FileIdentity
    /// From the lock to the end.
    private var claim: FileClaim?
    private let watch: FileChange.Watcher?

    /// Takes the descriptor over; closes it when this fails.
    init(descriptor: Int32, name: String, watch: FileChange.Watcher?) throws {
        self.descriptor = descriptor
        self.name = name
        self.watch = watch
        var entry = cfiles_entry()
        let code = cfiles_entry_of(descriptor, &entry) == 0 ? 0 : errno
        guard code == 0, entry.kind == cfiles_entry_file else {
            Glibc.close(descriptor)
            throw SystemError(code == 0 ? EISDIR : code, "open \(name)")
        }
        identity = FileIdentity(device: entry.device, inode: entry.inode)
    }

    deinit {
        close()
    }

    /// Releases the lock. No other method may be called afterwards.
    package func close() {
        guard descriptor >= 0 else { return }
        // Before: the number of a closed file may be another one's.
        claim = nil
        // Also of a copy that ``reader()`` made.
        _ = flock(descriptor, LOCK_UN)
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// The status of the file now (fstat(2)).
    package var status: FileStatus {
        get throws {
            var entry = cfiles_entry()
            guard cfiles_entry_of(descriptor, &entry) == 0, case .file(let status) = NameStatus(entry) else {
                throw SystemError(errno, "fstat \(name)")
            }
            return status
        }
    }

    /// The inode and the time of creation.
    package var lastingIdentity: LastingFileIdentity {
        LastingFileIdentity(inode: identity.inode, birth: FileTime(birthOf: descriptor))
    }

    /// The times of its last changes (fstat(2)).
    package var times: FileTimes {
        get throws {
            var times = cfiles_times()
            guard cfiles_times_of(descriptor, &times) == 0 else { throw SystemError(errno, "fstat \(name)") }
            return FileTimes(
                modified: FileTime(seconds: times.modified_seconds, nanoseconds: times.modified_nanoseconds),
                changed: FileTime(seconds: times.changed_seconds, nanoseconds: times.changed_nanoseconds)
            )
        }
    }

    /// Identifies the mount that the file was opened through, until the machine is rebooted; `nil` if the kernel
    /// does not report it.
    ///
    /// | Linux | Text       | After umount(2)                    |
    /// |-------|------------|------------------------------------|
    /// | 6.8   | `unique-7` | is never given again               |
    /// | 5.8   | `7`        | may be given to the next mount     |
    package var mount: String? {
        var mount = cfiles_mount()
        guard cfiles_mount(descriptor, &mount) == 0 else { return nil }
        return (mount.is_unique != 0 ? "unique-" : "") + "\(mount.number)"
    }

    // MARK: - The lock

    /// The result of locking a file.
    package enum Lock: Hashable, Sendable {
        case taken
        /// Another process has locked it, or another object of this one; or an operation of this one writes
        /// it.
        case held
        /// The file system does not support locks.
        case unsupported
    }

    /// Locks the file until it is closed, without waiting: against other processes (flock(2)), and against
    /// all that writes in this one (``FileClaim``).
    package func lock() throws -> Lock {
        if claim == nil { claim = FileClaim(identity) }
        guard claim != nil else { return .held }
        let lock = try lockAgainstProcesses()
        if lock == .held { claim = nil }
        return lock
    }

    /// Returns a reader that shares the open file. The lock lasts until the reader is closed as well.
    package func reader() throws -> PartReader {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemError(errno, "dup \(name)") }
        return PartReader(descriptor: copy, name: name)
    }

    private func lockAgainstProcesses() throws -> Lock {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK, EACCES: return .held  // EACCES: over SMB
            case ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL: return .unsupported
            default: throw SystemError(errno, "flock \(name)")
            }
        }
        return .taken
    }

    // MARK: - Bytes

    /// Writes all of `bytes`, the first one at `offset`. When it fails, some of them may be there.
    package func write(_ bytes: Span<UInt8>, at offset: Int64) throws {
        if let watch {
            let written = bytes.withUnsafeBytes { Array($0) }
            try watch(.write(file: identity.inode, offset: offset, bytes: written))
        }
        try bytes.write(to: descriptor, at: offset, of: name)
    }

    /// The bytes from `offset` on, at most `count`; fewer only where the file ends.
    package func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
        try [UInt8](reading: count, from: descriptor, at: offset, of: name)
    }

    /// Cuts the file to `length` bytes.
    package func truncate(to length: Int64) throws {
        try watch?(.truncate(file: identity.inode, length: length))
        try retrying("ftruncate") { ftruncate(descriptor, off_t(length)) }
    }

    /// Reserves space for `length` bytes from `offset` on; the length of the file does not change. Does nothing
    /// if the file system does not support it.
    /// - Throws: `SystemError` if there is not enough space.
    package func allocate(_ length: Int64, at offset: Int64) throws {
        guard length > 0 else { return }
        // tmpfs sends SIGXFSZ here, too.
        let code = WriteSignals.heldBack { cfiles_allocate(descriptor, offset, length) != 0 ? errno : 0 }
        switch code {
        case ENOSPC, EDQUOT, EFBIG: throw SystemError(code, "fallocate \(name)")
        default: return  // the reservation is optional: a write fails if there is not enough space
        }
    }

    /// Whether the file may have this length: the file system and the process (RLIMIT_FSIZE) have limits.
    package func canHave(_ length: Int64) -> Bool {
        let limit = cfiles_limit()
        // The position of the descriptor does not matter: every read and write specifies its own.
        return (limit < 0 || length <= limit) && cfiles_can_have(descriptor, length) != 0
    }

    /// Releases the space allocated after the last byte. Does nothing if the file system does not support it.
    package func releaseUnusedBlocks() {
        // No bytes change, so the observer is not called.
        guard let length = try? status.size else { return }
        ftruncate(descriptor, off_t(length))
    }

    // MARK: - The disk

    /// Waits until the bytes, and the length, are on the disk. After a failure, the bytes since the last
    /// success may be lost, and a second call may succeed without them.
    package func synchronizeData() throws {
        try watch?(.synchronize(file: identity.inode))
        try retrying("fdatasync") { fdatasync(descriptor) }
    }

    /// The same, with its times.
    package func synchronize() throws {
        try watch?(.synchronize(file: identity.inode))
        try retrying("fsync") { fsync(descriptor) }
    }

    /// Gives the complete file its permissions, group and access control list. What the file system does not
    /// keep, or the user may not give, is left out.
    package func grant(_ access: FileAccess) {
        // The owner's group may be one that the user is not in.
        let hasGroup = access.group.map { fchown(descriptor, .max, $0) == 0 } ?? true
        guard hasGroup else {
            fchmod(descriptor, mode_t(access.modeWithoutGroup))
            return
        }
        fchmod(descriptor, mode_t(access.mode & (access.list.isEmpty ? 0o777 : 0o707)))
        // It sets the permissions of the group as well.
        if !access.list.isEmpty { _ = cfiles_set_access_list(descriptor, access.list, access.list.count) }
    }

    /// Only its owner may read and write it.
    package func restrict() {
        fchmod(descriptor, 0o600)
    }

    /// Gives it one more name, which no other file may have.
    /// - Returns: the `errno`, 0 for success.
    func link(to name: String, in directory: Int32) -> Int32 {
        cfiles_link(descriptor, directory, name) == 0 ? 0 : errno
    }

    /// Sets the time of the last change, in seconds since 1970.
    package func setModified(_ seconds: Int64) throws {
        try retrying("futimens") { cfiles_set_modified(descriptor, seconds) }
    }

    /// The file's length, and the time of its last change.
    package var stamp: FileStamp {
        get throws {
            var owner = cowner()
            guard cowner_of_descriptor(descriptor, &owner) == 1 else {
                throw SystemError(errno, "fstat \(name)")
            }
            return FileStamp(length: owner.length, seconds: owner.seconds, nanoseconds: owner.nanoseconds)
        }
    }

    /// Keeps a note with the file in an extended attribute (xattr(7)), in one step; `nil`: none. The time of its
    /// last change stays.
    /// - Throws: `SystemError` where the file system cannot keep it; then there is none.
    package func note(_ text: String?, as attribute: String) throws {
        if let text {
            let bytes = Array(text.utf8)
            if cowner_set_attribute(descriptor, attribute, bytes, bytes.count) == 0 { return }
        }
        let code = errno
        // An earlier note would describe other bytes.
        _ = cowner_remove_attribute(descriptor, attribute)
        if text != nil { throw SystemError(code, "fsetxattr \(name)") }
    }

    /// Whether there is such a note; `nil` if the file system keeps none.
    func has(_ attribute: String) -> Bool? {
        if cowner_attribute(descriptor, attribute, nil, 0) >= 0 { return true }
        return errno == EOPNOTSUPP ? nil : false
    }

    /// Makes a system call, and repeats it after a signal.
    private func retrying(_ call: String, _ body: () -> Int32) throws {
        while body() != 0 {
            guard errno == EINTR else { throw SystemError(errno, "\(call) \(name)") }
        }
    }
}
