/// A message of rtnetlink(7), reduced to what the library needs.
package struct NetlinkRecord: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case interface(NetworkInterface)
        case route(NetworkRoute)
        case routeGone(NetworkRoute)
        /// An interface went; an address, or a nexthop object, which routes name in place of their hops, came,
        /// went or changed.
        case change
        /// A rule that says which table a packet is looked up in came or went.
        case rule
        /// The end of a dump. `code`: the errno that ended it early, or 0.
        case done(code: Int32)
        /// The end of a request. `code`: an errno, or 0 for success.
        case acknowledgement(code: Int32)
        /// Messages were lost: everything has to be read again.
        case overrun
        /// The rest of the datagram is invalid: everything has to be read again.
        case malformed
        /// Any other message, such as one about a bridge's ports.
        case other
    }

    /// The number of the request that is answered; 0 for a notification.
    package let sequence: UInt32
    /// Whether its dump is inconsistent because of changes: `NLM_F_DUMP_INTR`.
    package let isInterrupted: Bool
    package let content: Content
}
