public import Logging
internal import OperationNetworkingSystem

extension OperationManager {
    /// The logger of the manager's operations. Defaults to `nil`. Each life-cycle event of an operation is a
    /// line at level debug: see ``LoggingObserver``. While the logger's level is above debug, new operations
    /// are not observed, so the logger costs nothing. A copy of an operation uses the manager's logger at the
    /// time of the copy.
    public var logger: Logger? {
        get { state.withLock { $0.observers.logging?.logger } }
        set {
            let observer = newValue.map { LoggingObserver($0) }
            state.change { $0.observers.logging = observer }
        }
    }
}
