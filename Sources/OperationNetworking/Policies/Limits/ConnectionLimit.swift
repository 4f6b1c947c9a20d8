internal import OperationNetworkingSystem

/// A limit on the connections to one server that carry transfers at the same time, for all transfers that
/// share it. Two limits are independent even if their values are equal. Callable from any thread.
final class ConnectionLimit: Sendable {
    /// The default of browsers and Foundation.
    static let standard = 6

    /// The limit of operations without a manager.
    static let process = ConnectionLimit(standard)
    /// No limit.
    static let none = ConnectionLimit(.max)

    private struct State {
        var own: Int?
        /// Called after each change.
        var didChange: (@Sendable () -> Void)?
    }

    private let state: Locked<State>

    /// - Parameter value: at least 1; `nil` follows ``process``.
    init(_ value: Int? = nil) {
        state = Locked(State(own: value.map { max(1, $0) }))
    }

    /// Returns an independent limit with the same value.
    func copy() -> ConnectionLimit { ConnectionLimit(own) }

    /// At least 1; `nil` follows ``process``.
    var own: Int? {
        get { state.withLock { $0.own } }
        set {
            state.withLock { $0.own = newValue.map { max(1, $0) } }
            Self.process.state.withLock { $0.didChange }?()
        }
    }

    /// The value in effect.
    var value: Int { own ?? Self.process.own ?? Self.standard }

    /// Registers `body`, which is called after any limit has changed, on the thread that changed it.
    static func observe(_ body: @escaping @Sendable () -> Void) {
        process.state.withLock { $0.didChange = body }
    }
}

// MARK: - Hashable

extension ConnectionLimit: Hashable {
    static func == (one: ConnectionLimit, other: ConnectionLimit) -> Bool { one === other }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
