import OperationNetworkingSystem
import Testing

/// Datagrams of a netlink socket, as the kernel writes them, and as nothing should.
@Suite struct NetlinkParserTests {
    private typealias Bytes = NetlinkBytes

    private func contents(_ bytes: [UInt8]) -> [NetlinkRecord.Content] {
        NetlinkParser.records(in: bytes).map(\.content)
    }

    // MARK: - Messages

    @Test func aDatagramHasAnyNumberOfMessages() {
        #expect(NetlinkParser.records(in: []).isEmpty)
        let bytes = Bytes.message(20, []) + Bytes.message(21, [1]) + Bytes.message(3, Bytes.octets(Int32(0)))
        #expect(contents(bytes) == [.change, .change, .done(code: 0)])
    }

    @Test func sequenceAndInterruptionAreReported() {
        let records = NetlinkParser.records(in: Bytes.message(20, flags: 0x10 | 2, sequence: 99, []))
        #expect(records.map(\.sequence) == [99])
        #expect(records.map(\.isInterrupted) == [true])
        #expect(NetlinkParser.records(in: Bytes.message(20, flags: 2, [])).map(\.isInterrupted) == [false])
    }

    @Test(
        arguments: [
            (1, [], .other), (2, Bytes.octets(Int32(-101)), .acknowledgement(code: 101)),
            (2, Bytes.octets(Int32(0)), .acknowledgement(code: 0)), (2, [], .acknowledgement(code: 71)),
            (2, Bytes.octets(Int32(5)), .acknowledgement(code: 71)),
            (2, Bytes.octets(Int32.min), .acknowledgement(code: 71)), (3, [], .done(code: 0)),
            (3, Bytes.octets(Int32(-4)), .done(code: 4)), (4, [], .overrun), (32, [], .rule), (33, [], .rule),
            (104, [], .change), (105, [], .change), (9999, [1, 2, 3], .other),
            (16, [], .other), (17, [0], .other), (24, [], .other), (25, [2], .other),
        ] as [(UInt16, [UInt8], NetlinkRecord.Content)]
    )
    func controlMessages(type: UInt16, body: [UInt8], content: NetlinkRecord.Content) {
        #expect(contents(Bytes.message(type, body)) == [content])
    }

    @Test(arguments: [0, 1, 15, 21, 4096, UInt32.max])
    func aLengthThatCannotBeIsMalformed(length: UInt32) {
        let bytes = Bytes.message(20, []) + Bytes.message(20, length: length, [1, 2, 3, 4])
        #expect(contents(bytes) == [.change, .malformed])
    }

    @Test func aTruncatedHeaderIsMalformed() {
        #expect(contents(Bytes.message(20, []) + [16, 0, 0]) == [.change, .malformed])
    }

    // MARK: - Interfaces

    @Test func anInterfaceHasItsNameAndState() {
        let body = Bytes.link(
            index: 12,
            flags: 0x1 | 0x10000,
            Bytes.attribute(3, Array("eth0".utf8) + [0]),
            Bytes.attribute(16, [6])
        )
        #expect(contents(Bytes.message(16, body)) == [.interface(NetworkInterface(index: 12, name: "eth0"))])
        #expect(contents(Bytes.message(17, body)) == [.change])
    }

    /// Up are those that say so and those that do not know.
    @Test(arguments: zip(0..<9, [true, false, false, false, false, false, true, true, true]))
    func operationalStates(number: Int, isUp: Bool) {
        for (flags, isEnabled) in [(0x9, true), (0x8, false)] as [(UInt32, Bool)] {
            let body = Bytes.link(flags: flags, Bytes.attribute(16, [UInt8(number)]))
            let interface = NetworkInterface(index: 3, name: "", isUp: isUp && isEnabled, isLoopback: true)
            #expect(contents(Bytes.message(16, body)) == [.interface(interface)])
        }
    }

    /// Ethernet, PPP, packets without a frame, tun.
    @Test(arguments: [(1, false), (512, true), (519, true), (0xFFFE, false)] as [(UInt16, Bool)])
    func mobileNetworksAreRecognizedByTheirHardware(hardware: UInt16, isWWAN: Bool) {
        let body = Bytes.link(hardware: hardware, flags: 1, Bytes.attribute(3, Array("wwan0".utf8)))
        let interface = NetworkInterface(index: 3, name: "wwan0", isWWAN: isWWAN)
        #expect(contents(Bytes.message(16, body)) == [.interface(interface)])
    }

    @Test func aPortThatABridgeLosesIsNotGone() {
        let body = Bytes.link(family: 7, Bytes.attribute(3, Array("eth0".utf8)))
        #expect(contents(Bytes.message(17, body)) == [.other])
        #expect(contents(Bytes.message(16, body)) == [.other])
    }

    // MARK: - Routes

    private func route(_ body: [UInt8]) -> NetworkRoute? {
        guard case .route(let route)? = contents(Bytes.message(24, body)).first else { return nil }
        return route
    }

