/// A route of the kernel; see rtnetlink(7) and ip-route(8).
package struct NetworkRoute: Hashable, Sendable {
    package enum Family: UInt8, Sendable, CaseIterable {
        /// `AF_INET`.
        case ipv4 = 2
        /// `AF_INET6`.
        case ipv6 = 10
    }

    /// What happens to a packet that takes the route.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// The packet leaves by an interface.
        case unicast
        /// The packet is for this machine.
        case local
        /// The packet goes to several hosts: broadcast, anycast, multicast.
        case several
        /// The packet is dropped: unreachable, blackhole, prohibit.
        case refusing
        /// The lookup continues in the next table.
        case throwing
        case other
    }

    /// An interface by which packets leave; a multipath route has several.
    package struct Hop: Hashable, Sendable {
        /// 0 if the kernel names none.
        package var interface: UInt32
        /// Whether it is not in use: `RTNH_F_DEAD`.
        package var isDead: Bool

        package init(interface: UInt32, isDead: Bool = false) {
            self.interface = interface
            self.isDead = isDead
        }
    }

    /// The table in which packets without a mark are looked up.
    package static let mainTable: UInt32 = 254
    /// The table that is looked up after that.
    package static let defaultTable: UInt32 = 253

    package var family: Family
    package var kind: Kind
    package var table: UInt32
    /// The length of the destination's prefix; 0: a default route.
    package var prefixLength: UInt8
    /// The lowest is used.
    package var metric: UInt32
    /// Empty if the kernel names a nexthop object without its hops.
    package var hops: [Hop]

    package init(
        family: Family,
        kind: Kind = .unicast,
        table: UInt32 = Self.mainTable,
        prefixLength: UInt8 = 0,
        metric: UInt32 = 0,
        hops: [Hop]
    ) {
        self.family = family
        self.kind = kind
        self.table = table
        self.prefixLength = prefixLength
        self.metric = metric
        self.hops = hops
    }
}
