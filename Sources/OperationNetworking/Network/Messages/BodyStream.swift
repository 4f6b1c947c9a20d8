import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// Feeds a request's body from an `InputStream`, which may block: it is read on a queue of its own, two
/// pieces ahead of the transfer.
///
/// The stream in a `URLRequest` stands for a ``BodySource`` and is never read itself: copies of the request
/// share the object, so a second reader would find it at its end. The source makes a stream for each reading.
/// One that can be read only once belongs to the first request that reads it; a later one fails before
/// anything is sent.
///
/// When the transfer is over, for whatever reason, the stream is stopped and closed. A response of 300 or
/// more needs no more of the body ([RFC 9112 §9.5](https://www.rfc-editor.org/rfc/rfc9112#section-9.5)): the
/// rest is not sent, and the transfer ends with the response.
final class BodyStream: @unchecked Sendable {
    // @unchecked: `stream` and `claimed` are used on `queue` only, `stream` elsewhere only compared; what
    // both sides touch is in `state`.
    /// The number of bytes that libcurl requests at once, less the 12 of a chunk's frame. Any more of a piece
    /// would be a separate chunk.
    private static let smallestPiece = 64 * 1024 - 12
    private static let largestPiece = 8 * smallestPiece

    typealias Provider = @Sendable () -> InputStream?

    private struct State {
        var pieces: [Data] = []
        var bytesWaiting = 0
        /// Grows whenever the transfer had to wait: passing a piece costs more than the bytes in it.
        var pieceSize = BodyStream.smallestPiece
        var hasMoved = false
        var isReading = false
        var hasStarted = false
        /// Whether this object opens and closes the stream.
        var isReader = false
        var isStopped = false
        var isAtEnd = false
        var error: (any Error)?
        var whenReady: (@Sendable () -> Void)?

        /// Whether fewer than two pieces are buffered.
        var hasRoom: Bool { bytesWaiting < 2 * pieceSize }
    }

    /// The announced length in bytes; `nil` if unknown.
    let length: Int64?
    private let stream: InputStream
    /// The claim on the stream, from the first byte to the end.
    private var claimed: ClaimedStream?
    /// The stream that represents this one in a request.
    private let carrier: InputStream
    private let use: StreamUse
    private let provider: Provider?
    private let queue = DispatchQueue(label: "OperationNetworking.BodyStream")
    private let state = Locked(State())

    /// Creates a body. A provider makes other streams of the same bytes; without one there is only this
    /// stream.
    init(
        _ stream: InputStream,
        carrier: InputStream? = nil,
        length: Int64?,
        use: StreamUse = StreamUse(),
        provider: Provider? = nil
    ) {
        self.stream = stream
        self.carrier = carrier ?? stream
        self.length = length
        self.use = use
        self.provider = provider
    }

    /// Creates the body of a request's stream, with the length of its `Content-Length`; `nil` if the request
    /// has no stream.
    convenience init?(of request: URLRequest, use: StreamUse = StreamUse(), provider: Provider? = nil) {
        guard let stream = request.httpBodyStream else { return nil }
        if let source = request.bodySource {
            self.init(source, carrier: stream, provider: provider)
        } else if let length = request.value(forHTTPHeaderField: "Content-Length").flatMap(
            Int64.init(digits:)
        ) {
            let exact = Self.exact(length)
            self.init(
                exact(stream),
                carrier: stream,
                length: length,
                use: use,
                provider: Self.chain(provider, exact)
            )
        } else {
            self.init(stream, length: nil, use: use, provider: provider)
        }
    }

    /// Returns a stream limited to that length by a source.
    private static func exact(_ length: Int64) -> @Sendable (InputStream) -> InputStream {
        { BodySource.stream($0, length: length).makeInputStream() }
    }

    private static func chain(
        _ provider: Provider?,
        _ change: @escaping @Sendable (InputStream) -> InputStream
    ) -> Provider? {
        guard let provider else { return nil }
        return { provider().map(change) }
    }

    /// Creates the body of a source, which knows its length and makes the streams, since other copies of the
    /// request have the same `carrier`. A source that can be read only once gets further streams from the
    /// caller's provider.
    private convenience init(_ source: BodySource, carrier: InputStream, provider: Provider?) {
        let makeStream: Provider = { source.makeInputStream() }
        let next = source.length.map { Self.chain(provider, Self.exact($0)) } ?? provider
        self.init(
            source.makeInputStream(),
            carrier: carrier,
            length: source.length,
            use: source.isRepeatable ? StreamUse() : source.use,
            provider: source.isRepeatable ? makeStream : next
        )
    }

