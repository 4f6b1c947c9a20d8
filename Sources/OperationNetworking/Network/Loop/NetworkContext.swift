/// What the network thread lends to work that runs on it: the transfers, and the memories of hosts and
/// credentials that exchanges share. It stays on the thread.
final class NetworkContext {
    let transfers: Transfers
    /// The servers that have requested a delay.
    var hosts = HostWaits()
    /// The schemes under which servers accepted credentials.
    var credentials = AuthenticationMemory()

    /// The pending progress reports of exchanges.
    var progressWork = CoalescedWork()

    init(_ transfers: Transfers) {
        self.transfers = transfers
    }
}

/// Work that is done together, a moment after the first piece was added, with one timer for all.
struct CoalescedWork {
    private var works: [() -> Void] = []

    /// Adds a piece of work.
    /// - Returns: whether it is the first piece, which needs a timer.
    mutating func add(_ work: @escaping () -> Void) -> Bool {
        works.append(work)
        return works.count == 1
    }

    /// Removes and returns the work. Work added from then on needs another timer.
    mutating func takeAll() -> [() -> Void] {
        defer { works = [] }
        return works
    }
}

/// A piece of work for the network thread.
enum NetworkWork: Sendable {
    case network(@Sendable (NetworkContext) -> Void)
    /// Work that needs the run loop, and waits until there is one.
    case loop(@Sendable (NetworkLoop) -> Void)
}
