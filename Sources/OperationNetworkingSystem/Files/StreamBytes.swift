package import Foundation

extension InputStream {
    /// The next bytes, at most `count`; none at the end, `nil` on failure: see ``ownError``. May wait.
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
    /// Writes what the stream takes of `bytes`: how many, 0 when it is at its capacity, negative on failure.
    /// May wait.
    package func write(_ bytes: Span<UInt8>) -> Int {
        bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return write(start, maxLength: buffer.count)
        }
    }
}

extension Stream {
    /// The stream's `streamError`, which in swift-corelibs-foundation traps unless the stream has failed.
    ///
    /// A class of the user's may have an error without the status, so that one is asked, but not when it is
    /// closed: it may have left all that to Foundation.
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
    /// Copies bytes that are only lent.
    package mutating func append(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}
