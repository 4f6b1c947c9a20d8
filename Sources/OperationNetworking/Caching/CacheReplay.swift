import Foundation
internal import OperationNetworkingSystem

/// Hands stored bytes over to the client of a transfer, piece by piece, as it takes them.
///
/// Used on the network thread.
final class CacheReplay: @unchecked Sendable {
    // @unchecked: everything happens on the network thread, to which it is carried in closures.

    /// Bytes that are read at once.
    private static let pieceLength = 256 << 10
    /// Bytes handed over before others have their turn on the thread.
    private static let bytesPerTurn = 1 << 20

    /// Whether the client said that it will say; see ``HeadAnswer/later``.
    var awaitsAnswer = false
    var isPutAside = false
    private let reader: any CacheReading
    private let client: any TransferClient
    private let end: Int64
    private let didEnd: (TransferError?) -> Void
    private var offset: Int64
    private var isScheduled = false
    private var isOver = false

    /// - Parameters:
    ///   - reader: the stored body.
    ///   - bytes: offsets in it.
    ///   - client: takes them.
    ///   - didEnd: called once, unless it is stopped.
    init(
        _ reader: any CacheReading,
        _ bytes: Range<Int64>,
        for client: any TransferClient,
        didEnd: @escaping (TransferError?) -> Void
    ) {
        self.reader = reader
        self.client = client
        self.didEnd = didEnd
        offset = bytes.lowerBound
        end = bytes.upperBound
    }

    /// Hands over what the client takes, and ends if that was all. Not from within a call of the client.
    func begin() {
        guard !isScheduled, !isOver else { return }
        move()
    }

    /// The client takes more: it hears of that later.
    func goOn() {
        guard !isScheduled, !isOver else { return }
        schedule()
    }

    func stop() {
        isOver = true
    }

    private func move() {
        var turn = Self.bytesPerTurn
        while offset < end {
            guard !isOver, !awaitsAnswer, !isPutAside, !client.transferMustWait else { return }
            guard turn > 0 else { return schedule() }
            let count = Int(min(Int64(Self.pieceLength), end - offset))
            isScheduled = true
            let known = reader.read(at: offset, atMost: count) { piece in
                NetworkThread.shared.perform { _ in
                    self.isScheduled = false
                    self.take(piece)
                    self.begin()
                }
            }
            guard let known else { return }
            isScheduled = false
            take(.success(known))
            turn -= known.count
        }
        guard !isOver, !awaitsAnswer, !isPutAside else { return }
        finish(nil)
    }

    private func take(_ piece: Result<Data, any Error>) {
        guard !isOver else { return }
        switch piece {
        case .success(let bytes) where !bytes.isEmpty && Int64(bytes.count) <= end - offset:
            offset += Int64(bytes.count)
            do {
                try client.transferDidReceive(bytes.span)
            } catch {
                finish(.client(error))
            }
        case .success, .failure:
            // The rest is not there any more: as if a connection had broken.
            finish(.wrongLength(declared: end, received: offset))
        }
    }

    private func schedule() {
        isScheduled = true
        NetworkThread.shared.perform { _ in
            self.isScheduled = false
            self.begin()
        }
    }

    private func finish(_ error: TransferError?) {
        guard !isOver else { return }
        isOver = true
        didEnd(error)
    }
}
