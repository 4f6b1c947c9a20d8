internal import OperationNetworkingSystem

/// Whether somebody has begun to read a stream that can be read once. Whoever may read it shares one of
/// these: it is for the first who does.
final class StreamUse: Sendable {
    private let state = Locked(false)

    var hasBegun: Bool { state.withLock { $0 } }

    /// - Returns: whether nobody had begun.
    func begin() -> Bool {
        state.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
    }
}
