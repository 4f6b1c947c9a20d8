import COperationNetworking
import Glibc

/// A file that is written from front to back, and can be emptied to start again; or a device, or a FIFO.
///
/// Closed with this object. Calls may wait for the disk, never for another process: what a FIFO has no room
/// for is not written.
package final class OutputFile {
    /// The number of attempts to open a name that becomes another file's all the time.
    private static let maximumLooks = 10

    private var descriptor: Int32
    private let isFIFO: Bool
    /// Whether ``truncate()`` takes back what was written. A FIFO or a character device, such as a terminal,
    /// hands it on.
    package let canBeEmptied: Bool
    /// The claim to a regular file, until it is closed. Devices and FIFOs may have many writers.
    private var claim: FileClaim?

    /// The opened file.
    private struct Opened {
        let descriptor: Int32
        let isFIFO: Bool
        let canBeEmptied: Bool
        /// `nil` if it is no regular file.
        let file: FileStatus?
    }

    /// Opens the file, claims it and empties it, or makes it. `nil` for a FIFO without a reader.
    /// - Throws: `SystemError`, with `ENXIO` or `ESPIPE` for a socket; ``FileClaim/Taken``, and the file is
    ///   as it was.
    package init?(path: String) throws {
        guard var opened = try Self.open(path) else { return nil }
        var claim = try Self.claim(opened)
        // The name may be another file's since this one was opened: a download that had claimed it has
        // replaced it.
        for _ in 1..<Self.maximumLooks where claim != nil && !Self.has(path, opened) {
            claim = nil
            Glibc.close(opened.descriptor)
            guard let next = try Self.open(path) else { return nil }
            opened = next
            claim = try Self.claim(opened)
        }
        descriptor = opened.descriptor
        isFIFO = opened.isFIFO
        canBeEmptied = opened.canBeEmptied
        self.claim = claim
        // Not O_TRUNC, which would empty a file before it is known what it is.
        guard let file = opened.file, file.size > 0 else { return }
        do {
            try truncate()
        } catch {
            try? close()
            throw error
        }
    }

    deinit {
        try? close()
    }

    private static func open(_ path: String) throws -> Opened? {
        // O_NONBLOCK: opening a FIFO without a reader would wait for ever. It does nothing to regular files.
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK
        let descriptor = cfiles_open(path, flags, 0o666)
        guard descriptor >= 0 else {
            let code = errno
            if code == ENXIO, cfiles_kind_of_path(path) == cfiles_fifo.rawValue { return nil }
            throw SystemError(code, "open \(path)")
        }
        var entry = cfiles_entry()
        let kind = cfiles_kind_of_descriptor(descriptor, &entry)
        guard kind > cfiles_other.rawValue else {
            let code = kind < 0 ? errno : ESPIPE
            Glibc.close(descriptor)
            throw SystemError(code, "open \(path)")
        }
        var file: FileStatus?
        if case .file(let status) = NameStatus(entry) { file = status }
        let isFIFO = kind == cfiles_fifo.rawValue
        return Opened(
            descriptor: descriptor,
            isFIFO: isFIFO,
            canBeEmptied: !isFIFO && kind != cfiles_character_device.rawValue,
            file: file
        )
    }

    /// `nil` for what needs no claim.
    private static func claim(_ opened: Opened) throws -> FileClaim? {
        guard let file = opened.file else { return nil }
        if let claim = FileClaim(file.identity) { return claim }
        Glibc.close(opened.descriptor)
        throw FileClaim.Taken()
    }

    /// Whether the file still has the name, or the system does not tell.
    private static func has(_ path: String, _ opened: Opened) -> Bool {
        var entry = cfiles_entry()
        guard cfiles_entry_of_path(path, &entry) == 0 else { return errno != ENOENT }
        guard case .file(let named) = NameStatus(entry) else { return false }
        return named.identity == opened.file?.identity
    }

    /// Becomes writable when there is room; `nil` for what always has room.
    package var pollableDescriptor: Int32? { isFIFO ? descriptor : nil }

    /// Empties the file and goes back to its start. A device is written from its start again.
    /// - Throws: `SystemError`, with `ESPIPE` unless ``canBeEmptied``.
    package func truncate() throws {
        guard canBeEmptied else { throw SystemError(ESPIPE, "ftruncate") }
        guard ftruncate(descriptor, 0) == 0 || errno == EINVAL else { throw SystemError(errno, "ftruncate") }
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw SystemError(errno, "lseek") }
    }

    /// Writes what there is room for of `bytes`, after what was written before.
    /// - Returns: how many bytes; 0 when there is no room now.
    package func write(_ bytes: Span<UInt8>) throws -> Int {
        guard !bytes.isEmpty else { return 0 }
        return try WriteSignals.heldBack { try writeOnce(bytes) }
    }

    private func writeOnce(_ bytes: Span<UInt8>) throws -> Int {
        try bytes.withUnsafeBytes { buffer in
            while true {
                let written = Glibc.write(descriptor, buffer.baseAddress, buffer.count)
                if written > 0 { return written }
                if written == 0 { throw SystemError(ENOSPC, "write") }
                switch errno {
                case EINTR: continue
                case EAGAIN: return 0
                default: throw SystemError(errno, "write")
                }
            }
        }
    }

    /// Closes the file; some file systems say only now that a write failed.
    package func close() throws {
        guard descriptor >= 0 else { return }
        // Before: the number of a closed file may be another one's.
        claim = nil
        let code = Glibc.close(descriptor)
        descriptor = -1
        guard code == 0 || errno == EINTR else { throw SystemError(errno, "close") }
    }
}
