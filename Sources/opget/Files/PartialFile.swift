import Glibc

/// A file that is not complete: it has another name, and gets its own when it is.
///
/// The temporary file is made anew (`O_EXCL`) and locked for as long as it is used. Another run that wants the same
/// file sees the lock and leaves it alone. A temporary file that nobody has locked is left from a run that was killed,
/// or not ours at all: it is not touched, and the next name is taken.
final class PartialFile {
    /// How many names are tried.
    private static let candidateCount = 1000

    let destination: FilePath
    /// Where the bytes go until then.
    let path: FilePath
    private let leftovers: Leftovers
    /// Keeps the lock.
    private var descriptor: Int32

    /// - Parameters:
    ///   - destination: the name it gets when it is complete.
    ///   - isReserved: whether a path is what another item is going to be saved as.
    ///   - leftovers: knows the file until it has its name or is removed.
    /// - Throws: `Failure` with ``Outcome/file``.
    init(for destination: FilePath, isReserved: (FilePath) -> Bool, leftovers: Leftovers) throws {
        self.destination = destination
        self.leftovers = leftovers
        let name = PartialName(of: destination.name)
        for number in 0..<Self.candidateCount {
            let path = Self.path(beside: destination, name.candidate(number))
            guard !isReserved(path) else { continue }
            let descriptor = open(path.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
            if descriptor >= 0 {
                // Nobody keeps the lock of a file that is not theirs: this waits no longer than somebody looks.
                // Where there are no locks, the exclusive creation has to do.
                while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
                self.path = path
                self.descriptor = descriptor
                leftovers.add(path)
                return
            }
            let code = errno
            guard code == EEXIST else { throw Failure(making: path, code) }
            guard !Self.isInUse(path) else {
                throw Failure(.file, "\(destination.text) is being fetched by another opget.")
            }
        }
        throw Failure(.file, "\(destination.text) has too many temporary files beside it: remove some.")
    }

    deinit {
        discard()
    }

    private static func path(beside destination: FilePath, _ name: String) -> FilePath {
        destination.text.contains("/") ? destination.parent.appending(name) : FilePath(name)
    }

    private static func isInUse(_ path: FilePath) -> Bool {
        let descriptor = open(path.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    // MARK: - The end

    /// Gives the file its name, if it has `length` bytes; a file that has the name meanwhile is replaced only if
    /// `replacing` says so.
    ///
    /// - Returns: its length.
    /// - Throws: `Failure` with ``Outcome/file``; the temporary file is removed then.
    func commit(length: Int64?, replacing: Bool) throws -> Int64 {
        defer { discard() }
        var status = stat()
        guard stat(path.text, &status) == 0 else { throw Failure(reading: path, errno) }
        if let length, length != Int64(status.st_size) {
            throw Failure(.file, "\(path.text) has \(status.st_size) bytes, and \(length) were received.")
        }
        guard replacing ? rename(path.text, destination.text) == 0 : try renameWithoutReplacing() else {
            throw Failure(making: destination, errno)
        }
        release()
        return Int64(status.st_size)
    }

    /// A second link, then the first one away: unlike rename(2) this never replaces a file.
    private func renameWithoutReplacing() throws -> Bool {
        if link(path.text, destination.text) == 0 { return unlink(path.text) == 0 }
        switch errno {
        case EEXIST:
            throw Failure(.file, "\(destination.text) has appeared meanwhile, and is left as it is.")
        case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
            // A file system without links: a look before has to do.
            var status = stat()
            guard lstat(destination.text, &status) != 0 else {
                throw Failure(.file, "\(destination.text) has appeared meanwhile, and is left as it is.")
            }
            return rename(path.text, destination.text) == 0
        default:
            return false
        }
    }

    /// Removes the temporary file. Nothing happens to one that has its name.
    func discard() {
        guard descriptor >= 0 else { return }
        unlink(path.text)
        release()
    }

    private func release() {
        leftovers.remove(path)
        close(descriptor)
        descriptor = -1
    }
}
