/// The requests that go through one cache and are under way: equal ones wait for the first, and take its
/// response if that may be reused (RFC 9111 §4).
///
/// Used on the network thread.
final class CacheFlights: @unchecked Sendable {
    // @unchecked: used on the network thread only.

    /// Requests that are equal get the same response.
    struct Key: Hashable {
        var sharing: CacheRequest.Sharing
        /// A request does not wait for one that waits longer.
        var idleTimeout: Double
    }

    /// A request under way, and those that wait for it.
    private struct Flight {
        let leader: TransferID
        var waiting: [(id: TransferID, go: () -> Void)] = []
    }

    /// The number of requests of which it is known that their responses are for one.
    private static let maximumUnshared = 1_000

    private var flights: [Key: Flight] = [:]
    private var unshared: Set<Key> = []
    /// The revalidations that go on in the background.
    private var revalidations: [CacheKey: AnyObject] = [:]

    /// Whether the transfer has to wait for another one. If not, it is the first of its kind: others wait for
    /// it until ``land(_:of:isShared:)``.
    func join(_ key: Key, _ id: TransferID, _ go: @escaping () -> Void) -> Bool {
        guard flights[key] != nil else {
            flights[key] = Flight(leader: id)
            return false
        }
        guard !unshared.contains(key) else { return false }
        flights[key]?.waiting.append((id, go))
        return true
    }

    /// Whether others wait for the transfer.
    func isAwaited(_ key: Key, _ id: TransferID) -> Bool {
        guard let flight = flights[key], flight.leader == id else { return false }
        return !flight.waiting.isEmpty
    }

    /// A transfer waits no longer.
    func leave(_ key: Key, _ id: TransferID) {
        flights[key]?.waiting.removeAll { $0.id == id }
    }

    /// A transfer has its response, or has ended without: those that wait go on.
    func land(_ key: Key, of id: TransferID, isShared: Bool) {
        guard let flight = flights[key], flight.leader == id else { return }
        flights[key] = nil
        if isShared {
            unshared.remove(key)
        } else if !flight.waiting.isEmpty {
            if unshared.count >= Self.maximumUnshared { unshared.removeAll() }
            unshared.insert(key)
        }
        for waiting in flight.waiting { waiting.go() }
    }

    // MARK: - Revalidations

    /// Keeps a revalidation of the key until its end, unless one is under way.
    ///
    /// - Returns: whether none was.
    func revalidate(_ key: CacheKey, _ transfer: AnyObject) -> Bool {
        guard revalidations[key] == nil else { return false }
        revalidations[key] = transfer
        return true
    }

    func didRevalidate(_ key: CacheKey) {
        revalidations[key] = nil
    }
}
