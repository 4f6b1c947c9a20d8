import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The decision by interfaces and routes, row by row.
@Suite struct RouteTableTests {
    private static let interfaces: [UInt32: NetworkInterface] = [
        1: .init(index: 1, name: "lo", isLoopback: true),
        2: .init(index: 2, name: "eth0"),
        3: .init(index: 3, name: "eth1", isUp: false),
        4: .init(index: 4, name: "wwan0", isWWAN: true),
    ]

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let routes: [NetworkRoute]
        let status: NetworkReachabilityStatus

        init(_ name: String, _ routes: [NetworkRoute], _ status: NetworkReachabilityStatus) {
            (testDescription, self.routes, self.status) = (name, routes, status)
        }
    }

    private static func route(
        _ family: NetworkRoute.Family = .ipv4,
        by interfaces: UInt32...,
        kind: NetworkRoute.Kind = .unicast,
        table: UInt32 = 254,
        metric: UInt32 = 0
    ) -> NetworkRoute {
        NetworkRoute(
            family: family,
            kind: kind,
            table: table,
            metric: metric,
            hops: interfaces.map { .init(interface: $0) }
        )
    }

    @Test(arguments: [
        Row("no route", [], .notReachable),
        Row("IPv4 by one that is up", [route(by: 2)], .reachableViaWiFi),
        Row("IPv6 by one that is up", [route(.ipv6, by: 2)], .reachableViaWiFi),
        Row("by one that is down", [route(by: 3)], .notReachable),
        Row("by one that is not there", [route(by: 77)], .notReachable),
        Row("by the loopback", [route(by: 1)], .notReachable),
        Row("the second is up", [route(by: 3, metric: 1), route(by: 2, metric: 9)], .reachableViaWiFi),
        Row("WWAN alone", [route(by: 4)], .reachableViaWWAN),
        Row("WWAN for both families", [route(by: 4), route(.ipv6, by: 4)], .reachableViaWWAN),
        Row("WWAN for one family", [route(by: 4), route(.ipv6, by: 2)], .reachableViaWiFi),
        Row(
            "WWAN has the lower metric",
            [route(by: 2, metric: 9), route(by: 4, metric: 1)],
            .reachableViaWWAN
        ),
        Row(
            "WWAN has the higher metric",
            [route(by: 4, metric: 9), route(by: 2, metric: 1)],
            .reachableViaWiFi
        ),
        Row("multipath, the second is up", [route(by: 3, 2)], .reachableViaWiFi),
        Row("multipath, none is up", [route(by: 3, 77)], .notReachable),
        Row("a nexthop object", [route()], .reachableViaWiFi),
        Row("unreachable", [route(by: 1, kind: .refusing)], .notReachable),
        Row(
            "unreachable, of a lower metric",
            [route(by: 2, metric: 9), route(kind: .refusing, metric: 1)],
            .notReachable
        ),
        Row(
            "unreachable, of a higher metric",
            [route(kind: .refusing, metric: 9), route(by: 2, metric: 1)],
            .reachableViaWiFi
        ),
        Row("unreachable for one family", [route(.ipv6, kind: .refusing), route(by: 2)], .reachableViaWiFi),
        Row("throw", [route(kind: .throwing, metric: 1), route(by: 2, metric: 9)], .notReachable),
        Row(
            "throw to the table default",
            [route(kind: .throwing), route(by: 2, table: 253)],
            .reachableViaWiFi
        ),
        Row(
            "unreachable before the table default",
            [route(kind: .refusing), route(by: 2, table: 253)],
            .notReachable
        ),
        Row("the table default alone", [route(by: 2, table: 253)], .reachableViaWiFi),
        Row("local", [route(by: 1, kind: .local)], .notReachable),
    ])
    func defaultRoutes(row: Row) {
        #expect(RouteTable(interfaces: Self.interfaces, defaultRoutes: row.routes).status == row.status)
    }

    @Test func aHopThatIsDownIsNotUsed() {
        let dead = NetworkRoute(family: .ipv4, hops: [.init(interface: 2, isDead: true)])
        #expect(RouteTable(interfaces: Self.interfaces, defaultRoutes: [dead]).status == .notReachable)
    }

    @Test func onlyDefaultRoutesOfTwoTablesDecide() {
        #expect(RouteTable.decides(Self.route(by: 2)))
        #expect(RouteTable.decides(Self.route(by: 2, table: 253)))
        #expect(!RouteTable.decides(Self.route(by: 2, table: 255)))
        #expect(!RouteTable.decides(Self.route(by: 2, table: 100)))
        #expect(
            !RouteTable.decides(NetworkRoute(family: .ipv4, prefixLength: 24, hops: [.init(interface: 2)]))
        )
    }

    @Test(
        arguments: [
            (nil, .notReachable), (route(by: 2), .reachableViaWiFi), (route(by: 3), .notReachable),
            (route(by: 4), .reachableViaWWAN), (route(by: 1, kind: .local), .reachableViaWiFi),
            (route(by: 1), .reachableViaWiFi), (route(by: 2, kind: .several), .reachableViaWiFi),
            (route(by: 3, kind: .several), .notReachable), (route(by: 2, kind: .refusing), .notReachable),
            (route(by: 2, kind: .throwing), .notReachable), (route(by: 2, kind: .other), .notReachable),
        ] as [(NetworkRoute?, NetworkReachabilityStatus)]
    )
    func theRouteToAnAddress(route: NetworkRoute?, status: NetworkReachabilityStatus) {
        #expect(RouteTable(interfaces: Self.interfaces).status(of: route) == status)
    }

    @Test(arguments: [("eth0", 2), ("3", 3), ("eth9", nil), ("77", nil), ("", nil)] as [(String, UInt32?)])
    func zones(zone: String, index: UInt32?) {
        #expect(RouteTable(interfaces: Self.interfaces).index(ofZone: zone) == index)
    }

    // MARK: - Addresses

    @Test(arguments: [
        ("192.0.2.1", true), ("2001:db8::1", true), ("fe80::1%eth0", true), ("fe80::1%2", true),
        ("fe80::1%", false),
        ("192.0.2.1%eth0", false), ("", false), ("example.com", false), ("192.0.2", false), ("[::1]", false),
    ])
    func addresses(text: String, isOne: Bool) {
        #expect((ReachabilityTarget(address: text) != nil) == isOne)
        #expect((NetworkReachabilityManager(address: text) != nil) == isOne)
    }

    @Test func anAddressBehindAnInterfaceThatIsNotThereHasNoDestination() throws {
        let table = RouteTable(interfaces: Self.interfaces)
        let target = try #require(ReachabilityTarget(address: "fe80::1%eth0"))
        #expect(target.destinations(in: table, known: nil)?.map(\.interface) == [2])
        #expect(target.destinations(in: RouteTable(), known: nil) == [])
        #expect(ReachabilityTarget.host("a").destinations(in: table, known: nil) == nil)
        #expect(ReachabilityTarget.internet.destinations(in: table, known: nil) == nil)
    }
}
