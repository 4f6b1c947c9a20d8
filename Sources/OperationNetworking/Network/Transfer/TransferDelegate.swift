internal import OperationNetworkingSystem

/// The owner of transfers that run: ``Transfers``. Called from within libcurl, on the network thread.
protocol TransferDelegate: AnyObject {
    /// There is a connection. False: the transfer may not have it, and `mayGoBack` to its place in the line.
    func transfer(_ id: TransferID, didConnectTo connection: ConnectionID, mayGoBack: Bool) -> Bool

    /// No byte can move because of the client: its sink is full, or the request's body has nothing yet.
    func transferDidStall(_ id: TransferID)

    /// Bytes can move again.
    func transferDidGoOn(_ id: TransferID)

    /// A limit holds the transfer until then.
    func transfer(_ id: TransferID, mustWaitUntil moment: MonotonicTime)
}

/// The circumstances in which a transfer starts.
struct TransferContext {
    let clock: PassClock
    /// The time of the start.
    let since: MonotonicTime
    /// The cost of earlier tries.
    let spent: TransferMetrics
    /// The demand that is known of the proxy.
    let demand: ProxyDemand
    /// Called on any thread when the request's body has more, after it had nothing.
    let bodyIsReady: @Sendable () -> Void
}
