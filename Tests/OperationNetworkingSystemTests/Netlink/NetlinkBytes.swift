/// Datagrams as the kernel writes them, made octet by octet from netlink(7) and rtnetlink(7): with numbers of
/// their own, so that a wrong constant in the parser is seen.
enum NetlinkBytes {
    static func message(
        _ type: UInt16,
        flags: UInt16 = 0,
        sequence: UInt32 = 7,
        length: UInt32? = nil,
        _ body: [UInt8]
    ) -> [UInt8] {
        padded(
            octets(length ?? UInt32(16 + body.count)) + octets(type) + octets(flags) + octets(sequence)
                + octets(UInt32(0)) + body
        )
    }

    static func attribute(_ type: UInt16, length: UInt16? = nil, _ value: [UInt8]) -> [UInt8] {
        padded(octets(length ?? UInt16(4 + value.count)) + octets(type) + value)
    }

    /// `struct ifinfomsg`.
    static func link(
        family: UInt8 = 0,
        hardware: UInt16 = 1,
        index: UInt32 = 3,
        flags: UInt32 = 1,
        _ attributes: [UInt8]...
    ) -> [UInt8] {
        [family, 0] + octets(hardware) + octets(index) + octets(flags) + octets(UInt32(0))
            + attributes.flatMap { $0 }
    }

    /// `struct rtmsg`.
    static func route(
        family: UInt8 = 2,
        prefixLength: UInt8 = 0,
        table: UInt8 = 254,
        type: UInt8 = 1,
        flags: UInt32 = 0,
        _ attributes: [UInt8]...
    ) -> [UInt8] {
        [family, prefixLength, 0, 0, table, 3, 0, type] + octets(flags) + attributes.flatMap { $0 }
    }

    /// `struct rtnexthop`.
    static func hop(
        interface: UInt32,
        flags: UInt8 = 0,
        length: UInt16? = nil,
        _ attributes: [UInt8] = []
    ) -> [UInt8] {
        padded(octets(length ?? UInt16(8 + attributes.count)) + [flags, 0] + octets(interface) + attributes)
    }

    static func octets(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
}
