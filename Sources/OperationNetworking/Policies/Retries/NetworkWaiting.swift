/// A network whose availability can be awaited, such as `NetworkReachabilityManager`. For
/// ``RetryPolicy/network``.
public protocol NetworkWaiting: AnyObject, Sendable {
    /// Waits until the network is available or the task is cancelled. Returns at once if availability is
    /// unknown.
    /// - Returns: whether the network was unavailable when it was called.
    func waitForNetwork() async -> Bool
}

/// A network as part of a value, compared by object identity.
struct AwaitedNetwork: Hashable, Sendable {
    let network: any NetworkWaiting

    static func == (left: AwaitedNetwork, right: AwaitedNetwork) -> Bool {
        left.network === right.network
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(network))
    }
}
