internal import OperationNetworkingSystem

/// Runs transfers for their clients: ``Transfers`` over the network; a layer in front of it (stubs, a cache)
/// runs some itself and passes the others on.
///
/// Every method is called on the network thread, outside libcurl callbacks, and returns at once. The client
/// is called later, except that ``resumeReceiving(_:)``, ``receive(_:)`` and ``resume(_:)`` may deliver
/// waiting bytes at once. So these are the last thing that a client does.
protocol TransferRunning: AnyObject {
    /// Starts a transfer, with an unused identifier or that of a reservation.
    func start(_ request: consuming TransferRequest, id: TransferID, for client: any TransferClient)

    /// Stops a transfer, or gives up its reservation; the client is no longer called. Has no effect if the
    /// transfer has already ended.
    /// - Returns: its metrics, unless it had ended.
    @discardableResult
    func stop(_ id: TransferID) -> TransferMetrics?

    /// Continues the body for a client that has room again.
    func resumeReceiving(_ id: TransferID)

    /// Receives the body after the client answered the head with ``HeadAnswer/later``.
    func receive(_ id: TransferID)

    /// Ends a transfer whose client wants no more of its body, also after ``HeadAnswer/later``. The end is
    /// reported to the client, as always.
    func cancelReceiving(_ id: TransferID)

    /// Pauses a transfer: it keeps its connection, no byte moves, and no other transfer waits for it. Its end
    /// is still reported to the client.
    func pause(_ id: TransferID)

    /// Resumes a paused transfer.
    func resume(_ id: TransferID)

    /// Returns the number of bytes of the request's body that have left this machine. Less than was reported
    /// to the client: the rest is in libcurl's buffer, or the kernel's. 0 if the kernel cannot be queried
    /// now. Costs a system call. Callable from within the client.
    func sentCount(_ id: TransferID) -> Int64

    /// Reserves a connection for a transfer whose request is not known before its files are open. Until
    /// `whenAdmitted` is called, it waits in the line and has nothing open; from then on it counts as
    /// running, until the client starts or stops it.
    /// - Throws: `.cannotStart` if nothing can be transferred.
    func reserve(
        _ reservation: Reservation,
        whenAdmitted: @escaping @Sendable () -> Void
    ) throws(TransferError)
}

/// A layer in front of the network, set on an operation or a manager.
protocol TransferLayering: TransferLayer {
    /// Returns the runner of one exchange's transfers, in front of `next`: the network, or a layer closer to
    /// it. Called on the network thread, once per exchange.
    func layer(over next: any TransferRunning) -> any TransferRunning
}
