internal import OperationNetworkingSystem

extension OperationManager {
    /// Tells whether there is a network; ``NetworkReachabilityManager/shared`` unless another one is set,
    /// such as that of the server's domain. As in AFNetworking it is there for your use: it is monitored when
    /// you start it, and no request waits for it, unless ``RetryPolicy`` has it wait for a network.
    public var reachabilityManager: NetworkReachabilityManager {
        get { state.withLock { $0.network as? NetworkReachabilityManager } ?? .shared }
        set { state.change { $0.network = newValue } }
    }
}
