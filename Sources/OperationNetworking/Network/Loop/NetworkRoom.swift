/// What the network thread lends to work that is done on it: the transfers, and what exchanges have learned of hosts and
/// of credentials. It stays on the thread.
final class NetworkRoom {
    let transfers: Transfers
    /// The servers that asked to be left alone for a while.
    var hosts = HostWaits()
    /// How servers took which credentials.
    var credentials = AuthenticationMemory()

    init(_ transfers: Transfers) {
        self.transfers = transfers
    }
}
