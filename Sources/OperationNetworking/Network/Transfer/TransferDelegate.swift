internal import OperationNetworkingSystem

/// The owner of running transfers: ``Transfers``. Called inside libcurl callbacks, on the network thread.
protocol TransferDelegate: AnyObject {
    /// The transfer has a connection. Returns `false` if it must not use it, and, if `mayGoBack`, has to
    /// return to its place in the line.
    func transfer(_ id: TransferID, didConnectTo connection: ConnectionID, mayGoBack: Bool) -> Bool

    /// No byte can move because of the client: its sink is full, or the request's body has nothing yet.
    func transferDidStall(_ id: TransferID)

    /// Bytes can move again.
    func transferDidResume(_ id: TransferID)

    /// A limit holds the transfer until `moment`.
    func transfer(_ id: TransferID, mustWaitUntil moment: MonotonicTime)
}

/// The circumstances in which a transfer starts.
struct TransferContext {
    let clock: PassClock
    /// The time of the start.
    let since: MonotonicTime
    /// The known demand of the proxy.
    let demand: ProxyDemand
    /// Called on any thread when the request's body has more, after it had nothing.
    let bodyIsReady: @Sendable () -> Void
}

/// The input of a transfer: one reference, whereas each copy of the request would be a dozen.
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

    /// Returns a start with the jar's current cookies, or this one if there are no new ones: the wait for a
    /// connection may have been an hour. Does not block.
    ///
    /// Not under a cache, which stores the response for the cookies that were in the request.
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
