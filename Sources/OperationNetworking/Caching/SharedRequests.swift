/// The requests in progress through one cache. Equal requests wait for the first one, and use its response if
/// it may be reused (RFC 9111 §4).
///
/// Used on the network thread.
final class SharedRequests: @unchecked Sendable {
    // @unchecked: used on the network thread only.

    /// Identifies equal requests. It includes the timeouts, the priority and the limits, so that no request
    /// waits for one that may take longer.
    struct Key: Hashable {
        private let sharing: CacheRequest.Sharing
        /// 0 for none.
        private let idleTimeout: Double
        /// 0 for none.
        private let connectTimeout: Double
        private let proxy: Proxy?
        private let priority: TransferPriority
        /// The bandwidth limits of the request.
        private let limits: [ObjectIdentifier]

        // Timeouts that mean "no limit" (0, negative, infinite, NaN) become equal. A key that contains NaN
        // would differ from itself and could never be removed.
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
    /// | Outcome      | The waiting transfers                                        |
    /// |--------------|--------------------------------------------------------------|
    /// | `isStored`   | continue, and find it in the store                           |
    /// | `isForOne`   | continue, each by itself; later ones do not wait             |
    /// | `hasEnded`   | continue, each by itself                                     |
    /// | `wasStopped` | wait for the first of them, which takes its place            |
    enum Outcome {
        case isStored
        /// The head shows that the response is for this request only.
        case isForOne
        /// The request has failed, or its client is slow.
        case hasEnded
        /// The request was cancelled or paused.
        case wasStopped
    }

    /// Called once, on the network thread, when a waiting transfer may continue. `isFirst` is whether it
    /// takes the place of the one that it has waited for.
    typealias Resume = (_ isFirst: Bool) -> Void

    /// A request in progress, and the transfers that wait for it, in the order in which they came. Each step
    /// takes constant time, because 10,000 of them may leave one by one.
    private struct Group {
        var leader: TransferID
        private var order = RecencyList<TransferID>()
        private var waiting: [TransferID: Resume] = [:]

        init(leader: TransferID) {
            self.leader = leader
        }

        var isAwaited: Bool { !waiting.isEmpty }

        mutating func append(_ id: TransferID, _ resume: @escaping Resume) {
            order.use(id)
            waiting[id] = resume
        }

        mutating func remove(_ id: TransferID) -> Resume? {
            order.remove(id)
            return waiting.removeValue(forKey: id)
        }

        mutating func popFirst() -> (id: TransferID, resume: Resume)? {
            guard let id = order.oldest, let resume = remove(id) else { return nil }
            return (id, resume)
        }
    }

    /// The number of keys remembered as not shareable.
    private static let maximumUnshared = 1_000

    private var groups: [Key: Group] = [:]
    private var unshared: Set<Key> = []
    /// The revalidations in progress in the background.
    private var revalidations: [CacheKey: AnyObject] = [:]

    /// Returns whether the transfer has to wait for another one. If not, it is the first of its kind, and
    /// others wait for it until ``finish(_:of:_:)``.
    func join(_ key: Key, _ id: TransferID, _ resume: @escaping Resume) -> Bool {
        guard groups[key] != nil else {
            groups[key] = Group(leader: id)
            return false
        }
        guard !unshared.contains(key) else { return false }
        groups[key]?.append(id, resume)
        return true
    }

    /// Whether other transfers wait for this one.
    func isAwaited(_ key: Key, _ id: TransferID) -> Bool {
        guard let group = groups[key], group.leader == id else { return false }
        return group.isAwaited
    }

    /// Removes a waiting transfer.
    func leave(_ key: Key, _ id: TransferID) {
        _ = groups[key]?.remove(id)
    }

    /// Releases the waiting transfers when a transfer has its response or has failed. Does nothing if no
    /// transfer can wait for it.
    func finish(_ key: Key, of id: TransferID, _ outcome: Outcome) {
        guard groups[key]?.leader == id, var group = groups.removeValue(forKey: key) else { return }
        if case .wasStopped = outcome, let successor = group.popFirst() {
            group.leader = successor.id
            groups[key] = group
            return successor.resume(true)
        }
        if case .isForOne = outcome, group.isAwaited {
            if unshared.count >= Self.maximumUnshared { unshared.removeAll() }
            unshared.insert(key)
        }
        while let next = group.popFirst() { next.resume(false) }
    }

    /// Records that the head of a response allows sharing it.
    func noteShared(_ key: Key) {
        unshared.remove(key)
    }

    // MARK: - Revalidations

    /// Keeps a revalidation alive until it ends, unless one for the key is in progress.
    ///
    /// - Returns: whether it was kept.
    func revalidate(_ key: CacheKey, _ transfer: AnyObject) -> Bool {
        guard revalidations[key] == nil else { return false }
        revalidations[key] = transfer
        return true
    }

    func didRevalidate(_ key: CacheKey) {
        revalidations[key] = nil
    }
}
