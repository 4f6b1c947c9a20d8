import COperationNetworking
import Glibc

/// An open directory. Names are those of files right in it, and stay so whatever happens to its own name.
///
/// Used by one thread at a time; every call may wait for the disk.
package final class DownloadFolder {
    /// The ways to rename a file only if the new name does not exist.
    package enum ExclusiveRename: CaseIterable, Sendable {
        /// In one step (renameat2(2)).
        case inOneStep
        /// By a second name, then without the first one. A crash between them leaves both.
        case byLink
        /// By looking before.
        case afterLooking

        /// Whether this `errno` means that the file system does not support this way, so that the next one is to
        /// be tried. `EPERM` means that to link(2) only: to rename(2) it means that the file is another
        /// user's.
        func isUnknown(_ code: Int32) -> Bool {
            switch self {
            case .inOneStep: [EINVAL, ENOSYS, EOPNOTSUPP].contains(code)
            // ENOENT: there is no /proc.
            case .byLink: [EPERM, ENOSYS, EOPNOTSUPP, EMLINK, EXDEV, ENOENT].contains(code)
            case .afterLooking: false
            }
        }
    }

    /// The observer of every change.
    package let watch: FileChange.Watcher?
    /// Tried in this order: not every file system supports each of them.
    package var exclusiveRenames = ExclusiveRename.allCases
    private let descriptor: Int32

    /// Opens a directory. Permission to search it is enough; it need not be readable.
    /// - Throws: `SystemError` when it is no directory, or one on the way to it may not be searched.
    package init(path: String, watch: FileChange.Watcher? = nil) throws {
        self.watch = watch
        descriptor = cfiles_open_folder(path)
        guard descriptor >= 0 else { throw SystemError(errno, "open \(path)") }
    }

    /// Opens a directory that need not be readable, to use names in it. It can be neither listed nor
    /// synchronized.
    /// - Throws: `SystemError` when it is no directory.
    package init(forNamesIn path: String, watch: FileChange.Watcher? = nil) throws {
        self.watch = watch
        descriptor = cfiles_open_for_names(path)
        guard descriptor >= 0 else { throw SystemError(errno, "open \(path)") }
    }

    deinit {
        close(descriptor)
    }

    /// The free space in bytes, and the size of the file system.
    package var room: (available: Int64, capacity: Int64) {
        get throws {
            var room: (Int64, Int64) = (0, 0)
            guard cfiles_room(descriptor, &room.0, &room.1) == 0 else { throw SystemError(errno, "fstatvfs") }
            return room
        }
    }

    /// The kind of file that has a name.
    package func status(of name: String) throws -> NameStatus {
        var entry = cfiles_entry()
        guard cfiles_entry_at(descriptor, name, &entry) == 0 else {
            guard errno == ENOENT else { throw SystemError(errno, "fstatat \(name)") }
            return .nothing
        }
        return NameStatus(entry)
    }

    /// Whether the name refers to this file.
    package func isName(_ name: String, of file: PartFile) throws -> Bool {
        guard case .file(let named) = try status(of: name) else { return false }
        return named.identity == file.identity
    }

    // MARK: - Files

    /// Creates a file that only its owner may read and write (mode 0600).
    /// - Returns: `nil` if anything has that name.
    /// - Throws: `SystemError`.
    package func create(_ name: String) throws -> PartFile? {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let file = cfiles_open_at(descriptor, name, flags, 0o600)
        guard file >= 0 else {
            guard errno == EEXIST else { throw SystemError(errno, "create \(name)") }
            return nil
        }
        let made = try PartFile(descriptor: file, name: name, watch: watch)
        try watch?(.create(name, file: made.status.identity.inode))
        return made
    }

    /// Opens a regular file only to identify it: it can be neither read nor written.
    /// - Throws: `SystemError`, if there is none.
    package func identify(_ name: String) throws -> PartFile {
        let file = cfiles_open_to_identify(descriptor, name)
        guard file >= 0 else { throw SystemError(errno, "open \(name)") }
        return try PartFile(descriptor: file, name: name, watch: watch)
    }

    /// Opens a regular file, by default to read and write it.
    /// - Returns: `nil` if there is none.
    /// - Throws: `SystemError`; `ELOOP` for a symbolic link.
    package func open(_ name: String, _ access: Int32 = O_RDWR) throws -> PartFile? {
        // O_NONBLOCK: opening a FIFO without a reader would wait forever. It does nothing to regular files.
        let file = cfiles_open_at(descriptor, name, access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard file >= 0 else {
            guard errno == ENOENT else { throw SystemError(errno, "open \(name)") }
            return nil
        }
        return try PartFile(descriptor: file, name: name, watch: watch)
    }

    /// The file of a name, opened, if no other user can have made it (``FileStatus/isOwn(of:)``).
    package enum OwnFile {
        case nothing
        case notOurs
        case file(PartFile)
    }

    /// Opens such a file, by default to read and write it. What was opened counts, not what had the name before.
    /// - Returns: what was found.
    /// - Throws: `SystemError`.
    package func openOwn(_ name: String, _ access: Int32 = O_RDWR) throws -> OwnFile {
        switch try status(of: name) {
        case .nothing: return .nothing
        // It was removed during the look.
        case .file(let status) where status.links == 0: return .nothing
        // Another user's file is not even opened.
        case .file(let status) where status.isOwn(of: user): break
        case .file, .directory, .symbolicLink, .other: return .notOurs
        }
        do {
            guard let file = try open(name, access) else { return .nothing }
            let status = try file.status
            guard status.links > 0 else { return .nothing }
            return status.isOwn(of: user) ? .file(file) : .notOurs
        } catch let error as SystemError where error.isLackOfPermission {
            return .notOurs
        }
    }

    /// The contents found under the name of a small file.
    package enum Contents: Hashable, Sendable {
        case nothing
        /// Another user may have made it, or it has bytes and no mark: a program saved or copied it.
        case notOurs
        case tooLong
        case bytes([UInt8])
    }

    /// The mark of a file that ``replace(_:with:temporary:isDurable:)`` made. A program that saves the body of a
    /// response sets none, whatever the server knows about inodes. An archive can contain it: it proves a
    /// checkpoint only together with the inode and the creation time of the part, which no archive can know.
    private static let mark = "user.operationnetworking.made"

    /// Whether the file has the mark, or the file system keeps none and no other user may look into this folder:
    /// then no one can reveal to a server which files are in it.
    private func isMarked(_ file: PartFile) -> Bool {
        file.has(Self.mark) ?? isPrivate
    }

    private var isPrivate: Bool { ccache_folder_of(descriptor) == 2 }

    /// Whether a later process can find this part, and a checkpoint that ``replace(_:with:temporary:isDurable:)`` made
    /// for it, to be this user's own. A file system that maps owners or modes, or keeps neither attributes nor times of
    /// birth, cannot show it.
    package func isProvable(_ file: PartFile) throws -> Bool {
        try file.status.isOwn(of: user) && file.lastingIdentity.birth != nil
            && (file.has(Self.mark) != nil || isPrivate)
    }

    /// All bytes of a small file that ``replace(_:with:temporary:isDurable:)`` made, and no other user.
    /// - Parameters:
    ///   - name: its name.
    ///   - limit: in bytes; a longer one is not read.
    /// - Returns: what was found.
    /// - Throws: `SystemError`.
    package func contents(of name: String, limit: Int) throws -> Contents {
        switch try openOwn(name, O_RDONLY) {
        case .nothing: return .nothing
        case .notOurs: return .notOurs
        case .file(let file):
            let size = try file.status.size
            // A process may die before it sets the mark.
            guard size == 0 || isMarked(file) else { return .notOurs }
            guard size <= Int64(limit) else { return .tooLong }
            return .bytes(try file.read(limit, at: 0))
        }
    }

    // MARK: - Owners

    /// The effective user, to whom our files belong.
    package var user: UInt32 { geteuid() }

    /// Whether another file may take the name of this one: in a folder with the sticky bit, such as
    /// `/tmp`, it takes the owner of either, or the capability (unlink(2)).
    package func mayReplace(_ name: String) -> Bool { cfiles_may_replace(descriptor, name) != 0 }

    /// The access to a file that open(2) makes in this folder.
    package var accessOfNewFile: FileAccess {
        let mode = cfiles_mode_of_new_file(descriptor)
        // If the system does not report it, only the owner has access.
        return FileAccess(mode: mode < 0 ? 0o600 : UInt32(mode))
    }

    /// The access to `file` when it is complete and gets this name: see ``FileAccess``.
    package func access(to file: PartFile, named name: String) throws -> FileAccess {
        guard case .file(let old) = try status(of: name), old.owner == user else { return accessOfNewFile }
        var list = [UInt8](repeating: 0, count: 4096)
        let length = cfiles_access_list(descriptor, name, &list, list.count)
        // With a list, the permissions of the group are those of the list's mask, and mean nothing without the list.
        let mode = old.mode & (length < 0 ? 0o707 : 0o777)
        let group = try file.status.group == old.group ? nil : old.group
        return FileAccess(mode: mode, group: group, list: Array(list.prefix(max(0, length))))
    }

    /// Puts a file with these bytes in the place of `name` in one step: a reader, even after a crash, finds
    /// the old one or the new one.
    /// - Parameters:
    ///   - name: what it is called; only its owner may read it.
    ///   - bytes: all that is in it.
    ///   - temporary: a name of ours; a file that has it is removed.
    ///   - isDurable: whether it is on the disk when this returns. If not, a loss of power may leave an empty
    ///     or a torn file.
    /// - Returns: which file has the name now.
    /// - Throws: `SystemError`; the old one stands then.
    package func replace(
        _ name: String,
        with bytes: [UInt8],
        temporary: String,
        isDurable: Bool
    ) throws -> FileIdentity {
        try remove(temporary)
        guard let file = try create(temporary) else {
            throw SystemError(EEXIST, "create \(temporary)")
        }
        do {
            // Where the file system keeps none, the folder has to be private: see `isMarked`.
            try? file.note("1", as: Self.mark)
            try file.write(bytes.span, at: 0)
            if isDurable { try file.synchronizeData() }
            try rename(temporary, to: name)
        } catch {
            // The first error is reported.
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

    /// Removes the name of a file, unless it is another one's by now.
    /// - Returns: whether it had the name.
    package func remove(_ name: String, of file: PartFile) throws -> Bool {
        guard try isName(name, of: file) else { return false }
        try remove(name)
        return true
    }

    /// Gives a file another name; a file that has it is replaced.
    package func rename(_ old: String, to new: String) throws {
        try watch?(.rename(old, to: new))
        guard renameat(descriptor, old, descriptor, new) == 0 else {
            throw SystemError(errno, "rename \(new)")
        }
    }

    /// Gives a complete file a name, in the place of what has it, unless an operation of this process writes that, or
    /// may be about to.
    ///
    /// | What has the name           | What happens                                                      |
    /// |-----------------------------|-------------------------------------------------------------------|
    /// | nothing                     | takes it in a step that fails if anything has it by then          |
    /// | a link, directory or device | replaces it                                                       |
    /// | a file                      | replaces it while it is claimed (``FileClaim``), if it still has the name then |
    ///
    /// An operation that writes a file opens it, claims it, and then checks that it still has the name
    /// (``OutputFile``). So one that begins on a free name makes a file, which is not replaced; one that begins on a
    /// file that is being replaced finds it claimed. A name that changes meanwhile is in use; it is not looked up again.
    /// - Parameters:
    ///   - old: its name now.
    ///   - new: its next one.
    ///   - file: the file itself.
    ///   - check: looks whether what has the name may be replaced. Nothing of this process begins to write it
    ///     meanwhile.
    /// - Throws: ``FileClaim/Taken``; what `check` throws; `SystemError`. What has the new name keeps it then.
    package func rename(
        _ old: String,
        replacing new: String,
        of file: PartFile,
        check: () throws -> Void = {}
    ) throws {
        let first = try status(of: new)
        guard case .file = first else {
            try check()
            guard first == .nothing else { return try rename(old, to: new) }
            do {
                return try renameExclusively(old, to: new, of: file)
            } catch let error as SystemError where error.code == SystemError.exists {
                throw FileClaim.Taken()
            }
        }
        // Open until the claim ends: when it has lost its name, another new file could get its inode, and would be
        // taken for one that is written.
        let claimed: PartFile
        do {
            claimed = try identify(new)
        } catch let error as SystemError where error.code == SystemError.missing {
            throw FileClaim.Taken()
        }
        var claim = FileClaim(claimed.identity)
        defer { withExtendedLifetime(claimed) { claim = nil } }
        try check()
        guard claim != nil, try isName(new, of: claimed) else { throw FileClaim.Taken() }
        try rename(old, to: new)
    }

    /// Renames a file, to a name that does not exist.
    /// - Parameters:
    ///   - old: its name now.
    ///   - new: its next one.
    ///   - file: the file itself: if `old` turns out to be the name of another one, that keeps it.
    /// - Throws: `SystemError`; `EEXIST` if anything has the name, ``SystemError/replaced`` if `old` is
    ///   another file's. The new name is as it was then.
    package func renameExclusively(_ old: String, to new: String, of file: PartFile) throws {
        try watch?(.rename(old, to: new))
        for way in exclusiveRenames {
            let code = rename(old, to: new, of: file, way)
            if way.isUnknown(code) { continue }
            guard code == 0 else { throw SystemError(code, "rename \(new)") }
            return try undoing(old, new, of: file)
        }
        throw SystemError(EOPNOTSUPP, "rename \(new)")
    }

    /// - Returns: the `errno`, 0 for success.
    private func rename(_ old: String, to new: String, of file: PartFile, _ way: ExclusiveRename) -> Int32 {
        switch way {
        case .inOneStep:
            return cfiles_rename_exclusively(descriptor, old, new) == 0 ? 0 : errno
        case .byLink:
            // In a folder such as /tmp, a link to another user's file could not be taken away again.
            guard (try? file.status.owner) == user else { return EPERM }
            let code = file.link(to: new, in: descriptor)
            guard code == 0 else { return code }
            guard unlinkat(descriptor, old, 0) != 0 else { return 0 }
            let reason = errno
            // Another process may have taken the two names for leftovers, and removed the old one: then this
            // is the last.
            if reason == ENOENT { return 0 }
            unlinkat(descriptor, new, 0)
            return reason
        case .afterLooking:
            var entry = cfiles_entry()
            guard cfiles_entry_at(descriptor, new, &entry) != 0 else { return EEXIST }
            guard errno == ENOENT else { return errno }
            return renameat(descriptor, old, descriptor, new) == 0 ? 0 : errno
        }
    }

    /// Looks whether the file has its new name, and gives what has it instead its old one back.
    private func undoing(_ old: String, _ new: String, of file: PartFile) throws {
        guard try isName(new, of: file) else {
            if rename(new, to: old, of: file, .inOneStep) != 0 {
                _ = rename(new, to: old, of: file, .afterLooking)
            }
            throw SystemError(SystemError.replaced, "rename \(new)")
        }
    }

    /// Waits until the names are on disk. Does nothing if the file system does not support it.
    package func synchronize() throws {
        try watch?(.synchronizeFolder)
        while cfiles_synchronize_folder(descriptor) != 0 {
            switch errno {
            case EINTR: continue
            case EINVAL, EROFS, ENOSYS: return
            default: throw SystemError(errno, "fsync of the directory")
            }
        }
    }
}
