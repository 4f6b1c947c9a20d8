import OperationNetworkingSystem

/// A poller with a descriptor.
func openPoller() throws -> SocketPoller {
    let poller = SocketPoller()
    try poller.open()
    return poller
}
