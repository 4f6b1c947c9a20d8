import COperationNetworking

/// The movement of a connection's bytes as the kernel knows it (tcp(7), `TCP_INFO` and `SIOCOUTQ`).
package struct SocketMovement: Hashable, Sendable {
    /// `nil`: unknown.
    package let secondsSinceReceived: Double?
    /// Bytes that were sent here and that the other side has not acknowledged.
    package let unacknowledged: Int

    package init(secondsSinceReceived: Double?, unacknowledged: Int) {
        self.secondsSinceReceived = secondsSinceReceived
        self.unacknowledged = unacknowledged
    }

    init(of socket: Int32) {
        let milliseconds = csocket_since_received(socket)
        self.init(
            secondsSinceReceived: milliseconds < 0 ? nil : Double(milliseconds) / 1000,
            unacknowledged: max(0, Int(csocket_unacknowledged(socket)))
        )
    }
}
