import Foundation
internal import OperationNetworkingSystem

/// Passes stored bytes to the client of a transfer, piece by piece, at the client's pace.
///
/// Used on the network thread.
final class CacheReplay: @unchecked Sendable {
    // @unchecked: used on the network thread only; closures carry it there.

    /// The number of bytes per read.
    private static let pieceLength = 256 << 10
    /// The number of bytes after which other work on the thread gets its turn.
    private static let bytesPerTurn = 1 << 20

    /// Whether the client has yet to accept or refuse the body; see ``HeadAnswer/later``.
    var awaitsAnswer = false
    var isPaused = false
    private let reader: StoredBodyReader
    private let client: any TransferClient
    private let end: Int64
    private let timeouts: StoreTimeouts
    private let timeout: Double
    private let start: Int64
    private let didEnd: (TransferError?, _ handed: Int64) -> Void
    private var offset: Int64
    /// The limit of the read in progress.
    private var readLimit: StoreTimeouts.Wait?
    private var isScheduled = false
    private var isOver = false

    /// - Parameters:
    ///   - reader: reads the stored body.
    ///   - bytes: the range of the body to replay.
    ///   - client: receives the bytes.
    ///   - timeouts: the timeouts of the cache.
    ///   - timeout: the longest time to wait for a piece, in seconds.
    ///   - didEnd: called once with the number of bytes that the client received, unless the replay is
    ///     stopped. The error is `.wrongLength` if the rest cannot be read, and `.idle` if a read timed out.
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

    /// Passes on what the client accepts, and ends after the last byte. Must not be called from within the
    /// client.
    func begin() {
        guard !isScheduled, !isOver else { return }
        move()
    }

    /// Schedules the next piece, once the client accepts more.
    func proceed() {
        guard !isScheduled, !isOver else { return }
        schedule()
    }

    func stop() {
        isOver = true
        timeouts.stop(readLimit)
    }

    private func move() {
        var turn = Self.bytesPerTurn
        while offset < end {
            guard !isOver, !awaitsAnswer, !isPaused else { return }
            guard !client.transferMustWait else { return }
            guard turn > 0 else { return schedule() }
            let count = Int(min(Int64(Self.pieceLength), end - offset))
            isScheduled = true
            let known = reader.read(at: offset, atMost: count) { piece in
                NetworkThread.shared.perform { _ in
                    self.timeouts.stop(self.readLimit)
                    self.isScheduled = false
                    self.take(piece)
                    self.begin()
                }
            }
            guard let known else {
                readLimit = timeouts.wait(timeout) { [self] in finish(.idle(seconds: timeout)) }
                return
            }
            isScheduled = false
            take(.success(known))
            turn -= known.count
        }
        guard !isOver, !awaitsAnswer, !isPaused else { return }
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
            // The rest can no longer be read.
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
        stop()
        didEnd(error, offset - start)
    }
}

extension ResponseHead {
    /// The number in a version: `1.1` for `HTTP/1.1`.
    var versionNumber: String? {
        version.hasPrefix("HTTP/") ? String(version.dropFirst(5)) : nil
    }
}
