import COperationNetworking
package import Foundation

/// A regular file that is read from front to back. Closed with this object; calls may wait for the disk.
package final class InputFile {
    private let descriptor: Int32
    private let path: String

    /// - Throws: `SystemError`, with `EISDIR` for a directory and `ESPIPE` for what else has no length.
    package init(path: String) throws {
        self.path = path
        // O_NONBLOCK: opening a FIFO without a writer would wait for ever. It does nothing to regular files.
        descriptor = cfiles_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        // Everything is set: an error that is thrown from here on runs `deinit`, which closes it.
        guard descriptor >= 0, cfiles_length(descriptor) >= 0 else {
            throw SystemError(errno, "open \(path)")
        }
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// In bytes, now.
    package var length: Int64 {
        get throws {
            let length = cfiles_length(descriptor)
            guard length >= 0 else { throw SystemError(errno, "fstat \(path)") }
            return length
        }
    }

    /// The next bytes, at most `count`; none at the end.
    package func read(atMost count: Int) throws -> Data {
        guard count > 0 else { return Data() }
        // Not Data(count:), which fills with zeros first.
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
