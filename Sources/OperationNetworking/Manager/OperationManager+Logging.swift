public import Logging
internal import OperationNetworkingSystem

extension OperationManager {
    /// The logger of the manager's operations: it gets a line at the level debug for each event in the life
    /// of each, as ``LoggingObserver`` writes it; `nil`, as it is unless set: nothing is written. Operations
    /// made while its level is above debug cost nothing.
    public var logger: Logger? {
        get { state.withLock { $0.loggingObserver?.logger } }
        set {
            let observer = newValue.map { LoggingObserver($0) }
            state.change { $0.loggingObserver = observer }
        }
    }

    /// Adds an observer that writes the operation's events.
    func log(_ operation: ConnectionOperation) {
        guard let observer = state.withLock({ $0.loggingObserver }), observer.logger.logLevel <= .debug else {
            return
        }
        operation.addObserver(observer)
    }
}
