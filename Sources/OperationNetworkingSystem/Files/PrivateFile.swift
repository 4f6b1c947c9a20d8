import COperationNetworking
import Glibc

/// A file that only its owner may read, and that is there whole or not at all.
package enum PrivateFile {
    /// Writes a file of mode 0600 in place of the one there is.
    ///
    /// - Parameters:
    ///   - path: where; the bytes are written to a new file beside it first, which then takes its name.
    ///   - bytes: all of them.
    /// - Throws: `SystemError`; the old file is as it was then.
    package static func replace(path: String, with bytes: Span<UInt8>) throws {
        let name = path + "." + String(UInt64.random(in: .min ... .max), radix: 36)
        let descriptor = cfiles_open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError(errno, "create a file beside \(path)") }
        do {
            try WriteSignals.heldBack { try write(bytes, to: descriptor, path) }
            guard fsync(descriptor) == 0 else { throw SystemError(errno, "fsync \(path)") }
            guard rename(name, path) == 0 else { throw SystemError(errno, "rename to \(path)") }
        } catch {
            unlink(name)
            close(descriptor)
            throw error
        }
        close(descriptor)
    }

    private static func write(_ bytes: Span<UInt8>, to descriptor: Int32, _ path: String) throws {
        try bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let written = Glibc.write(
                    descriptor,
                    UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                    rest.count
                )
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw SystemError(written < 0 ? errno : ENOSPC, "write \(path)") }
                rest = rest.dropFirst(written)
            }
        }
    }
}
