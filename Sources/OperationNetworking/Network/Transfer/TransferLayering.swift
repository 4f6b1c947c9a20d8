/// Stands before the network, by a setting of an operation or a manager.
protocol TransferLayering: TransferLayer {
    /// The runner of one exchange's transfers, before `next`: the network, or the layer that is nearer to it.
    /// Called on the network thread, once for each exchange.
    func layer(over next: any TransferRunning) -> any TransferRunning
}
