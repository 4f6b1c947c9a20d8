/// The things that the network thread lends to work on it: the transfers, and the memories of hosts and of
/// credentials that exchanges share. It stays on the thread.
final class NetworkRoom {
    let transfers: Transfers
    /// The servers that asked to be left alone for a while.
    var hosts = HostWaits()
    /// The schemes under which servers took credentials.
    var credentials = AuthenticationMemory()

    /// The exchanges that tell their progress soon.
    var progressRound = WorkRound()

    init(_ transfers: Transfers) {
        self.transfers = transfers
    }
}
