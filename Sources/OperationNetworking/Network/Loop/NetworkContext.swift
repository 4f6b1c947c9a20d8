/// The things that the network thread lends to work on it: the transfers, and the memories of hosts and of
/// credentials that exchanges share. It stays on the thread.
final class NetworkContext {
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

/// Works that are done together, a moment after the first of them came: one timer serves them all.
struct WorkRound {
    private var works: [() -> Void] = []

    /// Adds a work to the round.
    /// - Returns: whether it is the first one, which needs a timer.
    mutating func add(_ work: @escaping () -> Void) -> Bool {
        works.append(work)
        return works.count == 1
    }

    /// The works of the round, which ends. What they add is of the next one.
    mutating func takeAll() -> [() -> Void] {
        defer { works = [] }
        return works
    }
}

/// A piece of work for the network thread.
enum NetworkWork: Sendable {
    case network(@Sendable (NetworkContext) -> Void)
    /// Needs the run loop; waits until there is one.
    case loop(@Sendable (NetworkLoop) -> Void)
}
