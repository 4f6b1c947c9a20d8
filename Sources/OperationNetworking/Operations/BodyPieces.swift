public import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

/// The body of an operation's response, piece by piece, as it arrives: see
/// ``ConnectionOperation/bodyPieces()``.
///
/// ```swift
/// let updates = operation.downloadUpdates
/// Task {
///     for await progress in updates { print("\(progress.bytes) of \(progress.expected ?? -1)") }
/// }
/// let pieces = operation.bodyPieces()
/// queue.addOperation(operation)
/// var lines = 0
/// for try await piece in pieces { lines += piece.count { $0 == UInt8(ascii: "\n") } }
/// ```
///
/// It can be read once. The operation is cancelled when a loop ends early, when the reading task is
/// cancelled, or when the sequence is discarded unread.
public struct BodyPieces: AsyncSequence, Sendable {
    /// Some bytes of the body.
    public typealias Element = Data
    /// The error of the operation.
    public typealias Failure = any Error

    private let reader: Reader

    init(_ operation: ConnectionOperation, _ channel: BodyChannel) {
        reader = Reader(operation, channel)
    }

    /// Reads the pieces.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        /// The next bytes, at least one; `nil` when the operation has finished and all bytes have been read.
        ///
        /// - Throws: the error of the operation; `URLError.cancelled` when the task is cancelled.
        public mutating func next() async throws -> Data? { try await reader.next() }
    }

    /// Returns an iterator that continues after the bytes that were read.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    /// Ends the reading when the last sequence or iterator that refers to it is released.
    fileprivate final class Reader: Sendable {
        private let operation: ConnectionOperation
        private let channel: BodyChannel

        init(_ operation: ConnectionOperation, _ channel: BodyChannel) {
            self.operation = operation
            self.channel = channel
        }

        deinit {
            cancelOperation()
            channel.abandon()
        }

        func next() async throws -> Data? {
            while true {
                if Task.isCancelled {
                    cancelOperation()
                    throw URLError.cancelled(url: operation.request.url)
                }
                switch channel.next() {
                case .piece(let piece):
                    return piece
                case .end(let end):
                    try end.get()
                    return nil
                case .none:
                    await Wait.until(channel.whenNews) { true }
                }
            }
        }

        /// Cancels the operation, unless its body has been redirected elsewhere.
        private func cancelOperation() {
            if operation.isRead(by: channel), !operation.isFinished { operation.cancel() }
        }
    }
}

extension ConnectionOperation {
    /// Returns the body of a successful response, piece by piece, as an `AsyncSequence` of `Data`.
    ///
    /// ```swift
    /// let pieces = operation.bodyPieces()
    /// queue.addOperation(operation)
    /// for try await piece in pieces { hash.update(data: piece) }
    /// ```
    ///
    /// Resets ``outputStream`` and ``outputFile``. Call this before the operation is in a queue; run the loop
    /// once it is in one, or started. The body is not kept: `responseData` is `nil`. A slow reader slows the
    /// transfer down: at most about 1 MiB is buffered. An operation has one sequence: a second call traps. A
    /// ``DownloadOperation`` writes a file and has no pieces.
    ///
    /// The sequence ends when the operation has finished, and throws its error, including the error about a
    /// status that the serializer rejects. After a ``pause()`` or a retry, the sequence continues after the
    /// bytes that were read if the resource has not changed; otherwise the error is
    /// ``ResumeError/representationChanged``, since the bytes that were read cannot be taken back.
    public func bodyPieces() -> BodyPieces {
        precondition(!hasReader, "bodyPieces() was called twice: an operation has one sequence of pieces")
        let channel = BodyChannel()
        configure { $0.configuration.destination = .pieces(channel) }
        whenFinished { [weak self] in channel.end(self?.error.map { .failure($0) } ?? .success(())) }
        return BodyPieces(self, channel)
    }

    private var hasReader: Bool {
        state.withLock { if case .pieces = $0.configuration.destination { true } else { false } }
    }

    /// Whether its body goes to the channel.
    fileprivate func isRead(by channel: BodyChannel) -> Bool {
        state.withLock { state in
            if case .pieces(let other) = state.configuration.destination { other === channel } else { false }
        }
    }
}

/// Counts the bytes in flight to a receiver that gets a copy of every piece, and reports when there are too
/// many.
final class PieceQueue: Sendable {
    /// The number of bytes in flight at which the transfer is held.
    private static let capacity = 512 * 1024

    private struct State {
        var bytes = 0
        var onChange: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var isFull: Bool { state.withLock { $0.bytes >= Self.capacity } }

    /// Called, on any thread, when a full queue has room again.
    var onChange: (@Sendable () -> Void)? {
        get { state.withLock { $0.onChange } }
        set { state.withLock { $0.onChange = newValue } }
    }

    /// Counts a piece as in flight.
    /// - Returns: a closure to call when the piece has arrived.
    func append(_ count: Int) -> @Sendable () -> Void {
        state.withLock { $0.bytes += count }
        return { [self] in
            let onChange = state.withLock { state in
                let wasFull = state.bytes >= Self.capacity
                state.bytes -= count
                return wasFull && state.bytes < Self.capacity ? state.onChange : nil
            }
            onChange?()
        }
    }
}
