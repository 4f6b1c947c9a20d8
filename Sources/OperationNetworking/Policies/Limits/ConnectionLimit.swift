internal import OperationNetworkingSystem

/// A limit of the connections to one server that may carry transfers at once, for all transfers that share
/// it. Two limits count apart, whatever their values are. Everything may be called from any thread.
final class ConnectionLimit: Sendable {
    /// The limit of browsers and Foundation.
    static let standard = 6

    /// The limit of operations without a manager.
    static let process = ConnectionLimit(standard)
    /// The limit of transfers without one.
    static let none = ConnectionLimit(.max)

    private struct State {
        var own: Int?
        /// Called after a change.
        var didChange: (@Sendable () -> Void)?
    }

    private let state: Locked<State>

    /// - Parameter value: at least 1; `nil`: as many as operations without a manager may have, whatever that
    ///   is.
    init(_ value: Int? = nil) {
        state = Locked(State(own: value.map { max(1, $0) }))
    }

    /// One that counts apart, with the same value.
    func copy() -> ConnectionLimit { ConnectionLimit(own) }

    /// At least 1; `nil`: none of its own.
    var own: Int? {
        get { state.withLock { $0.own } }
        set {
            state.withLock { $0.own = newValue.map { max(1, $0) } }
            Self.process.state.withLock { $0.didChange }?()
        }
    }

    /// The value now.
    var value: Int { own ?? Self.process.own ?? Self.standard }

    /// From now on `body` is called after any limit has changed, on the thread that changed it.
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
