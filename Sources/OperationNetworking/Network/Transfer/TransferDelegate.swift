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
    /// The demand that is known of the proxy.
    let demand: ProxyDemand
    /// Called on any thread when the request's body has more, after it had nothing.
    let bodyIsReady: @Sendable () -> Void
}

/// A transfer that is about to start, and what it started with: one reference, where each copy of the request
/// would be a dozen.
final class TransferStart {
    let request: TransferRequest
    let client: any TransferClient
    /// The cost of earlier tries of the same transfer.
    let spent: TransferMetrics
    /// The place in the line that the transfer keeps if it has to be tried again.
    let rank: WaitingRank

    init(
        _ request: consuming TransferRequest,
        for client: any TransferClient,
        spent: TransferMetrics = TransferMetrics(),
        rank: WaitingRank
    ) {
        self.request = request
        self.client = client
        self.spent = spent
        self.rank = rank
    }

    /// Returns a start with the cookies that the jar has by now, or this one if it has no new ones: the wait
    /// for a connection may have been an hour. Waits for nothing.
    ///
    /// Not below a cache, which keeps the response as the answer to the cookies that were sent.
    func withNewCookies() -> TransferStart {
        guard request.cookies != nil, let jar = request.settings.cookieJar,
            request.settings.layers[.cache] == nil, jar.version != request.cookieVersion,
            let host = request.cookieHost,
            let new = jar.newCookies(concerning: host, since: request.cookieVersion)
        else { return self }
        var next = request
        next.cookies = new.cookies
        next.cookieVersion = new.version
        return TransferStart(next, for: client, spent: spent, rank: rank)
    }
}
