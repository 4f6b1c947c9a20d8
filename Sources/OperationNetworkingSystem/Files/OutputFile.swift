import COperationNetworking
import Glibc

/// A file that is written from front to back, and can be emptied to start again.
///
/// Closed with this object. Calls may wait for the disk, never for another process: a FIFO is refused.
package final class OutputFile {
    private var descriptor: Int32

    /// Opens or makes the file; what is in it stays until ``truncate()``.
    /// - Throws: `SystemError`, with `ENXIO` or `ESPIPE` for a FIFO or a socket.
    package init(path: String) throws {
        // O_NONBLOCK: opening a FIFO nobody reads would wait for ever. It does nothing to regular files.
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK
        descriptor = cfiles_open(path, flags, 0o666)
        guard descriptor >= 0 else { throw SystemError(errno, "open \(path)") }
        let kind = cfiles_is_file_or_device(descriptor)
        guard kind > 0 else {
            let code = kind < 0 ? errno : ESPIPE
            Glibc.close(descriptor)
            throw SystemError(code, "open \(path)")
        }
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Empties the file and goes back to its start. A device has nothing to empty.
    package func truncate() throws {
        guard ftruncate(descriptor, 0) == 0 || errno == EINVAL else { throw SystemError(errno, "ftruncate") }
        _ = lseek(descriptor, 0, SEEK_SET)
    }

    /// Writes all of `bytes` after what was written before.
    package func write(_ bytes: Span<UInt8>) throws {
        try bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let written = Glibc.write(
                    descriptor,
                    UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                    rest.count
                )
                if written > 0 {
                    rest = rest.dropFirst(written)
                } else if written == 0 {
                    throw SystemError(ENOSPC, "write")
                } else if errno != EINTR {
                    throw SystemError(errno, "write")
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
