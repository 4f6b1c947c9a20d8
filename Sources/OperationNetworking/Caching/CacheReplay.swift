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
    var isPaused = false
    private let reader: StoredBodyReader
    private let client: any TransferClient
    private let end: Int64
    private let timeouts: StoreTimeouts
    private let timeout: Double
    private let start: Int64
    private let didEnd: (TransferError?, _ handed: Int64) -> Void
    /// The number of reads that were asked for, and that were answered.
    private var reads = (asked: 0, answered: 0)
    private var offset: Int64
    private var isScheduled = false
    private var isLimited = false
    private var isOver = false

    /// - Parameters:
    ///   - reader: the stored body.
    ///   - bytes: offsets in it.
    ///   - client: takes them.
    ///   - timeouts: the cache's.
    ///   - timeout: the seconds for which a piece is waited for.
    ///   - didEnd: called once, unless it is stopped, with the number of bytes that the client got:
    ///     `.wrongLength` says that the rest cannot be read, `.idle` that it does not come.
    init(
        _ reader: StoredBodyReader,
        _ bytes: Range<Int64>,
        for client: any TransferClient,
        _ timeouts: StoreTimeouts,
        timeout: Double,
        didEnd: @escaping (TransferError?, _ handed: Int64) -> Void
    ) {
        self.timeouts = timeouts
        self.timeout = timeout
        self.reader = reader
        self.client = client
        self.didEnd = didEnd
        start = bytes.lowerBound
        offset = start
        end = bytes.upperBound
    }

    /// Hands over what the client takes, and ends if that was all. Not from within a call of the client.
    func begin() {
        guard !isScheduled, !isOver else { return }
        move()
    }

    /// Goes on later: the client takes more.
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
            guard !isOver, !awaitsAnswer, !isPaused else { return }
            guard !client.transferMustWait else { return }
            guard turn > 0 else { return schedule() }
            let count = Int(min(Int64(Self.pieceLength), end - offset))
            isScheduled = true
            reads.asked += 1
            let known = reader.read(at: offset, atMost: count) { piece in
                NetworkThread.shared.perform { _ in
                    self.isScheduled = false
                    self.reads.answered += 1
                    self.take(piece)
                    self.begin()
                }
            }
            guard let known else { return limitRead() }
            isScheduled = false
            reads.answered += 1
            take(.success(known))
            turn -= known.count
        }
        guard !isOver, !awaitsAnswer, !isPaused else { return }
        finish(nil)
    }

    /// One look at a time, however many pieces there are. A read that was asked for since has its time, too.
    private func limitRead() {
        guard !isLimited else { return }
        isLimited = true
        let number = reads.asked
        timeouts.wait(timeout) { [weak self] in
            guard let self else { return }
            isLimited = false
            guard reads.answered < reads.asked else { return }
            guard reads.asked == number else { return limitRead() }
            finish(.idle(seconds: timeout))
        }
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
            // The rest is not there any more.
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
        didEnd(error, offset - start)
    }
}

extension CacheUse {
    /// The name that the caller is given.
    var source: ResponseSource {
        switch self {
        case .fresh: .cache
        case .validated: .validated
        case .stale: .stale
        }
    }
}

extension ResponseHead {
    /// `1.1` of `HTTP/1.1`.
    var versionNumber: String? {
        version.hasPrefix("HTTP/") ? String(version.dropFirst(5)) : nil
    }
}
