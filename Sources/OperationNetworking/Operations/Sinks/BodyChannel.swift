import Foundation
internal import OperationNetworkingSystem

/// The buffer between a sink and the reader of a ``BodyPieces``: a destination that has room while the reader
/// keeps up.
final class BodyChannel: Sendable {
    /// The number of buffered bytes at which the writer has to wait.
    private static let capacity = 256 * 1024
    /// The size up to which buffered pieces are combined.
    private static let smallPiece = 16 * 1024

    private struct State {
        var pieces: [Data] = []
        var bytes = 0
        var end: Result<Void, any Error>?
        /// Whether the reader has been released.
        var isAbandoned = false
        var whenRoom: (@Sendable () -> Void)?
        /// Several tasks may read.
        var whenNews: [@Sendable () -> Void] = []

        mutating func takeNews() -> [@Sendable () -> Void] {
            defer { whenNews = [] }
            return whenNews
        }

        mutating func append(_ bytes: Span<UInt8>) {
            self.bytes += bytes.count
            // So that single bytes are not kept one by one.
            if let last = pieces.indices.last, pieces[last].count + bytes.count <= BodyChannel.smallPiece {
                pieces[last].append(Data(bytes))
            } else {
                pieces.append(Data(bytes))
            }
        }
    }

    private let state = Locked(State())

    // MARK: - The writer

    /// - Returns: the number of bytes taken; 0 if there is no room now.
    /// - Throws: `URLError.cancelled` if the reader has been released.
    func write(_ bytes: Span<UInt8>) throws -> Int {
        let (count, news) = try state.withLock { state -> (Int, [@Sendable () -> Void]) in
            if state.isAbandoned { throw URLError(.cancelled) }
            guard state.bytes < Self.capacity else { return (0, []) }
            let count = min(bytes.count, Self.capacity - state.bytes)
            state.append(bytes.extracting(first: count))
            return (count, state.takeNews())
        }
        for notify in news { notify() }
        return count
    }

    /// Calls `body` once when there is room, at once if there is.
    func whenRoom(_ body: @escaping @Sendable () -> Void) {
        let hasRoom = state.withLock { state in
            guard state.bytes >= Self.capacity, !state.isAbandoned else { return true }
            state.whenRoom = body
            return false
        }
        if hasRoom { body() }
    }

    /// Ends the sequence of pieces. Only the first call counts.
    func end(_ end: Result<Void, any Error>) {
        let news = state.withLock { state in
            state.end = state.end ?? end
            return state.takeNews()
        }
        for notify in news { notify() }
    }

    // MARK: - The reader

    /// The next element for the reader.
    enum Next {
        case piece(Data)
        case end(Result<Void, any Error>)
        /// Nothing is available yet.
        case none
    }

    func next() -> Next {
        let (next, room) = state.withLock { state -> (Next, (@Sendable () -> Void)?) in
            guard !state.pieces.isEmpty else { return (state.end.map { .end($0) } ?? .none, nil) }
            let piece = state.pieces.removeFirst()
            state.bytes -= piece.count
            // When half the buffer is free, rather than for each piece.
            guard state.bytes <= Self.capacity / 2 else { return (.piece(piece), nil) }
            defer { state.whenRoom = nil }
            return (.piece(piece), state.whenRoom)
        }
        room?()
        return next
    }

    /// Calls `body` once when there is something to read, at once if there is.
    func whenNews(_ body: @escaping @Sendable () -> Void) {
        let hasNews = state.withLock { state in
            guard state.pieces.isEmpty, state.end == nil else { return true }
            state.whenNews.append(body)
            return false
        }
        if hasNews { body() }
    }

    /// Discards everything, because the reader has been released.
    func abandon() {
        let room = state.withLock { state in
            state.isAbandoned = true
            (state.pieces, state.bytes) = ([], 0)
            defer { state.whenRoom = nil }
            return state.whenRoom
        }
        room?()
    }
}

/// A channel as the destination of a sink.
final class ChannelDestination: SinkDestination {
    private let channel: BodyChannel

    init(_ channel: BodyChannel) {
        self.channel = channel
    }

    let canBeEmptied = false
    /// The reader's code may be what blocks writing.
    let keepsRest = false

    func open() throws -> Bool { true }

    func empty() throws {
        preconditionFailure("Bytes that were read cannot be taken back")
    }

    func write(_ bytes: Span<UInt8>) throws -> Int { try channel.write(bytes) }

    func whenRoom(_ body: @escaping @Sendable () -> Void) -> Bool {
        channel.whenRoom(body)
        return true
    }

    func close() throws {}
}
