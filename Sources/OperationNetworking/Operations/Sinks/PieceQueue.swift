internal import OperationNetworkingSystem

/// Counts the bytes that are on their way to a receiver that gets a copy of every piece, and says when there
/// are too many.
final class PieceQueue: Sendable {
    /// Bytes that may be on their way before the transfer is held.
    private static let capacity = 512 * 1024

    private struct State {
        var bytes = 0
        var onChange: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var isFull: Bool { state.withLock { $0.bytes >= Self.capacity } }

    /// Called, on any thread, when a full one has room again.
    var onChange: (@Sendable () -> Void)? {
        get { state.withLock { $0.onChange } }
        set { state.withLock { $0.onChange = newValue } }
    }

    /// A piece goes on its way.
    /// - Returns: what to call when it has arrived.
    func append(_ count: Int) -> @Sendable () -> Void {
        state.withLock { $0.bytes += count }
        return { [self] in
            let onChange = state.withLock { state in
                let wasFull = state.bytes >= Self.capacity
                state.bytes -= count
                return wasFull && state.bytes < Self.capacity ? state.onChange : nil
            }
            onChange?()
        }
    }
}
