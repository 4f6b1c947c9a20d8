internal import OperationNetworkingSystem

/// Names one transfer for as long as the process lives.
struct TransferID: Hashable, Sendable {
    private let number: UInt64

    private static let last = Locked<UInt64>(0)

    /// One that was not used before. Callable from any thread.
    static func next() -> TransferID {
        TransferID(
            number: last.withLock { last in
                last += 1
                return last
            }
        )
    }
}
