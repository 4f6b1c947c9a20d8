import COperationNetworking

/// Parses datagrams of a netlink socket; see netlink(7). Every length is checked, so any bytes are safe to
/// parse.
///
/// Messages and attributes begin at multiples of four octets; numbers are in host byte order. An attribute
/// that is too short counts as missing.
package struct NetlinkParser {
    /// A part of the datagram, by offsets.
    private typealias Piece = Range<Int>

    private let bytes: [UInt8]

    /// Returns the messages of one datagram, in order. If the datagram is invalid, the last one is
    /// ``NetlinkRecord/Content/malformed``.
    package static func records(in bytes: [UInt8]) -> [NetlinkRecord] {
        NetlinkParser(bytes: bytes).records()
    }

    private func records() -> [NetlinkRecord] {
        var records: [NetlinkRecord] = []
        var offset = 0
        while offset < bytes.count {
            guard let length = number(at: offset, as: UInt32.self).map(Int.init(_:)),
                let type = number(at: offset + 4, as: UInt16.self),
                let flags = number(at: offset + 6, as: UInt16.self),
                let sequence = number(at: offset + 8, as: UInt32.self),
                length >= Self.headerLength, length <= bytes.count - offset
            else {
                records.append(NetlinkRecord(sequence: 0, isInterrupted: false, content: .malformed))
                break
            }
            records.append(
                NetlinkRecord(
                    sequence: sequence,
                    isInterrupted: flags & UInt16(NLM_F_DUMP_INTR) != 0,
                    content: content(Int(type), offset + Self.headerLength..<offset + length)
                )
            )
            offset += Self.aligned(length)
        }
        return records
    }

    private func content(_ type: Int, _ body: Piece) -> NetlinkRecord.Content {
        switch type {
        case Int(NLMSG_NOOP): .other
        case Int(NLMSG_ERROR): .acknowledgement(code: errorCode(body))
        case Int(NLMSG_DONE): .done(code: body.isEmpty ? 0 : errorCode(body))
        case Int(NLMSG_OVERRUN): .overrun
        case Int(RTM_NEWLINK): interface(body).map { .interface($0) } ?? .other
        case Int(RTM_DELLINK): interface(body) == nil ? .other : .change
        case Int(RTM_NEWADDR), Int(RTM_DELADDR), Int(RTM_NEWNEXTHOP), Int(RTM_DELNEXTHOP): .change
        case Int(RTM_NEWRULE), Int(RTM_DELRULE): .rule
        case Int(RTM_NEWROUTE): route(body).map { .route($0) } ?? .other
        case Int(RTM_DELROUTE): route(body).map { .routeGone($0) } ?? .other
        default: .other
        }
    }

    /// The kernel writes a negative errno; any other value becomes `EPROTO`.
    private func errorCode(_ body: Piece) -> Int32 {
        guard let code = number(in: body, at: 0, as: Int32.self), code <= 0, code > .min else {
            return EPROTO
        }
        return -code
    }

    // MARK: - Links

    /// `struct ifinfomsg` and its attributes. A bridge reports its ports by the same messages with a separate
    /// family: a removed port still exists.
    private func interface(_ body: Piece) -> NetworkInterface? {
        guard number(in: body, at: 0, as: UInt8.self) == 0,
            let hardware = number(in: body, at: 2, as: UInt16.self),
            let index = number(in: body, at: 4, as: UInt32.self),
            let flags = number(in: body, at: 8, as: UInt32.self),
            body.count >= Self.linkLength
        else { return nil }
        var interface = NetworkInterface(
            index: index,
            name: "",
            isUp: flags & Self.isEnabledFlag != 0,
            isLoopback: flags & Self.isLoopbackFlag != 0,
            isWWAN: hardware == UInt16(ARPHRD_PPP) || hardware == UInt16(ARPHRD_RAWIP)
        )
        forEachAttribute(in: body.dropFirst(Self.linkLength)) { type, value in
            switch type {
            case Int(IFLA_IFNAME):
                interface.name = text(value)
            case Int(IFLA_OPERSTATE):
                if let state = number(in: value, at: 0, as: UInt8.self), Self.downStates.contains(state) {
                    interface.isUp = false
                }
            default:
                break
            }
        }
        return interface
    }

    // MARK: - Routes

    /// `struct rtmsg` and its attributes.
    private func route(_ body: Piece) -> NetworkRoute? {
        guard let family = number(in: body, at: 0, as: UInt8.self).flatMap(NetworkRoute.Family.init),
            let prefixLength = number(in: body, at: 1, as: UInt8.self),
            let table = number(in: body, at: 4, as: UInt8.self),
            let type = number(in: body, at: 7, as: UInt8.self),
            let flags = number(in: body, at: 8, as: UInt32.self),
            body.count >= Self.routeLength
        else { return nil }
        let isDead = flags & UInt32(RTNH_F_DEAD) != 0
        var route = NetworkRoute(
            family: family,
            kind: Self.kind(type),
            table: UInt32(table),
            prefixLength: prefixLength,
            hops: []
        )
        var hasNexthopObject = false
        forEachAttribute(in: body.dropFirst(Self.routeLength)) { type, value in
            switch type {
            case Int(RTA_TABLE.rawValue):
                route.table = number(in: value, at: 0, as: UInt32.self) ?? route.table
            case Int(RTA_PRIORITY.rawValue):
                route.metric = number(in: value, at: 0, as: UInt32.self) ?? route.metric
            case Int(RTA_OIF.rawValue):
                guard let interface = number(in: value, at: 0, as: UInt32.self) else { return }
                route.hops.append(NetworkRoute.Hop(interface: interface, isDead: isDead))
            case Int(RTA_MULTIPATH.rawValue):
                route.hops += hops(value)
            case Int(RTA_NH_ID.rawValue):
                hasNexthopObject = true
            default:
                break
            }
        }
        if route.hops.isEmpty, !hasNexthopObject {
            route.hops = [NetworkRoute.Hop(interface: 0, isDead: isDead)]
        }
        return route
    }

    /// `struct rtnexthop`, each with its own attributes.
    private func hops(_ value: Piece) -> [NetworkRoute.Hop] {
        var hops: [NetworkRoute.Hop] = []
        var rest = value
        while let length = number(in: rest, at: 0, as: UInt16.self).map(Int.init(_:)),
            let flags = number(in: rest, at: 2, as: UInt8.self),
            let interface = number(in: rest, at: 4, as: UInt32.self),
            length >= Self.hopLength, length <= rest.count
        {
            hops.append(
                NetworkRoute.Hop(interface: interface, isDead: UInt32(flags) & UInt32(RTNH_F_DEAD) != 0)
            )
            rest = rest.dropFirst(Self.aligned(length))
        }
        return hops
    }

    private static func kind(_ type: UInt8) -> NetworkRoute.Kind {
        switch Int(type) {
        case Int(RTN_UNICAST): .unicast
        case Int(RTN_LOCAL): .local
        case Int(RTN_BROADCAST), Int(RTN_ANYCAST), Int(RTN_MULTICAST): .several
        case Int(RTN_UNREACHABLE), Int(RTN_BLACKHOLE), Int(RTN_PROHIBIT): .refusing
        case Int(RTN_THROW): .throwing
        default: .other
        }
    }

    // MARK: - Attributes

    private func forEachAttribute(in piece: Piece, _ body: (_ type: Int, _ value: Piece) -> Void) {
        var rest = piece
        while let length = number(in: rest, at: 0, as: UInt16.self).map(Int.init(_:)),
            let type = number(in: rest, at: 2, as: UInt16.self),
            length >= Self.attributeLength, length <= rest.count
        {
            let start = rest.lowerBound
            body(Int(type) & Self.attributeTypeMask, start + Self.attributeLength..<start + length)
            rest = rest.dropFirst(Self.aligned(length))
        }
    }

    /// Text up to a terminating zero, if any.
    private func text(_ value: Piece) -> String {
        String(decoding: bytes[value].prefix { $0 != 0 }, as: UTF8.self)
    }

    private func number<Number: FixedWidthInteger & BitwiseCopyable>(
        in piece: Piece,
        at offset: Int,
        as type: Number.Type
    ) -> Number? {
        guard piece.count >= offset + MemoryLayout<Number>.size else { return nil }
        return number(at: piece.lowerBound + offset, as: type)
    }

    private func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type)
        -> Number?
    {
        guard bytes.count >= offset + MemoryLayout<Number>.size else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }

    /// Rounds up to a multiple of four, for messages and attributes.
    private static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

    private static let headerLength = MemoryLayout<nlmsghdr>.size
    private static let linkLength = MemoryLayout<ifinfomsg>.size
    private static let routeLength = MemoryLayout<rtmsg>.size
    private static let hopLength = MemoryLayout<rtnexthop>.size
    private static let attributeLength = MemoryLayout<rtattr>.size
    /// Without `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`.
    private static let attributeTypeMask = 0x3FFF
    /// `IFF_UP` and `IFF_LOOPBACK`.
    private static let isEnabledFlag: UInt32 = 1
    private static let isLoopbackFlag: UInt32 = 8
    /// `IF_OPER_NOTPRESENT` to `IF_OPER_DORMANT`.
    private static let downStates: ClosedRange<UInt8> = 1...5
}
