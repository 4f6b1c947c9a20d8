import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworkingTestSupport

/// Managers of another process, in networks that the tests make: the kernel's own routes, links and
/// addresses.
@Suite(
    .enabled(if: NetworkNamespace.isPermitted, "This process may not make network namespaces."),
    .serialized,
    .timeLimit(.minutes(1))
)
struct ReachabilityNamespaceTests {
    private let network: NetworkNamespace

    init() throws {
        network = try NetworkNamespace()
    }

    /// An interface of this name that is down, and has another end that is up.
    private func addInterface(_ name: String = "eth7", otherEnd: String = "far") async throws {
        try await network.run(
            "ip link add \(name) type veth peer name \(otherEnd); ip link set \(otherEnd) up"
        )
    }

    private static let up = "ip link set eth7 up"
    private static let address = "ip addr add 10.1.1.2/24 dev eth7"
    private static let route = "ip route add default via 10.1.1.1"

    private func start(_ arguments: String...) async throws {
        let probe = try NetworkNamespace.probe
        try await network.start(probe, arguments)
    }

    /// Waits until each of the three has reported this, and nothing else before.
    private func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for source in ["closure", "notification", "sequence"] {
            let received = try await network.next(source)
            #expect(received == text, "\(source)", sourceLocation: sourceLocation)
        }
    }

    private static let isNot = "Not Reachable false"
    private static let isIt = "Reachable via WiFi true"

    // MARK: - The internet

    @Test func anInterfaceComesUpAndGoesDown() async throws {
        try await addInterface()
        try await start("internet")
        #expect(try await network.next("started") == Self.isNot)
        try await expect(Self.isNot)
        try await network.run("\(Self.up); \(Self.address)")
        // Without a default route it is not the internet.
        try await network.run(Self.route)
        try await expect(Self.isIt)
        try await network.run("ip link set eth7 down")
        try await expect(Self.isNot)
        // The kernel has taken the routes along.
        try await network.run(Self.up)
        try await network.run(Self.route)
        try await expect(Self.isIt)
        #expect(network.rest("closure").isEmpty && network.rest("sequence").isEmpty)
    }

    @Test func theFirstStatusIsThereAtOnce() async throws {
        try await addInterface()
        try await network.run("\(Self.up); \(Self.address); \(Self.route)")
        try await start("internet")
        #expect(try await network.next("started") == Self.isIt)
        try await expect(Self.isIt)
    }

    @Test func aRouteIsAddedAndRemoved() async throws {
        try await addInterface()
        try await network.run("\(Self.up); \(Self.address)")
        try await start("internet")
        try await expect(Self.isNot)
        try await network.run(Self.route)
        try await expect(Self.isIt)
        // A second one makes no difference, and neither does it going.
        try await network.run(
            "ip route add default via 10.1.1.3 metric 50; ip route del default via 10.1.1.3 metric 50"
        )
        try await network.run("ip route del default")
        try await expect(Self.isNot)
    }

    @Test func aRouteThatRefusesIsNone() async throws {
        try await addInterface()
        try await network.run("\(Self.up); \(Self.address); ip route add default via 10.1.1.1 metric 100")
        try await start("internet")
        try await expect(Self.isIt)
        for kind in ["unreachable", "blackhole", "prohibit"] {
            try await network.run("ip route add \(kind) default metric 50")
            try await expect(Self.isNot)
            try await network.run("ip route del \(kind) default metric 50")
            try await expect(Self.isIt)
        }
    }

    @Test func theAddressChanges() async throws {
        try await addInterface()
        try await network.run("\(Self.up); \(Self.address); \(Self.route)")
        try await start("internet")
        try await expect(Self.isIt)
        // The kernel takes the default route along, and does not say so.
        try await network.run("ip addr del 10.1.1.2/24 dev eth7")
        try await expect(Self.isNot)
        try await network.run("ip addr add 10.1.2.2/24 dev eth7; ip route add default via 10.1.2.1")
        try await expect(Self.isIt)
    }

    /// The kernel removes the routes of IPv4 with it, and reports only the object.
    @Test func aNexthopObjectIsTakenAway() async throws {
        try await addInterface()
        // An address of IPv6 would come by itself, and be another change.
        try await network.run("for end in eth7 far; do ip link set $end addrgenmode none; done")
        try await network.run("\(Self.up); \(Self.address); ip nexthop add id 1 via 10.1.1.1 dev eth7")
        try await network.run("ip route add default nhid 1")
        try await start("internet")
        try await expect(Self.isIt)
        try await network.run("ip nexthop del id 1")
        try await expect(Self.isNot)
    }

    @Test func aCableIsPulled() async throws {
        try await addInterface()
        try await network.run("\(Self.up); \(Self.address); \(Self.route)")
        try await start("internet")
        try await expect(Self.isIt)
        // The route stays; the operational state is LOWERLAYERDOWN.
        try await network.run("ip link set far down")
        try await expect(Self.isNot)
        try await network.run("ip link set far up")
        try await expect(Self.isIt)
    }

    @Test func anInterfaceIsTakenAway() async throws {
        try await addInterface()
        try await network.run("\(Self.up); \(Self.address); \(Self.route)")
        try await start("internet")
        try await expect(Self.isIt)
        try await network.run("ip link del eth7")
        try await expect(Self.isNot)
    }

    @Test func sixIsEnough() async throws {
        try await addInterface()
        try await network.run("\(Self.up); ip addr add fd00:1::2/64 dev eth7 nodad")
        try await start("internet")
        try await expect(Self.isNot)
        try await network.run("ip -6 route add default via fd00:1::1 dev eth7")
        try await expect(Self.isIt)
        try await network.run("ip -6 route del default")
        try await expect(Self.isNot)
    }

    @Test func oneOfTwoFamiliesIsEnough() async throws {
        try await addInterface()
        try await network.run(
            "\(Self.up); \(Self.address); \(Self.route); ip addr add fd00:1::2/64 dev eth7 nodad"
        )
        try await network.run("ip -6 route add default via fd00:1::1 dev eth7")
        try await start("internet")
        try await expect(Self.isIt)
        try await network.run("ip route del default")
        try await network.run("ip -6 route del default")
        try await expect(Self.isNot)
        #expect(network.rest("closure").isEmpty)
    }

    @Test func oneOfSeveralHopsIsEnough() async throws {
        try await addInterface()
        try await addInterface("eth8", otherEnd: "far8")
        try await network.run(
            "\(Self.up); \(Self.address); ip link set eth8 up; ip addr add 10.1.8.2/24 dev eth8"
        )
        try await network.run("ip route add default nexthop via 10.1.1.1 nexthop via 10.1.8.1")
        try await start("internet")
        try await expect(Self.isIt)
        try await network.run("ip link set far down")
        try await network.run("ip link set far8 down")
        try await expect(Self.isNot)
        try await network.run("ip link set far8 up")
        try await expect(Self.isIt)
        #expect(network.rest("closure").isEmpty)
    }

    /// Interfaces that do not know their state say UNKNOWN.
    @Test func anUnknownStateCountsAsUp() async throws {
        do {
            try await network.run("ip link add ifb7 type ifb")
        } catch {
            // This kernel has none; the table of RouteTableTests has the row.
            return
        }
        try await start("internet")
        try await expect(Self.isNot)
        try await network.run("ip link set ifb7 up; ip addr add 10.1.1.2/24 dev ifb7; \(Self.route)")
        try await expect(Self.isIt)
        try await network.run("ip link show ifb7 | grep -q 'state UNKNOWN'")
    }

    @Test func theNameOfAnInterfaceSaysNothingOfItsKind() async throws {
        try await addInterface("wwan0", otherEnd: "far0")
        try await network.run("ip link set wwan0 up; ip addr add 10.1.8.2/24 dev wwan0")
        try await network.run("ip route add default via 10.1.8.1 metric 700")
        try await start("internet")
        try await expect(Self.isIt)
    }

    // MARK: - Addresses and domains

    @Test func anAddressHasARouteOfItsOwn() async throws {
        try await addInterface()
        try await network.run("\(Self.up); \(Self.address)")
        try await start("address", "10.5.0.1")
        #expect(try await network.next("started") == Self.isNot)
        try await expect(Self.isNot)
        try await network.run("ip route add 10.5.0.0/16 via 10.1.1.1")
        try await expect(Self.isIt)
        try await network.run("ip route add prohibit 10.5.0.1/32")
        try await expect(Self.isNot)
        try await network.run("ip route del prohibit 10.5.0.1/32")
        try await expect(Self.isIt)
        try await network.run("ip link set far down")
        try await expect(Self.isNot)
    }

    /// The kernel has the rules, which the default routes alone do not show.
    @Test func anAddressIsFoundInATableThatOnlyRulesLeadTo() async throws {
        try await addInterface()
        try await network.run("\(Self.up); \(Self.address); ip route add default via 10.1.1.1 table 77")
        try await start("address", "10.5.0.1")
        try await expect(Self.isNot)
        try await network.run("ip rule add to 10.5.0.0/16 table 77")
        try await expect(Self.isIt)
        try await network.run("ip rule del to 10.5.0.0/16 table 77")
        try await expect(Self.isNot)
    }

    @Test func anAddressOfIPv6BehindAnInterface() async throws {
        try await addInterface()
        try await network.run("ip link set eth7 addrgenmode none")
        try await start("address", "fe80::1%eth7")
        try await expect(Self.isNot)
        try await network.run("\(Self.up); ip addr add fe80::2/64 dev eth7 nodad")
        try await expect(Self.isIt)
    }

    @Test func theLoopbackIsReachableOnceItIsUp() async throws {
        try await start("address", "127.0.0.1")
        try await expect(Self.isNot)
        try await network.run("ip link set lo up")
        try await expect(Self.isIt)
    }

    @Test func aDomainIsReachableByItsAddress() async throws {
        try await start("domain", "localhost")
        // The lookup runs beside the process that asks: it may have ended by then.
        let first = try await network.next("started")
        #expect(["Unknown false", Self.isNot].contains(first))
        #expect(try await network.next("closure") == Self.isNot)
        // Before the network comes: `isReachable` is that of the moment.
        #expect(try await network.next("notification") == Self.isNot)
        try await network.run("ip link set lo up")
        #expect(try await network.next("closure") == Self.isIt)
        #expect(try await network.next("notification") == Self.isIt)
    }

    // MARK: - Retries

    /// A server of another author: the loopback is down when the request begins, and up again before there is
    /// a default route.
    @Test(.enabled(if: RealServers.python != nil))
    func aRetryWaitsForTheKernelsNetwork() async throws {
        try await addInterface()
        try await start("get", "http://127.0.0.1:8080/")
        // Not connected, to nothing: the attempt has failed, and waits.
        #expect(try await network.next("retrying") == "\(URLError.Code.notConnectedToInternet.rawValue)")
        try await network.run("ip link set lo up")
        let server = """
            import http.server as h; s = h.HTTPServer(("127.0.0.1", 8080), h.SimpleHTTPRequestHandler); \
            print("listening 8080", flush=True); s.serve_forever()
            """
        try await network.start(try #require(RealServers.python), ["-c", server])
        _ = try await network.next("listening")
        #expect(network.rest("ended").isEmpty)
        try await network.run("\(Self.up); \(Self.address); \(Self.route)")
        #expect(try await network.next("ended") == "200 true")
        #expect(network.rest("retrying").isEmpty)
    }
}
