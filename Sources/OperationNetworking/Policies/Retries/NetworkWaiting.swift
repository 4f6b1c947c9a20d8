/// A network that may be gone, and come back: `NetworkReachabilityManager` is one, for
/// ``RetryPolicy/network``.
public protocol NetworkWaiting: AnyObject, Sendable {
    /// Returns when there is a network, or the task is cancelled; at once where that cannot be known.
    /// - Returns: whether there was none when it was called.
    func waitForNetwork() async -> Bool
}

/// A network as a part of a value: the same object is the same network.
struct AwaitedNetwork: Hashable, Sendable {
    let network: any NetworkWaiting

    static func == (left: AwaitedNetwork, right: AwaitedNetwork) -> Bool {
        left.network === right.network
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(network))
    }
}
