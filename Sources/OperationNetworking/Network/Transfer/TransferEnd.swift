internal import OperationNetworkingSystem

/// The end of a transfer.
///
/// A class, because it is passed on several times, and a copy of the metrics is a dozen words.
final class TransferEnd: Sendable {
    /// The transfer that ended.
    let id: TransferID
    /// `nil` if every byte arrived, as far as HTTP can tell.
    let error: TransferError?
    let metrics: TransferMetrics
    /// The number of bytes of the request's body that are known to have left this machine: all of them
    /// (`Int64.max`) for a 2xx response and a body that was read completely; the kernel's number if the
    /// transfer was ended here; otherwise 0, since libcurl has released the socket.
    let sentCount: Int64

    init(id: TransferID, error: TransferError?, metrics: TransferMetrics, sentCount: Int64 = 0) {
        self.id = id
        self.error = error
        self.metrics = metrics
        self.sentCount = sentCount
    }

    /// Whether the transfer only found no connection, or one that must not be used.
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

/// Identifies a transfer within the process.
struct TransferID: Hashable, Sendable {
    private let number: UInt64

    /// Creates the identifier from the tag of a handle.
    init(tag: UInt64) {
        number = tag
    }

    /// The tag for a handle.
    var tag: UInt64 { number }

    private static let last = Locked<UInt64>(0)

    /// Returns an unused identifier. Callable from any thread.
    static func next() -> TransferID {
        TransferID(
            tag: last.withLock { last in
                last += 1
                return last
            }
        )
    }
}
