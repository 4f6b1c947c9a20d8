import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Reads a body from its file, which stays open, and so readable, if the entry is removed. Each block is
/// compared with its checksum before a byte of it is handed over.
final class FileReader: CacheReading, @unchecked Sendable {
    // @unchecked: `file` is used on `queue` only; the rest is immutable.
    private let file: PartFile
    private let checksums: BodyChecksums
    private let queue: DispatchQueue
    let length: Int64

    /// - Parameters:
    ///   - file: open.
    ///   - checksums: of the body.
    ///   - length: of the body.
    ///   - queue: the one to read on.
    init(_ file: PartFile, _ checksums: BodyChecksums, length: Int64, queue: DispatchQueue) {
        self.file = file
        self.checksums = checksums
        self.length = length
        self.queue = queue
    }

    func read(
        at offset: Int64,
        atMost count: Int,
        later: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) -> Data? {
        guard offset >= 0, offset < length, count > 0 else { return Data() }
        let range = offset..<Self.end(of: offset, atMost: count, length)
        queue.async { [self] in
            later(Result { try checksums.read(range, of: file) })
        }
        return nil
    }

    /// The end of a read, at the end of a block where there is one in reach: then the next one reads no block
    /// twice.
    private static func end(of offset: Int64, atMost count: Int, _ length: Int64) -> Int64 {
        let end = offset + min(Int64(count), length - offset)
        let boundary = end / BodyChecksums.blockLength * BodyChecksums.blockLength
        return end < length && boundary > offset ? boundary : end
    }
}
