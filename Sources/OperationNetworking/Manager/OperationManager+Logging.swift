public import Logging
internal import OperationNetworkingSystem

extension OperationManager {
    /// The logger of the manager's operations; `nil` unless set. Each event in the life of an operation is a
    /// line at the level debug, as ``LoggingObserver`` writes it. While the logger's level is above debug,
    /// new operations are not observed, which costs nothing. A copy of an operation has the logger that the
    /// manager has when the copy is made.
    public var logger: Logger? {
        get { state.withLock { $0.observers.logging?.logger } }
        set {
            let observer = newValue.map { LoggingObserver($0) }
            state.change { $0.observers.logging = observer }
        }
    }
}
