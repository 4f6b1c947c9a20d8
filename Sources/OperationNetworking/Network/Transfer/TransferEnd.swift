internal import OperationNetworkingSystem

/// The end of a transfer.
///
/// By reference: it is handed from one to the next, and a copy of the metrics is a dozen words.
final class TransferEnd: Sendable {
    /// The transfer that ended.
    let id: TransferID
    /// `nil`: completely, every byte of it, as far as HTTP can tell.
    let error: TransferError?
    let metrics: TransferMetrics
    /// The bytes of the request's body that have left this machine, as far as the end says: all of them
    /// (`Int64.max`), with a 2xx response and a body that was taken whole; as many as the kernel said, if the
    /// transfer was given up here; else 0, since libcurl has let go of the socket, and no one can be asked.
    let sentCount: Int64

    init(id: TransferID, error: TransferError?, metrics: TransferMetrics, sentCount: Int64 = 0) {
        self.id = id
        self.error = error
        self.metrics = metrics
        self.sentCount = sentCount
    }

    /// Whether it only found no connection left, or one that is not to be used.
    var isSentBack: Bool {
        switch error {
        case .noConnectionLeft, .connectionNotQuiet, .connectionTimedOut: true
        default: false
        }
    }
}

extension TransferEnd: CustomStringConvertible {
    var description: String {
        "transfer \(id), \(error.map { String(describing: $0) } ?? "complete"), \(metrics)"
    }
}

/// Names one transfer for as long as the process lives.
struct TransferID: Hashable, Sendable {
    private let number: UInt64

    /// The one that a handle carries.
    init(tag: UInt64) {
        number = tag
    }

    /// For a handle to carry.
    var tag: UInt64 { number }

    private static let last = Locked<UInt64>(0)

    /// One that was not used before. Callable from any thread.
    static func next() -> TransferID {
        TransferID(
            tag: last.withLock { last in
                last += 1
                return last
            }
        )
    }
}