    /// Whether this body reads `stream`, or the stream that it represents.
    func reads(_ stream: InputStream) -> Bool { carrier === stream }

    /// Whether a provider makes further streams of the same bytes.
    var isRepeatable: Bool { provider != nil }

    /// Whether ``fromStart()`` will succeed, as far as is known before a provider is called.
    var canStartAgain: Bool { provider != nil || !use.hasBegun }

    /// Returns a body that starts at the first byte: this one if nothing has been read from it, or a new one
    /// if there is a provider.
    func fromStart() -> BodyStream? {
        if !use.hasBegun { return self }
        guard let provider, let stream = provider() else { return nil }
        return BodyStream(stream, length: length, provider: provider)
    }

    /// The error of a failed stream, or ``TransferError/bodyNotRepeatable`` if another reader began to read
    /// it after ``fromStart()`` was called.
    var error: (any Error)? { state.withLock { $0.error } }

    /// Returns the next piece: see ``RequestBodyReader/next(atMost:whenReady:)``. Called on the network
    /// thread.
    func next(atMost count: Int, whenReady: @escaping @Sendable () -> Void) -> SendAnswer {
        state.withLock { state in
            if !state.hasStarted {
                state.hasStarted = true
                state.isReader = use.begin()
                if !state.isReader { state.error = TransferError.bodyNotRepeatable }
            }
            if var piece = state.pieces.first {
                if piece.count > count {
                    state.pieces[0] = piece.dropFirst(count)
                    piece = piece.prefix(count)
                } else {
                    state.pieces.removeFirst()
                }
                state.bytesWaiting -= piece.count
                state.hasMoved = true
                readOn(&state)
                return .bytes(piece)
            }
            if state.error != nil { return .failed }
            if state.isAtEnd { return .end }
            state.whenReady = whenReady
            if state.hasMoved { state.pieceSize = min(2 * state.pieceSize, Self.largestPiece) }
            readOn(&state)
            return .notYet
        }
    }

    /// Stops reading. An open stream is closed at once, or when a blocked read returns; otherwise other
    /// references to the stream would keep it open.
    func stop() {
        let closes = state.withLock { state in
            // A stream that has not been read is not open, and may be used by the next transfer.
            guard state.hasStarted else { return false }
            defer {
                state.isStopped = true
                state.pieces = []
                state.bytesWaiting = 0
                state.whenReady = nil
            }
            return state.isReader && !state.isStopped && !state.isAtEnd
        }
        if closes { queue.async { self.close() } }
    }

    private func readOn(_ state: inout State) {
        guard !state.isReading, !state.isAtEnd, !state.isStopped, state.hasRoom else { return }
        state.isReading = true
        queue.async { self.readPieces() }
    }

    private func readPieces() {
        while readPiece() {}
    }

    /// - Returns: whether to continue reading.
    private func readPiece() -> Bool {
        // After a stop, the stream is the owner's again.
        guard let size = state.withLock({ $0.isStopped ? nil : $0.pieceSize }) else { return false }
        let result = Result { try nextPiece(atMost: size) }
        let (whenReady, readsOn, closes) = state.withLock { state -> ((@Sendable () -> Void)?, Bool, Bool) in
            guard !state.isStopped else { return (nil, false, false) }
            switch result {
            case .success(let piece):
                state.isAtEnd = piece.isEmpty
                guard !piece.isEmpty else { break }
                state.pieces.append(piece)
                state.bytesWaiting += piece.count
            case .failure(let error):
                state.isAtEnd = true
                state.error = error
            }
            state.isReading = !state.isAtEnd && state.hasRoom
            defer { state.whenReady = nil }
            return (state.whenReady, state.isReading, state.isAtEnd)
        }
        if closes { close() }
        whenReady?()
        return readsOn
    }

    /// Reads the next piece, which is empty at the end.
    private func nextPiece(atMost count: Int) throws -> Data {
        if claimed == nil {
            let claimed = try ClaimedStream(stream)
            self.claimed = claimed
            try claimed.open()
        }
        guard let piece = stream.nextPiece(atMost: count) else { throw stream.failure(or: .fileReadUnknown) }
        return piece
    }

    /// Closes the stream, unless another operation has claimed it.
    private func close() {
        claimed?.close()
        claimed = nil
    }
}
