import COperationNetworking
import Glibc

/// A file that is written sequentially and can be truncated to start over; or a device, or a FIFO.
///
/// Closed on deallocation. Calls may block on disk access, but never on another process: writing to a FIFO
/// does not block.
package final class OutputFile {
    private var descriptor: Int32
    private let isFIFO: Bool
    /// Whether ``truncate()`` can undo what was written, which is not possible for a FIFO or a character
    /// device, such as a terminal.
    package let canBeEmptied: Bool
    /// The claim to a regular file, until it is closed. Devices and FIFOs can have several writers.
    private var claim: FileClaim?

    /// The opened file.
    private struct Opened {
        let descriptor: Int32
        let isFIFO: Bool
        let canBeEmptied: Bool
        /// `nil` if it is not a regular file.
        let file: FileStatus?
    }

    /// Opens, claims and truncates the file, or creates it. `nil` for a FIFO without a reader.
    /// - Throws: `SystemError`, with `ENXIO` or `ESPIPE` for a socket; ``FileClaim/Taken``. The file is then
    ///   unchanged.
    package init?(path: String) throws {
        guard let opened = try Self.open(path) else { return nil }
        var claim = try Self.claim(opened)
        // The name may refer to another file since this one was opened: a download that had claimed it has
        // replaced it. It is not opened again: something else is writing there.
        guard claim == nil || Self.has(path, opened) else {
            claim = nil
            Glibc.close(opened.descriptor)
            throw FileClaim.Taken()
        }
        descriptor = opened.descriptor
        isFIFO = opened.isFIFO
        canBeEmptied = opened.canBeEmptied
        self.claim = claim
        // Not O_TRUNC, which would truncate a file before it is checked.
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
        // O_NONBLOCK: opening a FIFO without a reader would block indefinitely. It does not affect regular
        // files.
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

    /// `nil` if no claim is needed.
    private static func claim(_ opened: Opened) throws -> FileClaim? {
        guard let file = opened.file else { return nil }
        if let claim = FileClaim(file.identity) { return claim }
        Glibc.close(opened.descriptor)
        throw FileClaim.Taken()
    }

    /// Whether the file still has the name, or that is unknown.
    private static func has(_ path: String, _ opened: Opened) -> Bool {
        var entry = cfiles_entry()
        guard cfiles_entry_of_path(path, &entry) == 0 else { return errno != ENOENT }
        guard case .file(let named) = NameStatus(entry) else { return false }
        return named.identity == opened.file?.identity
    }

    /// Becomes writable when there is capacity; `nil` if there always is.
    package var pollableDescriptor: Int32? { isFIFO ? descriptor : nil }

    /// Truncates the file and rewinds to its start. A device is only rewound.
    /// - Throws: `SystemError`, with `ESPIPE` unless ``canBeEmptied``.
    package func truncate() throws {
        guard canBeEmptied else { throw SystemError(ESPIPE, "ftruncate") }
        guard ftruncate(descriptor, 0) == 0 || errno == EINVAL else { throw SystemError(errno, "ftruncate") }
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw SystemError(errno, "lseek") }
    }

    /// Appends as many of `bytes` as there is capacity for.
    /// - Returns: how many bytes; 0 if there is no capacity now.
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

    /// Closes the file. Some file systems report a failed write only now.
    package func close() throws {
        guard descriptor >= 0 else { return }
        // Before closing, because the inode of a closed file may be reused.
        claim = nil
        let code = Glibc.close(descriptor)
        descriptor = -1
        guard code == 0 || errno == EINTR else { throw SystemError(errno, "close") }
    }
}
