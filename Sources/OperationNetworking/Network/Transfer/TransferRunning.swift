internal import OperationNetworkingSystem

/// Runs transfers for their clients: ``Transfers`` does it over the network; a layer before the network
/// (stubs, a cache) does it for some, and hands the others on.
///
/// Everything is called on the network thread, outside of libcurl, and returns at once. A client hears of
/// what happens later; only bytes that wait may come during ``resumeReceiving(_:)``, ``receive(_:)`` and
/// ``resume(_:)``, which libcurl hands over at once. So these are the last thing that a client does.
protocol TransferRunning: AnyObject {
    /// Starts a transfer, under an identifier that was not used before, or for which a place was reserved.
    func start(_ request: consuming TransferRequest, id: TransferID, for client: any TransferClient)

    /// Stops a transfer, or gives up its reservation; the client hears nothing more. Nothing happens if it has
    /// ended already.
    /// - Returns: its cost, unless it had ended.
    @discardableResult
    func stop(_ id: TransferID) -> TransferMetrics?

    /// Lets a client that had no room take the body again.
    func resumeReceiving(_ id: TransferID)

    /// Answers a head that the client answered with ``HeadAnswer/later``: the body is received.
    func receive(_ id: TransferID)

    /// Ends a transfer whose client wants no more of its body, or answers ``HeadAnswer/later`` with a
    /// refusal. The client hears of it, as of every end.
    func giveUp(_ id: TransferID)

    /// Pauses a transfer: it keeps its connection, nothing of it moves, and no other transfer waits for
    /// it. Its client hears of its end all the same.
    func pause(_ id: TransferID)

    /// Resumes a paused transfer.
    func resume(_ id: TransferID)

    /// The bytes of the request's body that have left this machine; less than a client heard of: the rest is
    /// in libcurl's buffer, or in the kernel's. 0 if the kernel cannot be asked now. Costs a system call.
    /// Callable from within the client.
    func sentCount(_ id: TransferID) -> Int64

    /// Reserves a connection for a transfer whose request is not known before its files are open. Until
    /// `whenAdmitted` was called it waits in the line, and has nothing open; from then on it counts as
    /// running, until the client starts or stops it.
    /// - Throws: `.cannotStart` if nothing can move.
    func reserve(
        _ reservation: Reservation,
        whenAdmitted: @escaping @Sendable () -> Void
    ) throws(TransferError)
}

/// Stands before the network, by a setting of an operation or a manager.
protocol TransferLayering: TransferLayer {
    /// The runner of one exchange's transfers, before `next`: the network, or the layer that is nearer to it.
    /// Called on the network thread, once for each exchange.
    func layer(over next: any TransferRunning) -> any TransferRunning
}
