package import Foundation

/// Produces the bytes of a ``PieceStream``. Used by one thread at a time.
package protocol PieceSource: AnyObject {
    /// Returns the next bytes, at least one and at most `count`; none at the end. May block.
    func next(atMost count: Int) throws -> Data

    /// Called when the reader stops reading.
    func stop()
}

/// An `InputStream` whose bytes are produced in pieces. Like every stream, it is used by one thread at a
/// time.
package final class PieceStream: InputStream {
    /// The source of the bytes.
    package let source: any PieceSource
    private var status = Stream.Status.notOpen
    private var failure: (any Error)?
    private var rest = Data()

    package init(_ source: any PieceSource) {
        self.source = source
        super.init(data: Data())
    }

    /// Like `read`, without a copy. `nil` after a failure, which is the `streamError`.
    func readPiece(atMost count: Int) -> Data? {
        // For a source, an empty piece is the end.
        guard count > 0 else { return status == .open || status == .atEnd ? Data() : nil }
        guard rest.isEmpty else {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        switch status {
        case .open:
            do {
                let next = try source.next(atMost: count)
                if next.isEmpty { status = .atEnd }
                rest = next.dropFirst(count)
                return next.prefix(count)
            } catch {
                failure = error
                status = .error
                return nil
            }
        case .atEnd:
            return Data()
        default:
            return nil
        }
    }

    // MARK: - InputStream

    package override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        guard let piece = readPiece(atMost: length) else { return -1 }
        piece.copyBytes(to: buffer, count: piece.count)
        return piece.count
    }

    package override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }

    package override var hasBytesAvailable: Bool { status == .open || !rest.isEmpty }

    // MARK: - Stream

    package override func open() {
        if status == .notOpen { status = .open }
    }

    package override func close() {
        guard status != .closed else { return }
        status = .closed
        rest = Data()
        source.stop()
    }

    package override var streamStatus: Stream.Status { status }

    package override var streamError: (any Error)? { failure }
}
