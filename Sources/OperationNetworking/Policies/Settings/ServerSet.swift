internal import OperationNetworkingSystem

/// The servers that an operation speaks to: those of the network, or those of one layer that answers in their
/// place. A memory of servers keeps the sets apart: what a server of one has said holds in no other.
struct ServerSet: Hashable, Sendable {
    static let network = ServerSet(number: 0)

    private static let last = Locked(0)

    /// Not the layer itself: a memory would keep it, or take another one at its address for it.
    private let number: Int

    /// A set that equals no other.
    init() {
        number = Self.last.withLock { last in
            last += 1
            return last
        }
    }

    private init(number: Int) {
        self.number = number
    }
}
