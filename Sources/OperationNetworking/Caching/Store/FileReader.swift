import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Reads a body from its file, which stays open, and so readable, if the entry is removed.
final class FileReader: CacheReading, @unchecked Sendable {
    // @unchecked: `file` is used on `queue` only; the rest is immutable.
    private let file: PartFile
    private let queue: DispatchQueue
    let length: Int64

    /// - Parameters:
    ///   - file: open.
    ///   - length: of the body; what the file has behind it is another writer's.
    ///   - queue: the one to read on.
    init(_ file: PartFile, length: Int64, queue: DispatchQueue) {
        self.file = file
        self.length = length
        self.queue = queue
    }

    func read(
        at offset: Int64,
        atMost count: Int,
        later: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) -> Data? {
        let count = Int(min(Int64(count), max(length - offset, 0)))
        guard count > 0, offset >= 0 else { return Data() }
        queue.async { [self] in
            later(
                Result {
                    let bytes = try file.data(count, at: offset)
                    guard bytes.count == count else { throw BodyError.missing }
                    return bytes
                }
            )
        }
        return nil
    }
}
