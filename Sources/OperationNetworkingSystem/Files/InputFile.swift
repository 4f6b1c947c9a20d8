import COperationNetworking
package import Foundation

/// A regular file that is read sequentially. Closed on deallocation; calls may block on disk access.
package final class InputFile {
    private let descriptor: Int32
    private let path: String

    /// - Throws: `SystemError`, with `EISDIR` for a directory and `ESPIPE` for anything else without a
    ///   length.
    package init(path: String) throws {
        self.path = path
        // O_NONBLOCK: opening a FIFO without a writer would block indefinitely. It does not affect regular
        // files.
        descriptor = cfiles_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        // Everything is initialized: from here on, `deinit` closes the file if an error is thrown.
        guard descriptor >= 0, cfiles_length(descriptor) >= 0 else {
            throw SystemError(errno, "open \(path)")
        }
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// The current length in bytes.
    package var length: Int64 {
        get throws {
            let length = cfiles_length(descriptor)
            guard length >= 0 else { throw SystemError(errno, "fstat \(path)") }
            return length
        }
    }

    /// Returns the next bytes, at most `count`; none at the end.
    package func read(atMost count: Int) throws -> Data {
        guard count > 0 else { return Data() }
        // Not Data(count:), which zero-fills first.
        guard let buffer = malloc(count) else { throw SystemError(ENOMEM, "read \(path)") }
        while true {
            let read = Glibc.read(descriptor, buffer, count)
            if read >= 0 { return Data(bytesNoCopy: buffer, count: read, deallocator: .free) }
            guard errno == EINTR else {
                defer { free(buffer) }
                throw SystemError(errno, "read \(path)")
            }
        }
    }
}
