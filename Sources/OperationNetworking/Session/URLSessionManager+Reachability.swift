extension URLSessionManager {
    /// The reachability of the network: see ``OperationManager/reachabilityManager``.
    public var reachabilityManager: NetworkReachabilityManager {
        get { core.operations.reachabilityManager }
        set { core.operations.reachabilityManager = newValue }
    }
}
