/// A route of the kernel; see rtnetlink(7) and ip-route(8).
package struct NetworkRoute: Hashable, Sendable {
    package enum Family: UInt8, Sendable, CaseIterable {
        /// `AF_INET`.
        case ipv4 = 2
        /// `AF_INET6`.
        case ipv6 = 10
    }

    /// The fate of a packet that takes the route.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// The packet leaves by an interface.
        case unicast
        /// The packet is for this machine.
        case local
        /// The packet goes to several: broadcast, anycast, multicast.
        case several
        /// The packet is dropped: unreachable, blackhole, prohibit.
        case refusing
        /// The next table is asked.
        case throwing
        case other
    }

    /// An interface by which packets leave; a multipath route has several.
    package struct Hop: Hashable, Sendable {
        /// 0: the kernel named none.
        package var interface: UInt32
        /// Whether the kernel does not use it: `RTNH_F_DEAD`.
        package var isDead: Bool

        package init(interface: UInt32, isDead: Bool = false) {
            self.interface = interface
            self.isDead = isDead
        }
    }

    /// The table that packets without a mark are looked up in.
    package static let mainTable: UInt32 = 254
    /// The table that is asked after that.
    package static let defaultTable: UInt32 = 253

    package var family: Family
    package var kind: Kind
    package var table: UInt32
    /// The length of the destination's prefix; 0: a default route.
    package var prefixLength: UInt8
    /// The lowest is used.
    package var metric: UInt32
    /// Empty: the kernel named a nexthop object, and not where it leads.
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
