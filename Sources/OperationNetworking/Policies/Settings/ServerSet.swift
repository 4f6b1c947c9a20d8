internal import OperationNetworkingSystem

/// The servers that an operation communicates with: those of the network, or those of a layer that replaces
/// them. What is remembered about a server of one set does not apply to any other set.
struct ServerSet: Hashable, Sendable {
    static let network = ServerSet(number: 0)

    private static let last = Locked(0)

    /// A number instead of the layer: a reference would keep the layer alive, and its address could be
    /// reused.
    private let number: Int

    /// Creates a unique set.
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
