public import Logging
internal import OperationNetworkingSystem

extension OperationManager {
    /// Gets a line at the level debug for each event in the life of each operation that the manager makes, as
    /// ``LoggingObserver`` writes it; `nil`, as it is unless set: nothing is written. Operations made while
    /// its level is above debug cost nothing.
    public var logger: Logger? {
        get { state.withLock { $0.loggingObserver?.logger } }
        set {
            let observer = newValue.map { LoggingObserver($0) }
            state.change { $0.loggingObserver = observer }
        }
    }

    /// Sees to it that what happens to the operation is written.
    func log(_ operation: ConnectionOperation) {
        guard let observer = state.withLock({ $0.loggingObserver }), observer.logger.logLevel <= .debug else {
            return
        }
        operation.addObserver(observer)
    }
}
