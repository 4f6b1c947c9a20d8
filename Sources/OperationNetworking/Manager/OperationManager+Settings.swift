internal import OperationNetworkingSystem

extension OperationManager: TransferConfigurable {
    /// Reads the transfer settings of operations.
    public func readTransferSettings<Value>(_ body: (TransferSettings) -> Value) -> Value {
        state.withLock { body($0.settings) }
    }

    /// Changes the transfer settings of operations that are made from now on.
    public func changeTransferSettings(
        named setting: StaticString,
        _ body: (inout TransferSettings) -> Void
    ) {
        state.change { body(&$0.settings) }
    }
}

extension OperationManager {
    /// The maximum number of connections to one scheme, host and port that carry transfers of the manager's
    /// operations at once; at least 1. Defaults to ``ConnectionOperation/maximumConnectionsPerHost``, which
    /// has the details. Each manager counts separately. The smaller of this limit and the
    /// `maxConcurrentOperationCount` of ``operationQueue`` applies. A new value takes effect at once, for all
    /// its operations.
    public var maximumConnectionsPerHost: Int {
        get { state.withLock { $0.settings.connectionLimit }.value }
        set { state.withLock { $0.settings.connectionLimit }.own = newValue }
    }
}
