internal import OperationNetworkingSystem

extension OperationManager {
    /// The reachability of the network. Defaults to ``NetworkReachabilityManager/shared``; set another one to
    /// monitor the server's domain, for example. As in AFNetworking it is for your own use: start the
    /// monitoring yourself. No request waits for it, unless it is the `network` of a ``RetryPolicy``.
    public var reachabilityManager: NetworkReachabilityManager {
        get { state.withLock { $0.network as? NetworkReachabilityManager } ?? .shared }
        set { state.change { $0.network = newValue } }
    }
}
