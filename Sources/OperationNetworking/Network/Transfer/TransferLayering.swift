/// Stands before the network, by a setting of an operation or a manager.
protocol TransferLayering: TransferLayer {
    /// The runner of one exchange's transfers, before `next`: the network, or the layer that is nearer to it.
    /// Called on the network thread, once for each exchange.
    func layer(over next: any TransferRunning) -> any TransferRunning

    /// Looks for a response to a request that has nothing else before it, on the thread that starts an
    /// operation; `nil`: this layer needs an exchange.
    func lookup(for request: TransferRequest) -> (any ResponseLookup)?
}

extension TransferLayering {
    func lookup(for request: TransferRequest) -> (any ResponseLookup)? { nil }
}
