internal import OperationNetworkingSystem

extension OperationManager: TransferConfigurable {
    /// Reads the settings of the transfers of operations.
    public func readTransferSettings<Value>(_ body: (TransferSettings) -> Value) -> Value {
        state.withLock { body($0.settings) }
    }

    /// Changes the settings of the transfers of operations that are made from now on.
    public func changeTransferSettings(
        named setting: StaticString,
        _ body: (inout TransferSettings) -> Void
    ) {
        state.change { body(&$0.settings) }
    }
}

extension OperationManager {
    /// The number of connections to one scheme, host and port that may carry transfers of the manager's
    /// operations at once, at least 1; unless set, what ``ConnectionOperation/maximumConnectionsPerHost``
    /// says, which has the details. Each manager counts its own. Of this limit and the
    /// `maxConcurrentOperationCount` of ``operationQueue`` the smaller one decides. A new value counts at
    /// once, for all its operations.
    public var maximumConnectionsPerHost: Int {
        get { state.withLock { $0.settings.connectionLimit }.value }
        set { state.withLock { $0.settings.connectionLimit }.own = newValue }
    }
}
