/// Stands before the network, by a setting of an operation or a manager.
protocol TransferLayering: TransferLayer {
    /// What runs the transfers of one exchange. Called on the network thread, once for each exchange.
    /// - Parameter next: the network, or the layer that is nearer to it.
    func layer(over next: any TransferRunning) -> any TransferRunning
}
