/// Whether packets leave this machine, and by what kind of interface.
public enum NetworkReachabilityStatus: Int, Hashable, Sendable, CaseIterable {
    /// Monitoring has not begun, or a name is being looked up for the first time.
    case unknown = -1
    /// No route exists, or none through an interface that is up.
    case notReachable = 0
    /// A route exists through an interface without a link layer, as mobile modems have, or through PPP. A
    /// modem whose driver presents it as Ethernet is ``reachableViaWiFi``.
    case reachableViaWWAN = 1
    /// A route exists through any other interface, including wired ones. This is AFNetworking's name for
    /// everything but WWAN.
    case reachableViaWiFi = 2

    /// Whether there is a route.
    public var isReachable: Bool { self == .reachableViaWWAN || self == .reachableViaWiFi }
}

extension NetworkReachabilityStatus: CustomStringConvertible {
    /// AFNetworking's text: `Not Reachable`, `Reachable via WWAN`, `Reachable via WiFi` or `Unknown`.
    public var description: String {
        switch self {
        case .unknown: "Unknown"
        case .notReachable: "Not Reachable"
        case .reachableViaWWAN: "Reachable via WWAN"
        case .reachableViaWiFi: "Reachable via WiFi"
        }
    }
}
