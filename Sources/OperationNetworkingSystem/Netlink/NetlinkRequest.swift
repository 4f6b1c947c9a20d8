import COperationNetworking

/// A request to the kernel, encoded by ``bytes(sequence:)``; see rtnetlink(7).
package enum NetlinkRequest: Hashable, Sendable {
    /// All interfaces: a dump.
    case interfaces
    /// All routes of a family, of all tables: a dump.
    case routes(NetworkRoute.Family)
    /// The route that a packet without a mark would take.
    case route(RouteDestination)

    package func bytes(sequence: UInt32) -> [UInt8] {
        var body: [UInt8]
        let type: Int
        var flags = UInt16(NLM_F_REQUEST)
        switch self {
        case .interfaces:
            type = Int(RTM_GETLINK)
            flags |= Self.dump
            body = [UInt8](repeating: 0, count: MemoryLayout<ifinfomsg>.size)
        case .routes(let family):
            type = Int(RTM_GETROUTE)
            flags |= Self.dump
            body = [UInt8](repeating: 0, count: MemoryLayout<rtmsg>.size)
            body[0] = family.rawValue
        case .route(let destination):
            type = Int(RTM_GETROUTE)
            body = [UInt8](repeating: 0, count: MemoryLayout<rtmsg>.size)
            body[0] = destination.family.rawValue
            body[1] = UInt8(destination.address.bitCount)
            Self.append(UInt16(RTA_DST.rawValue), destination.address.octets, to: &body)
            if destination.interface != 0 {
                Self.append(UInt16(RTA_OIF.rawValue), Self.octets(destination.interface), to: &body)
            }
        }
        let length = UInt32(MemoryLayout<nlmsghdr>.size + body.count)
        // The kernel fills in the socket's port.
        return Self.octets(length) + Self.octets(UInt16(type)) + Self.octets(flags) + Self.octets(sequence)
            + Self.octets(UInt32(0)) + body
    }

    /// `NLM_F_DUMP`.
    private static let dump = UInt16(NLM_F_ROOT) | UInt16(NLM_F_MATCH)

    /// Each value here has a multiple of four octets.
    private static func append(_ type: UInt16, _ value: [UInt8], to body: inout [UInt8]) {
        body += octets(UInt16(MemoryLayout<rtattr>.size + value.count)) + octets(type) + value
    }

    private static func octets(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }
}

/// A destination address.
package struct RouteDestination: Hashable, Sendable {
    package var address: InternetAddress
    /// The interface of a link-local address's zone; 0 for any.
    package var interface: UInt32

    package init(_ address: InternetAddress, interface: UInt32 = 0) {
        self.address = address
        self.interface = interface
    }

    var family: NetworkRoute.Family { address.octets.count == 4 ? .ipv4 : .ipv6 }
}
