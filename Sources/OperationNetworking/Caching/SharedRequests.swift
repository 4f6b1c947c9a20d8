/// The requests that go through one cache and are under way: equal ones wait for the first, and take its
/// response if that may be reused (RFC 9111 §4).
///
/// Used on the network thread.
final class SharedRequests: @unchecked Sendable {
    // @unchecked: used on the network thread only.

    /// Requests that are equal get the same response. A request waits for none that waits longer, or that is
    /// slower for reasons of its own.
    struct Key: Hashable {
        private let sharing: CacheRequest.Sharing
        /// 0: none.
        private let idleTimeout: Double
        /// The same.
        private let connectTimeout: Double
        private let proxy: Proxy?
        private let priority: TransferPriority
        /// The limits of bandwidth that hold it.
        private let limits: [ObjectIdentifier]

        // Timeouts that are no limit (0, less, infinite, NaN) are equal here. A key with NaN in it would not
        // equal itself: its group would never end.
        init(
            sharing: CacheRequest.Sharing,
            idleTimeout: Double,
            connectTimeout: Double? = nil,
            proxy: Proxy? = nil,
            priority: TransferPriority,
            limits: [ObjectIdentifier]
        ) {
            func limit(_ seconds: Double) -> Double { seconds > 0 && seconds.isFinite ? seconds : 0 }
            self.sharing = sharing
            self.idleTimeout = limit(idleTimeout)
            self.connectTimeout = limit(connectTimeout ?? 0)
            self.proxy = proxy
            self.priority = priority
            self.limits = limits
        }
    }

    /// The outcome of the request that others wait for.
    ///
    /// | Outcome      | Those that wait                                              |
    /// |--------------|--------------------------------------------------------------|
    /// | `isStored`   | go on, and find it                                           |
    /// | `isForOne`   | go on, each by itself; later ones do not wait                |
    /// | `hasEnded`   | go on, each by itself                                        |
    /// | `wasStopped` | the first one takes its place, and the others wait for that  |
    enum Outcome {
        case isStored
        /// The head says that the response is for this request only.
        case isForOne
        /// The request has failed, or goes at a pace of its own.
        case hasEnded
        /// The request was cancelled, or paused.
        case wasStopped
    }

    /// Called once, on the network thread, with whether the transfer takes the place of the one that it has
    /// waited for.
    typealias Go = (_ isFirst: Bool) -> Void

    /// A request under way, and those that wait for it, in the order in which they came. Each step takes
    /// constant time: all of 10,000 may leave one by one.
    private struct Group {
        var leader: TransferID
        private var order = RecencyList<TransferID>()
        private var waiting: [TransferID: Go] = [:]

        init(leader: TransferID) {
            self.leader = leader
        }

        var isAwaited: Bool { !waiting.isEmpty }

        mutating func append(_ id: TransferID, _ go: @escaping Go) {
            order.use(id)
            waiting[id] = go
        }

        mutating func remove(_ id: TransferID) -> Go? {
            order.remove(id)
            return waiting.removeValue(forKey: id)
        }

        mutating func popFirst() -> (id: TransferID, go: Go)? {
            guard let id = order.oldest, let go = remove(id) else { return nil }
            return (id, go)
        }
    }

    /// The number of requests of which it is known that their responses are for one.
    private static let maximumUnshared = 1_000

    private var groups: [Key: Group] = [:]
    private var unshared: Set<Key> = []
    /// The revalidations that go on in the background.
    private var revalidations: [CacheKey: AnyObject] = [:]

    /// Whether the transfer has to wait for another one. If not, it is the first of its kind: others wait for
    /// it until ``finish(_:of:_:)``.
    func join(_ key: Key, _ id: TransferID, _ go: @escaping Go) -> Bool {
        guard groups[key] != nil else {
            groups[key] = Group(leader: id)
            return false
        }
        guard !unshared.contains(key) else { return false }
        groups[key]?.append(id, go)
        return true
    }

    /// Whether others wait for the transfer.
    func isAwaited(_ key: Key, _ id: TransferID) -> Bool {
        guard let group = groups[key], group.leader == id else { return false }
        return group.isAwaited
    }

    /// A transfer waits no longer.
    func leave(_ key: Key, _ id: TransferID) {
        _ = groups[key]?.remove(id)
    }

    /// A transfer has its response, or has ended without. Nothing happens if no other one can wait for it.
    func finish(_ key: Key, of id: TransferID, _ outcome: Outcome) {
        guard groups[key]?.leader == id, var group = groups.removeValue(forKey: key) else { return }
        if case .wasStopped = outcome, let successor = group.popFirst() {
            group.leader = successor.id
            groups[key] = group
            return successor.go(true)
        }
        if case .isForOne = outcome, group.isAwaited {
            if unshared.count >= Self.maximumUnshared { unshared.removeAll() }
            unshared.insert(key)
        }
        while let next = group.popFirst() { next.go(false) }
    }

    /// The head of a response says that it is for all who ask.
    func noteShared(_ key: Key) {
        unshared.remove(key)
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
