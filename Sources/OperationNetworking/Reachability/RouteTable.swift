internal import OperationNetworkingSystem

/// Decides by interfaces and default routes whether packets leave this machine.
///
/// The default routes of each family are examined in the kernel's order: those of the table `main`, then those
/// of `default`, each by metric.
///
/// | Default route                                      | Means                                                    |
/// |----------------------------------------------------|----------------------------------------------------------|
/// | by an interface that is up                         | reachable, by that interface                             |
/// | by an interface that is not up, or by the loopback | nothing: the next one is examined                        |
/// | by several (multipath)                             | the first of them that is up                             |
/// | by a nexthop object that the message does not name | reachable, by an unknown interface                       |
/// | unreachable, blackhole, prohibit                   | not reachable; those behind it are never used            |
/// | throw                                              | those behind it in its table are never used              |
/// | none                                               | not reachable                                            |
///
/// The internet is reachable if one family is, and reachable via WWAN if every reachable family leaves by such
/// an interface. Tables of rules (`ip rule`) are ignored, because the rules decide which packets use them. The
/// status of a single address comes from the kernel, which knows the rules.
struct RouteTable: Hashable, Sendable {
    /// The interfaces by index.
    var interfaces: [UInt32: NetworkInterface] = [:]
    /// The default routes in the kernel's order.
    var defaultRoutes: [NetworkRoute] = []

    private static let unknownInterface = NetworkInterface(index: 0, name: "")

    /// Whether ``status`` depends on the route.
    static func decides(_ route: NetworkRoute) -> Bool {
        route.prefixLength == 0
            && (route.table == NetworkRoute.mainTable || route.table == NetworkRoute.defaultTable)
    }

    /// The status of the internet.
    var status: NetworkReachabilityStatus {
        Self.status(NetworkRoute.Family.allCases.compactMap(exit))
    }

    /// The status of an address to which the kernel has this route.
    func status(of route: NetworkRoute?) -> NetworkReachabilityStatus {
        switch route?.kind {
        case .local: .reachableViaWiFi
        case .unicast, .several: Self.status([route.flatMap(interface)].compactMap { $0 })
        case .refusing, .throwing, .other, nil: .notReachable
        }
    }

    /// The index of the interface that the zone of an address names (RFC 4007 §11.2).
    func index(ofZone zone: String) -> UInt32? {
        interfaces.first { $0.value.name == zone }?.key
            ?? UInt32(zone).flatMap { interfaces[$0] == nil ? nil : $0 }
    }

    private static func status(_ exits: [NetworkInterface]) -> NetworkReachabilityStatus {
        if exits.isEmpty { return .notReachable }
        return exits.allSatisfy(\.isWWAN) ? .reachableViaWWAN : .reachableViaWiFi
    }

    /// The interface through which packets of a family leave.
    private func exit(of family: NetworkRoute.Family) -> NetworkInterface? {
        for table in [NetworkRoute.mainTable, NetworkRoute.defaultTable] {
            let routes = defaultRoutes.filter { $0.family == family && $0.table == table }
            search: for route in routes.sorted(by: { $0.metric < $1.metric }) {
                switch route.kind {
                case .unicast:
                    if let interface = interface(of: route), !interface.isLoopback { return interface }
                case .refusing: return nil
                case .throwing: break search
                case .local, .several, .other: break
                }
            }
        }
        return nil
    }

    /// The first interface of a route that is up.
    private func interface(of route: NetworkRoute) -> NetworkInterface? {
        if route.hops.isEmpty { return Self.unknownInterface }
        return route.hops.lazy.filter { !$0.isDead }.compactMap { interfaces[$0.interface] }.first(
            where: \.isUp
        )
    }
}
