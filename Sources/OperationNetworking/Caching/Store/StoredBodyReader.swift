import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Reads the body of an entry from memory or from its file. The file stays open, so the body can be read to
/// its end even if the entry is removed.
final class StoredBodyReader: Sendable {
    /// The file became shorter while it was read.
    struct Cut: Error, Hashable {}

    private enum Source: Sendable {
        case memory(Data)
        case file(OpenFile)
    }

    private struct OpenFile: @unchecked Sendable {
        // @unchecked: `file` is used on `queue` only.
        let file: CacheFile
        let queue: DispatchQueue

        func read(_ count: Int, at offset: Int64) throws -> Data {
            let bytes = try file.read(count, at: offset)
            guard bytes.count == count else { throw Cut() }
            return bytes
        }
    }

    private let source: Source
    /// The length of the body, in bytes.
    let length: Int64

    init(_ body: Data) {
        source = .memory(body)
        length = Int64(body.count)
    }

    /// - Parameters:
    ///   - file: the open file.
    ///   - length: the length of the body.
    ///   - queue: the queue on which the file is read.
    init(_ file: CacheFile, length: Int64, queue: DispatchQueue) {
        source = .file(OpenFile(file: file, queue: queue))
        self.length = length
    }

    deinit {
        // The last close of a removed file frees its blocks, which may take long.
        if case .file(let open) = source { open.queue.async { open.file.close() } }
    }

    /// Reads at most `count` bytes from `offset` on, and at least one before the end. Fewer than `count`
    /// bytes do not mean that the end was reached.
    ///
    /// - Parameters:
    ///   - offset: the offset of the first byte.
    ///   - count: the maximum number of bytes.
    ///   - later: receives the bytes of a file, or an error, on any thread.
    /// - Returns: the bytes if they are in memory; then `later` is not called. Otherwise `nil`.
    func read(
        at offset: Int64,
        atMost count: Int,
        later: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) -> Data? {
        guard offset >= 0, offset < length, count > 0 else { return Data() }
        let count = Int(min(Int64(count), length - offset))
        switch source {
        case .memory(let body):
            let start = body.startIndex + Int(offset)
            return body[start..<start + count]
        case .file(let open):
            // The reader keeps the file open.
            open.queue.async { [self] in
                withExtendedLifetime(self) { later(Result { try open.read(count, at: offset) }) }
            }
            return nil
        }
    }
}
