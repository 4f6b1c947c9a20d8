import COperationNetworking
package import Foundation

/// A file of a ``CacheFolder``. Used by one thread at a time; every call may wait for the disk.
package final class CacheFile {
    /// The length of a file and the time of its last use.
    package struct Usage: Hashable, Sendable {
        /// In bytes.
        package let length: Int64
        /// In microseconds since 1970.
        package let time: Int64
    }

    private var descriptor: Int32
    private let name: String
    private let watch: FileChange.Watcher?
    let inode: UInt64
    let owner: UInt32
    /// Whether only the owner may read and write the file, and it has one name.
    let isPrivate: Bool
    /// As it was when the file was opened.
    package let usage: Usage

    /// Takes over the descriptor; closes it if this fails.
    init(_ descriptor: Int32, _ name: String, _ watch: FileChange.Watcher?) throws {
        var file = ccache_file()
        guard ccache_file_of(descriptor, &file) == 1 else {
            Glibc.close(descriptor)
            throw SystemError(EISDIR, "open \(name)")
        }
        self.descriptor = descriptor
        self.name = name
        self.watch = watch
        inode = file.inode
        owner = file.owner
        isPrivate = file.is_private != 0
        usage = Usage(length: file.length, time: file.used)
    }

    deinit {
        close()
    }

    /// Closes the file. Nothing else may be called after it.
    package func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Writes all of `bytes`, the first one at `offset`.
    package func write(_ bytes: Span<UInt8>, at offset: Int64) throws {
        if let watch {
            let written = bytes.withUnsafeBytes { Array($0) }
            try watch(.write(file: inode, offset: offset, bytes: written))
        }
        try bytes.write(to: descriptor, at: offset, of: name)
    }

    /// The bytes from `offset` on, at most `count`; fewer only where the file ends.
    package func read(_ count: Int, at offset: Int64) throws -> Data {
        var bytes = Data(count: count)
        let done = try bytes.withUnsafeMutableBytes { try $0.fill(from: descriptor, at: offset, of: name) }
        return done == count ? bytes : bytes.prefix(done)
    }

    /// The bytes from the start on, at most `count`; fewer only where the file ends.
    package func octets(_ count: Int) throws -> [UInt8] {
        try [UInt8](reading: count, from: descriptor, at: 0, of: name)
    }

    /// Has the kernel begin to write the bytes to the disk, without waiting for it.
    package func beginWriteback(_ bytes: Range<Int64>) {
        ccache_begin_writeback(descriptor, bytes.lowerBound, Int64(bytes.count))
    }

    /// Waits until the bytes, and the length, are on the disk.
    package func synchronize() throws {
        try watch?(.synchronize(file: inode))
        while fdatasync(descriptor) != 0 {
            guard errno == EINTR else { throw SystemError(errno, "fdatasync \(name)") }
        }
    }

    /// Sets the time of the last use to now. A failure changes no more than the order of eviction.
    package func noteUse() {
        _ = ccache_use(descriptor)
    }
}
