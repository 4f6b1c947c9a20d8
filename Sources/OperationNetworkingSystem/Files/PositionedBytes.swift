import Glibc

// Reading and writing at an offset, whatever the position of the descriptor. All bytes are transferred, or an error is
// thrown. Errors have `name` as the file's name.

extension [UInt8] {
    /// Reads the bytes of an open file from `offset`, at most `count`; fewer only at the end of the file.
    ///
    /// - Throws: `SystemError` of pread(2).
    init(reading count: Int, from descriptor: Int32, at offset: Int64, of name: String) throws {
        try self.init(unsafeUninitializedCapacity: Swift.max(count, 0)) { buffer, done in
            done = try UnsafeMutableRawBufferPointer(buffer).fill(from: descriptor, at: offset, of: name)
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Reads the bytes of an open file from `offset` into the buffer.
    ///
    /// - Returns: the number of bytes; fewer than the buffer has only at the end of the file.
    /// - Throws: `SystemError` of pread(2).
    func fill(from descriptor: Int32, at offset: Int64, of name: String) throws -> Int {
        var done = 0
        while done < count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: self[done...])
            let read = pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            if read > 0 {
                done += read
            } else if read == 0 {
                break
            } else if errno != EINTR {
                throw SystemError(errno, "pread \(name)")
            }
        }
        return done
    }
}

extension Span<UInt8> {
    /// Writes all bytes to an open file, the first one at `offset`. After an error, some of them may have been written.
    ///
    /// - Throws: `SystemError` of pwrite(2).
    func write(to descriptor: Int32, at offset: Int64, of name: String) throws {
        try WriteSignals.heldBack {
            try withUnsafeBytes { buffer in
                var done = 0
                while done < buffer.count {
                    let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
                    let written = pwrite(
                        descriptor,
                        rest.baseAddress,
                        rest.count,
                        off_t(offset) + off_t(done)
                    )
                    if written > 0 {
                        done += written
                    } else if written == 0 || errno != EINTR {
                        throw SystemError(written == 0 ? ENOSPC : errno, "pwrite \(name)")
                    }
                }
            }
        }
    }
}
