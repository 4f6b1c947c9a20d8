internal import OperationNetworkingSystem

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
