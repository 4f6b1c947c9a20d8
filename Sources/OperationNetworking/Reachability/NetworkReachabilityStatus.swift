/// Whether, and by what kind of interface, packets leave this machine.
public enum NetworkReachabilityStatus: Int, Hashable, Sendable, CaseIterable {
    /// Not monitored yet; or a name is being looked up for the first time.
    case unknown = -1
    /// There is no route, or none by an interface that is up.
    case notReachable = 0
    /// By an interface without frames, as modems of mobile networks have, or by a line of PPP. Modems whose
    /// driver shows them as an Ethernet are ``reachableViaWiFi``.
    case reachableViaWWAN = 1
    /// By any other interface, a cable included: AFNetworking's name for all that is not WWAN.
    case reachableViaWiFi = 2

    /// Whether it is one of the two that say so.
    public var isReachable: Bool { self == .reachableViaWWAN || self == .reachableViaWiFi }
}

extension NetworkReachabilityStatus: CustomStringConvertible {
    /// AFNetworking's words: `Not Reachable`, `Reachable via WWAN`, `Reachable via WiFi`, `Unknown`.
    public var description: String {
        switch self {
        case .unknown: "Unknown"
        case .notReachable: "Not Reachable"
        case .reachableViaWWAN: "Reachable via WWAN"
        case .reachableViaWiFi: "Reachable via WiFi"
        }
    }
}
