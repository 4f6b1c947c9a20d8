package import Foundation

extension InputStream {
    /// Returns the next bytes, at most `count`; none at the end, `nil` on failure: see ``ownError``. May
    /// block.
    package func nextPiece(atMost count: Int) -> Data? {
        if let pieces = self as? PieceStream { return pieces.readPiece(atMost: count) }
        var piece = Data(count: max(count, 1))
        let length = piece.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: UInt8.self) { buffer in
                buffer.baseAddress.map { self.read($0, maxLength: buffer.count) } ?? 0
            }
        }
        guard length >= 0 else { return nil }
        piece.count = min(length, piece.count)
        return piece
    }
}

extension OutputStream {
    /// Writes as many of `bytes` as the stream accepts, and returns how many; 0 if it is at capacity,
    /// negative on failure. May block.
    package func write(_ bytes: Span<UInt8>) -> Int {
        bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return write(start, maxLength: buffer.count)
        }
    }
}

extension Stream {
    /// The stream's `streamError`, which traps in swift-corelibs-foundation unless the stream has failed.
    ///
    /// A custom stream class may have an error without the status, so its error is read, but not after it is
    /// closed: it may then rely on Foundation's implementation.
    package var ownError: (any Error)? {
        switch streamStatus {
        case .error: streamError
        case .notOpen, .closed: nil
        case .opening, .open, .reading, .writing, .atEnd: isFoundations ? nil : streamError
        @unknown default: nil
        }
    }

    private var isFoundations: Bool {
        type(of: self) == InputStream.self || type(of: self) == OutputStream.self
    }
}

extension [UInt8] {
    /// Appends a copy of borrowed bytes.
    package mutating func append(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}
