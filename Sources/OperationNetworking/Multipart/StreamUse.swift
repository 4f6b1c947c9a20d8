internal import OperationNetworkingSystem

/// A flag that a stream, which can be read once, has a reader. Shared by all copies of its source; the first
/// reader gets the stream.
final class StreamUse: Sendable {
    private let state = Locked(false)

    var hasBegun: Bool { state.withLock { $0 } }

    /// - Returns: whether this is the first call.
    func begin() -> Bool {
        state.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
    }
}
