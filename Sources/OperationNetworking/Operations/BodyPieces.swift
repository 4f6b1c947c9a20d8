public import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

/// The body of an operation's response, piece by piece, as it comes: see
/// ``ConnectionOperation/bodyPieces()``.
///
/// It is read once. The operation is cancelled when a loop ends early, when the task that reads is cancelled,
/// and when the sequence is thrown away unread.
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

        /// The next bytes, at least one; `nil` when the operation has finished, and all were read.
        ///
        /// - Throws: the error of the operation; `URLError.cancelled` when the task is cancelled.
        public mutating func next() async throws -> Data? { try await reader.next() }
    }

    /// Goes on after what was read.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    /// The end of the last reference to it, by a sequence or an iterator, ends the reading.
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

        /// Not one whose body goes elsewhere by now.
        private func cancelOperation() {
            if operation.isRead(by: channel), !operation.isFinished { operation.cancel() }
        }
    }
}

extension ConnectionOperation {
    /// Has the body of a successful response read piece by piece: an `AsyncSequence` of `Data`.
    ///
    /// ```swift
    /// let pieces = operation.bodyPieces()
    /// queue.addOperation(operation)
    /// for try await piece in pieces { hash.update(data: piece) }
    /// ```
    ///
    /// Replaces ``outputStream`` and ``outputFile``, which are reset. Call this before the operation is in a
    /// queue; its loop needs it there, or started. The body is not kept: `responseData` is `nil`. A reader
    /// that does not keep up holds the transfer: at most about a mebibyte waits for it. There is one
    /// sequence: a second call traps. A ``DownloadOperation`` has a file instead, and no pieces.
    ///
    /// The sequence ends when the operation has finished, and throws its error, a status that the serializer
    /// refuses included. ``pause()`` and retries go on after the bytes that were read, if the server still
    /// has the same; if not, the error is ``ResumeError/representationChanged``, since what was read cannot
    /// be taken back.
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

/// Counts the bytes that are on their way to a receiver that gets a copy of every piece, and says when there
/// are too many.
final class PieceQueue: Sendable {
    /// Bytes that may be on their way before the transfer is held.
    private static let capacity = 512 * 1024

    private struct State {
        var bytes = 0
        var onChange: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var isFull: Bool { state.withLock { $0.bytes >= Self.capacity } }

    /// Called, on any thread, when a full one has room again.
    var onChange: (@Sendable () -> Void)? {
        get { state.withLock { $0.onChange } }
        set { state.withLock { $0.onChange = newValue } }
    }

    /// A piece goes on its way.
    /// - Returns: what to call when it has arrived.
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
