internal import OperationNetworkingSystem

/// The files of a download while they are being written out, checked, renamed and closed, on another thread,
/// from its last byte on.
///
/// Their descriptors come back without the doing of any transfer: where there are too few, a start waits for
/// them. Those of a paused download may stay open for days, and are not counted.
final class ClosingFiles: Sendable {
    private static let number = Locked(0)

    /// The number of downloads that are closing theirs.
    static var count: Int { number.withLock { $0 } }

    init() {
        Self.number.withLock { $0 += 1 }
    }

    deinit {
        Self.number.withLock { $0 -= 1 }
    }
}
