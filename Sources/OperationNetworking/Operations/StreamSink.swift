import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Passes a body to an `OutputStream`, whose writes may wait for as long as they like: it is opened and written on a
/// queue of its own. A stream that does not keep up holds its own transfer, and nobody else's.
final class StreamSink: ResponseSink, @unchecked Sendable {
    // @unchecked: `stream` is used on `queue` only; what both sides touch is in `state`.

    /// Bytes that may wait to be written before the transfer is held.
    private static let capacity = 512 * 1024
    /// Seconds between two looks at a stream that has no room and cannot say when it will: from, to.
    private static let retryInterval = (shortest: 0.001, longest: 0.05)

    private struct State {
        var pieces: [Data] = []
        var bytesWaiting = 0
        var count: Int64 = 0
        var hasBegun = false
        var isWriting = false
        var failure: (any Error)?
        var onChange: (@Sendable () -> Void)?
        var end: (@Sendable (Result<Data?, any Error>) -> Void)?
        var isAbandoned = false
    }

    private let stream: OutputStream
    private let queue = DispatchQueue(label: "OperationNetworking.StreamSink")
    private let state = Locked(State())

    init(_ stream: OutputStream) {
        self.stream = stream
    }

    let canBeEmptied = false
    var count: Int64 { state.withLock { $0.count } }
    var failure: (any Error)? { state.withLock { $0.failure } }
    var isFull: Bool { state.withLock { $0.bytesWaiting >= Self.capacity && $0.failure == nil } }

    var onChange: (@Sendable () -> Void)? {
        get { state.withLock { $0.onChange } }
        set { state.withLock { $0.onChange = newValue } }
    }

    func prepare(expecting expected: Int64?) throws {
        if let failure { throw failure }
        state.withLock { state in
            state.hasBegun = true
            write(&state)
        }
    }

    func empty() throws {
        preconditionFailure("A stream cannot be emptied")
    }

    func write(_ bytes: Span<UInt8>) throws {
        if let failure { throw failure }
        let piece = Data(bytes)
        state.withLock { state in
            state.pieces.append(piece)
            state.bytesWaiting += piece.count
            state.count += Int64(piece.count)
            write(&state)
        }
    }

    func end(_ then: @escaping @Sendable (Result<Data?, any Error>) -> Void) {
        state.withLock { state in
            state.end = then
            write(&state)
        }
    }

    func abandon() -> Data? {
        state.withLock { state in
            state.isAbandoned = true
            state.pieces = []
            // Opening a stream may empty a file: one that got no body stays as it was.
            if state.hasBegun { write(&state) }
        }
        return nil
    }

    // MARK: - On the queue

    private func write(_ state: inout State) {
        guard !state.isWriting else { return }
        state.isWriting = true
        queue.async { self.work(retryingAfter: Self.retryInterval.shortest) }
    }

    private func work(retryingAfter interval: Double) {
        if stream.streamStatus == .notOpen { stream.open() }
        var interval = interval
        while let piece = nextPiece() {
            guard stream.hasSpaceAvailable else {
                if let error = stream.streamError { return fail(error) }
                if stream.streamStatus == .closed { return fail(CocoaError(.fileWriteUnknown)) }
                let next = min(2 * interval, Self.retryInterval.longest)
                queue.asyncAfter(deadline: .now() + interval) { self.work(retryingAfter: next) }
                return
            }
            let count = stream.write(piece)
            guard count > 0 else { return fail(stream.streamError ?? CocoaError(.fileWriteOutOfSpace)) }
            interval = Self.retryInterval.shortest
            didWrite(count)
        }
        pauseOrEnd()
    }

    private func nextPiece() -> Data? {
        state.withLock { $0.failure == nil ? $0.pieces.first : nil }
    }

    private func didWrite(_ count: Int) {
        let onChange = state.withLock { state in
            let wasFull = state.bytesWaiting >= Self.capacity
            state.bytesWaiting -= count
            // Emptied meanwhile by `abandon`.
            guard let piece = state.pieces.first else { return nil as (@Sendable () -> Void)? }
            if count == piece.count {
                state.pieces.removeFirst()
            } else {
                state.pieces[0] = piece.dropFirst(count)
            }
            return wasFull && state.bytesWaiting < Self.capacity ? state.onChange : nil
        }
        onChange?()
    }

    private func fail(_ error: any Error) {
        let onChange = state.withLock { state in
            state.failure = error
            state.pieces = []
            return state.onChange
        }
        onChange?()
        pauseOrEnd()
    }

    /// Everything is written: either more comes later, or this was the end.
    private func pauseOrEnd() {
        let (result, end) = state.withLock { state in
            // Bytes that came between the last look and now.
            guard state.pieces.isEmpty || state.failure != nil else {
                state.isWriting = false
                write(&state)
                return (
                    nil as Result<Data?, any Error>?, nil as (@Sendable (Result<Data?, any Error>) -> Void)?
                )
            }
            state.isWriting = false
            let isOver = state.end != nil || state.isAbandoned || state.failure != nil
            defer { if isOver { state.end = nil } }
            return (isOver ? state.failure.map { .failure($0) } ?? .success(nil) : nil, state.end)
        }
        guard let result else { return }
        // A stream that failed is closed too, as in AFNetworking; closing twice does nothing.
        stream.close()
        end?(result)
    }
}
