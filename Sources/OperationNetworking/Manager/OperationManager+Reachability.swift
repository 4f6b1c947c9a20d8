internal import OperationNetworkingSystem

extension OperationManager {
    /// Tells whether there is a network; ``NetworkReachabilityManager/shared`` unless another one is set,
    /// such as a manager of the server's domain. As in AFNetworking it is for your use: start the monitoring
    /// yourself. No request waits for it, unless it is the `network` of a ``RetryPolicy``.
    public var reachabilityManager: NetworkReachabilityManager {
        get { state.withLock { $0.network as? NetworkReachabilityManager } ?? .shared }
        set { state.change { $0.network = newValue } }
    }
}
