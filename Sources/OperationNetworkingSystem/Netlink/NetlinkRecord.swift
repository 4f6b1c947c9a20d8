/// A message of rtnetlink(7), as far as this library needs it.
package struct NetlinkRecord: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case interface(NetworkInterface)
        case interfaceGone(index: UInt32)
        case route(NetworkRoute)
        case routeGone(NetworkRoute)
        /// An address came, went or changed.
        case address
        /// A nexthop object, which routes name in place of their hops, came, went or changed.
        case nexthop
        /// A rule that says which table a packet is looked up in came or went.
        case rule
        /// The end of a dump. `code`: an errno that cut it short, or 0.
        case done(code: Int32)
        /// The end of a request. `code`: an errno, or 0: it was done.
        case acknowledgement(code: Int32)
        /// Messages were lost: everything has to be read again.
        case overrun
        /// The bytes from here on are no message: the same.
        case malformed
        /// Any other message, such as a bridge's about its ports.
        case other
    }

    /// The number of the request that it answers; 0 for a change.
    package let sequence: UInt32
    /// Whether a dump that it belongs to is not one moment's: `NLM_F_DUMP_INTR`.
    package let isInterrupted: Bool
    package let content: Content
}
