import COperationNetworking
import Glibc

/// A file that is written from front to back, and can be emptied to start again; or a device, or a FIFO.
///
/// Closed with this object. Calls may wait for the disk, never for another process: what a FIFO has no room for is
/// not written.
package final class OutputFile {
    private var descriptor: Int32
    private let isFIFO: Bool

    /// Opens the file and empties it, or makes it. `nil` for a FIFO that nobody reads.
    /// - Throws: `SystemError`, with `ENXIO` or `ESPIPE` for a socket.
    package init?(path: String) throws {
        // O_NONBLOCK: opening a FIFO nobody reads would wait for ever. It does nothing to regular files.
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK
        descriptor = cfiles_open(path, flags, 0o666)
        guard descriptor >= 0 else {
            let code = errno
            if code == ENXIO, cfiles_kind_of_path(path) == cfiles_fifo.rawValue { return nil }
            throw SystemError(code, "open \(path)")
        }
        var isEmpty: Int32 = 0
        let kind = cfiles_kind_of_descriptor(descriptor, &isEmpty)
        isFIFO = kind == cfiles_fifo.rawValue
        guard kind > cfiles_other.rawValue else {
            let code = kind < 0 ? errno : ESPIPE
            Glibc.close(descriptor)
            throw SystemError(code, "open \(path)")
        }
        // Not O_TRUNC, which would empty a file before anybody knows what it is.
        if kind == cfiles_regular.rawValue, isEmpty == 0 {
            do {
                try truncate()
            } catch {
                Glibc.close(descriptor)
                descriptor = -1
                throw error
            }
        }
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Whether ``truncate()`` takes back what was written.
    package var canBeEmptied: Bool { !isFIFO }

    /// Becomes writable when there is room; `nil` for what always has room.
    package var pollableDescriptor: Int32? { isFIFO ? descriptor : nil }

    /// Empties the file and goes back to its start. A device has nothing to empty, and a FIFO cannot be.
    package func truncate() throws {
        guard ftruncate(descriptor, 0) == 0 || errno == EINVAL else { throw SystemError(errno, "ftruncate") }
        _ = lseek(descriptor, 0, SEEK_SET)
    }

    /// Writes what there is room for of `bytes`, after what was written before.
    /// - Returns: how many bytes; 0 when there is no room now.
    package func write(_ bytes: Span<UInt8>) throws -> Int {
        guard !bytes.isEmpty else { return 0 }
        guard isFIFO else { return try writeOnce(bytes) }
        return try PipeSignal.heldBack { try writeOnce(bytes) }
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
        let code = Glibc.close(descriptor)
        descriptor = -1
        guard code == 0 || errno == EINTR else { throw SystemError(errno, "close") }
    }
}