    @Test func aDefaultRouteHasItsInterfaceMetricAndTable() {
        let body = Bytes.route(
            family: 10,
            table: 252,
            Bytes.attribute(15, Bytes.octets(UInt32(1000))),
            Bytes.attribute(6, Bytes.octets(UInt32(600))),
            Bytes.attribute(5, [UInt8](repeating: 1, count: 16)),
            Bytes.attribute(4, Bytes.octets(UInt32(2)))
        )
        let hop = NetworkRoute.Hop(interface: 2)
        let expected = NetworkRoute(family: .ipv6, table: 1000, metric: 600, hops: [hop])
        #expect(route(body) == expected)
        #expect(contents(Bytes.message(25, body)) == [.routeGone(expected)])
    }

    @Test func aMultipathRouteHasItsHops() {
        let hops =
            Bytes.hop(interface: 4, flags: 1, Bytes.attribute(5, [10, 0, 0, 1]))
            + Bytes.hop(interface: 5, flags: 16)
        let found = route(Bytes.route(Bytes.attribute(9, hops)))
        #expect(found?.hops == [.init(interface: 4, isDead: true), .init(interface: 5)])
    }

    @Test func aTruncatedHopIsLeftOut() {
        let hops = Bytes.hop(interface: 4) + Bytes.hop(interface: 5, length: 200)
        #expect(route(Bytes.route(Bytes.attribute(9, hops)))?.hops == [.init(interface: 4)])
        #expect(
            route(Bytes.route(Bytes.attribute(9, Bytes.hop(interface: 4, length: 0))))?.hops == [
                .init(interface: 0)
            ]
        )
    }

    @Test func aRouteByANexthopObjectHasNoHops() {
        #expect(route(Bytes.route(Bytes.attribute(30, Bytes.octets(UInt32(1)))))?.hops == [])
        #expect(route(Bytes.route())?.hops == [.init(interface: 0)])
        #expect(
            route(Bytes.route(flags: 1, Bytes.attribute(4, Bytes.octets(UInt32(2)))))?.hops == [
                .init(interface: 2, isDead: true)
            ]
        )
    }

    @Test(
        arguments: zip(
            0..<12,
            [
                .other, .unicast, .local, .several, .several, .several, .refusing, .refusing, .refusing,
                .throwing, .other, .other,
            ] as [NetworkRoute.Kind]
        )
    )
    func kinds(type: Int, kind: NetworkRoute.Kind) {
        #expect(route(Bytes.route(type: UInt8(type)))?.kind == kind)
    }

    /// 129: `RTNL_FAMILY_IP6MR`, whose routes come with the others in some dumps.
    @Test(arguments: [0, 1, 28, 128, 129] as [UInt8]) func otherFamiliesAreNotRoutes(family: UInt8) {
        #expect(route(Bytes.route(family: family)) == nil)
    }

    @Test func anAttributeThatIsTooShortOrTooLongIsMissing() {
        #expect(route(Bytes.route(Bytes.attribute(6, [1, 2])))?.metric == 0)
        #expect(route(Bytes.route(Bytes.attribute(6, length: 64, [1, 0, 0, 0])))?.metric == 0)
        #expect(route(Bytes.route(Bytes.attribute(6, length: 3, [1, 0, 0, 0])))?.metric == 0)
    }

    // MARK: - Hostile bytes

    private var sample: [UInt8] {
        let hops = Bytes.hop(interface: 4, Bytes.attribute(5, [10, 0, 0, 1])) + Bytes.hop(interface: 5)
        let kind = Bytes.attribute(18 | 0x8000, Bytes.attribute(1, Array("veth".utf8) + [0]))
        return Bytes.message(
            16,
            Bytes.link(Bytes.attribute(3, Array("eth0".utf8)), Bytes.attribute(16, [6]), kind)
        )
            + Bytes.message(
                24,
                Bytes.route(Bytes.attribute(9, hops), Bytes.attribute(15, Bytes.octets(UInt32(1))))
            )
            + Bytes.message(2, Bytes.octets(Int32(-1)))
    }

    @Test func everyPrefixIsRead() {
        for count in 0...sample.count { _ = NetlinkParser.records(in: Array(sample.prefix(count))) }
        #expect(NetlinkParser.records(in: sample).count == 3)
    }

    /// Each octet replaced by each of a few values, two at a time now and then: nothing traps, and it ends.
    @Test func everyChangedOctetIsRead() {
        var count = 0
        for index in sample.indices {
            for value in [0, 1, 3, 4, 0x7F, 0x80, 0xFF] as [UInt8] {
                var bytes = sample
                bytes[index] = value
                bytes[(index * 7 + Int(value)) % bytes.count] ^= value
                count += NetlinkParser.records(in: bytes).count
            }
        }
        #expect(count > sample.count)
    }
}
