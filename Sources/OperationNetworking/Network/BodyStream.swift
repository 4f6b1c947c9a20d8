import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Feeds a request's body from an `InputStream`, which may wait for as long as it likes: it is read on a queue of its
/// own, a little ahead of the transfer.
final class BodyStream: @unchecked Sendable {
    // @unchecked: `stream` is used on `queue` only; what both sides touch is in `state`.
    private static let pieceSize = 64 * 1024
    private static let readAhead = 4 * pieceSize

    typealias Provider = @Sendable () -> InputStream?

    private struct State {
        var pieces: [Data] = []
        var bytesWaiting = 0
        var isReading = false
        var hasStarted = false
        var isAtEnd = false
        var error: (any Error)?
        var whenReady: (@Sendable () -> Void)?
    }

    /// In bytes, if somebody promised it; `nil`: unknown.
    let length: Int64?
    private let stream: InputStream
    private let provider: Provider?
    private let queue = DispatchQueue(label: "OperationNetworking.BodyStream")
    private let state = Locked(State())

    /// A provider makes other streams of the same bytes; without one there is only this stream.
    init(_ stream: InputStream, length: Int64?, provider: Provider? = nil) {
        self.stream = stream
        self.length = length
        self.provider = provider
    }

    /// One that starts at the first byte: this one if nothing was taken from it, or a new one, if there is a provider.
    func fromStart() -> BodyStream? {
        if isUnread { return self }
        guard let provider, let stream = provider() else { return nil }
        return BodyStream(stream, length: length, provider: provider)
    }

    /// Whether nothing was taken from the stream yet.
    var isUnread: Bool { state.withLock { !$0.hasStarted } }

    /// What the stream said when it failed.
    var error: (any Error)? { state.withLock { $0.error } }

    /// The next piece; see ``RequestBodyReader/next(atMost:whenReady:)``. Called on the network thread.
    func next(atMost count: Int, whenReady: @escaping @Sendable () -> Void) -> SendAnswer {
        state.withLock { state in
            state.hasStarted = true
            if var piece = state.pieces.first {
                if piece.count > count {
                    state.pieces[0] = piece.dropFirst(count)
                    piece = piece.prefix(count)
                } else {
                    state.pieces.removeFirst()
                }
                state.bytesWaiting -= piece.count
                readOn(&state)
                return .bytes(piece)
            }
            if state.error != nil { return .failed }
            if state.isAtEnd { return .end }
            state.whenReady = whenReady
            readOn(&state)
            return .notYet
        }
    }

    private func readOn(_ state: inout State) {
        guard !state.isReading, !state.isAtEnd, state.bytesWaiting < Self.readAhead else { return }
        state.isReading = true
        queue.async { self.readPiece() }
    }

    private func readPiece() {
        if stream.streamStatus == .notOpen { stream.open() }
        var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
        let count = stream.read(filling: &buffer)
        let whenReady = state.withLock { state in
            state.isReading = false
            if count > 0 {
                state.pieces.append(Data(buffer[..<count]))
                state.bytesWaiting += count
            } else {
                state.isAtEnd = true
                if count < 0 { state.error = stream.streamError ?? CocoaError(.fileReadUnknown) }
            }
            readOn(&state)
            defer { state.whenReady = nil }
            return state.whenReady
        }
        if count <= 0 { stream.close() }
        whenReady?()
    }
}
