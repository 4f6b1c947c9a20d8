import Glibc

extension [UInt8] {
    /// Reads the bytes of an open file from `offset`, at most `count`; fewer only at the end of the file.
    ///
    /// - Throws: `SystemError` of pread(2), with `name` as the file's name.
    init(reading count: Int, from descriptor: Int32, at offset: Int64, of name: String) throws {
        try self.init(unsafeUninitializedCapacity: Swift.max(count, 0)) { buffer, done in
            while done < count {
                let rest = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[done...]
                )
                let read = pread(descriptor, rest.baseAddress, count - done, off_t(offset) + off_t(done))
                if read > 0 {
                    done += read
                } else if read == 0 {
                    return
                } else if errno != EINTR {
                    throw SystemError(errno, "pread \(name)")
                }
            }
        }
    }
}
