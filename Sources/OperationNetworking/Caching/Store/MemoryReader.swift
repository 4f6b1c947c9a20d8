import Foundation

/// Reads a body from memory.
final class MemoryReader: CacheReading {
    private let body: CacheBody

    init(_ body: CacheBody) {
        self.body = body
    }

    var length: Int64 { Int64(body.count) }

    func read(
        at offset: Int64,
        atMost count: Int,
        later: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) -> Data? {
        body.bytes(at: offset, atMost: count)
    }
}
