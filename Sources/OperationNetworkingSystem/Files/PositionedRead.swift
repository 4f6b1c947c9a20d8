import Glibc

extension [UInt8] {
    /// The bytes of an open file from `offset` on, at most `count`; fewer only where the file ends.
    ///
    /// - Throws: `SystemError` of pread(2), in which `name` says which file it was.
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
