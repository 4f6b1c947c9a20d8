import COperationNetworking
import Glibc

/// An open directory. Names are those of files right in it, and stay so whatever happens to its own name.
///
/// Used by one thread at a time; every call may wait for the disk.
package final class DownloadFolder {
    /// How a file can get a name only if nobody has it.
    package enum ExclusiveRename: CaseIterable, Sendable {
        /// In one step (renameat2(2)).
        case inOneStep
        /// By a second name, then without the first one. A crash between them leaves both.
        case byLink
        /// By looking before.
        case afterLooking
    }

    /// Is told of every change.
    package let watch: FileChange.Watcher?
    /// Tried in this order: not every file system knows each of them.
    package var exclusiveRenames = ExclusiveRename.allCases
    private let descriptor: Int32

    /// - Throws: `SystemError` when it is no directory, or may not be read.
    package init(path: String, watch: FileChange.Watcher? = nil) throws {
        self.watch = watch
        descriptor = cfiles_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw SystemError(errno, "open \(path)") }
    }

    deinit {
        close(descriptor)
    }

    /// How many bytes there is room for.
    package var available: Int64 {
        get throws {
            let bytes = cfiles_available(descriptor)
            guard bytes >= 0 else { throw SystemError(errno, "fstatvfs") }
            return bytes
        }
    }

    package func status(of name: String) throws -> NameStatus {
        var entry = cfiles_entry()
        guard cfiles_entry_at(descriptor, name, &entry) == 0 else {
            guard errno == ENOENT else { throw SystemError(errno, "fstatat \(name)") }
            return .nothing
        }
        return NameStatus(entry)
    }

    // MARK: - Files

    /// Makes a new file.
    /// - Parameters:
    ///   - name: what it is called.
    ///   - isPrivate: whether only its owner may read it; else everybody whom the process's mask lets.
    /// - Returns: `nil` if anything has that name.
    /// - Throws: `SystemError`.
    package func create(_ name: String, isPrivate: Bool = false) throws -> PartFile? {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let file = cfiles_open_at(descriptor, name, flags, isPrivate ? 0o600 : 0o666)
        guard file >= 0 else {
            guard errno == EEXIST else { throw SystemError(errno, "create \(name)") }
            return nil
        }
        let made = try PartFile(descriptor: file, name: name, watch: watch)
        try watch?(.create(name, file: made.status.identity.inode))
        return made
    }

    /// Opens a regular file to read and write it.
    /// - Returns: `nil` if there is none.
    /// - Throws: `SystemError`; `ELOOP` for a symbolic link.
    package func open(_ name: String) throws -> PartFile? {
        // O_NONBLOCK: opening a FIFO that nobody reads would wait for ever. It does nothing to regular files.
        let file = cfiles_open_at(descriptor, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard file >= 0 else {
            guard errno == ENOENT else { throw SystemError(errno, "open \(name)") }
            return nil
        }
        return try PartFile(descriptor: file, name: name, watch: watch)
    }

    /// Opens a regular file to read it.
    package func reader(_ name: String) throws -> PartReader {
        let file = cfiles_open_at(descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard file >= 0 else { throw SystemError(errno, "open \(name)") }
        return PartReader(descriptor: file, name: name)
    }

    /// All bytes of a small file; `nil` if there is no file of that name, or it is larger than `limit`.
    package func contents(of name: String, limit: Int) throws -> [UInt8]? {
        guard case .file(let status) = try status(of: name), status.size <= Int64(limit) else { return nil }
        let file = cfiles_open_at(descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard file >= 0 else { throw SystemError(errno, "open \(name)") }
        return try PartFile(descriptor: file, name: name, watch: nil).read(limit, at: 0)
    }

    /// Puts a file with these bytes in the place of `name` in one step: whoever looks, even after a crash, finds the old
    /// one or the new one.
    /// - Parameters:
    ///   - name: what it is called; only its owner may read it.
    ///   - bytes: all that is in it.
    ///   - temporary: a name of ours; a file that has it is removed.
    ///   - isDurable: whether it is on the disk when this returns. If not, a loss of power may leave an empty or a torn
    ///     file.
    /// - Returns: which file has the name now.
    /// - Throws: `SystemError`; the old one stands then.
    package func replace(
        _ name: String,
        with bytes: [UInt8],
        temporary: String,
        isDurable: Bool
    ) throws -> FileIdentity {
        try remove(temporary)
        guard let file = try create(temporary, isPrivate: true) else {
            throw SystemError(EEXIST, "create \(temporary)")
        }
        do {
            try file.write(bytes.span, at: 0)
            if isDurable { try file.synchronizeData() }
            try rename(temporary, to: name)
        } catch {
            // The first error is the one to tell.
            try? remove(temporary)
            throw error
        }
        if isDurable { try synchronize() }
        return try file.status.identity
    }

    // MARK: - Names

    /// Removes a file; nothing happens if there is none.
    package func remove(_ name: String) throws {
        guard try status(of: name) != .nothing else { return }
        try watch?(.remove(name))
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw SystemError(errno, "unlink \(name)")
        }
    }

    /// Gives a file another name; a file that has it is replaced.
    package func rename(_ old: String, to new: String) throws {
        try watch?(.rename(old, to: new))
        guard renameat(descriptor, old, descriptor, new) == 0 else {
            throw SystemError(errno, "rename \(new)")
        }
    }

    /// Gives a file another name, which nobody may have.
    /// - Throws: `SystemError`; `EEXIST` if anything has the name.
    package func renameExclusively(_ old: String, to new: String) throws {
        try watch?(.rename(old, to: new))
        for way in exclusiveRenames {
            let code = rename(old, to: new, way)
            switch code {
            case 0: return
            case EINVAL, ENOSYS, EOPNOTSUPP, EPERM, EMLINK: continue  // not known here: the next way
            default: throw SystemError(code, "rename \(new)")
            }
        }
        throw SystemError(EOPNOTSUPP, "rename \(new)")
    }

    /// - Returns: the `errno`, 0 for success.
    private func rename(_ old: String, to new: String, _ way: ExclusiveRename) -> Int32 {
        switch way {
        case .inOneStep:
            return cfiles_rename_exclusively(descriptor, old, new) == 0 ? 0 : errno
        case .byLink:
            guard linkat(descriptor, old, descriptor, new, 0) == 0 else { return errno }
            return unlinkat(descriptor, old, 0) == 0 ? 0 : errno
        case .afterLooking:
            var entry = cfiles_entry()
            guard cfiles_entry_at(descriptor, new, &entry) != 0 else { return EEXIST }
            guard errno == ENOENT else { return errno }
            return renameat(descriptor, old, descriptor, new) == 0 ? 0 : errno
        }
    }

    /// Waits until the names are on the disk. A file system that cannot do that says nothing.
    package func synchronize() throws {
        try watch?(.synchronizeFolder)
        while fsync(descriptor) != 0 {
            switch errno {
            case EINTR: continue
            case EINVAL, EROFS, ENOSYS: return
            default: throw SystemError(errno, "fsync of the directory")
            }
        }
    }
}
