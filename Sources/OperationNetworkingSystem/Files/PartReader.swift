import COperationNetworking
import Glibc

/// Reads a file while its writer writes it. Closed with this object.
package final class PartReader: Sendable {
    private let descriptor: Int32
    private let name: String

    init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Reads the bytes from `offset` on, as many as there are and fit, into the beginning of `buffer`.
    /// - Parameters:
    ///   - buffer: gets the bytes.
    ///   - offset: of the first one.
    /// - Returns: how many; 0 at the end of the file.
    /// - Throws: `SystemError`.
    package func read(into buffer: inout MutableSpan<UInt8>, at offset: Int64) throws -> Int {
        try buffer.withUnsafeMutableBytes { buffer in
            while true {
                let read = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
                if read >= 0 { return read }
                guard errno == EINTR else { throw SystemError(errno, "pread \(name)") }
            }
        }
    }
}
