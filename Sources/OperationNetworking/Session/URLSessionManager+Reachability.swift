extension URLSessionManager {
    /// Tells whether there is a network: see ``OperationManager/reachabilityManager``.
    public var reachabilityManager: NetworkReachabilityManager {
        get { core.operations.reachabilityManager }
        set { core.operations.reachabilityManager = newValue }
    }
}
