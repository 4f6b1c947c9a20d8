import COperationNetworking

/// The kernel's state of a connection (tcp(7), `TCP_INFO` and `SIOCOUTQ`).
package struct SocketMovement: Hashable, Sendable {
    /// `nil` if unknown.
    package let secondsSinceReceived: Double?
    /// The sent bytes that the peer has not acknowledged.
    package let unacknowledged: Int
    /// Whether the last received bytes are a partial TLS record, whose content is unknown.
    package let isInsideRecord: Bool

    package init(secondsSinceReceived: Double?, unacknowledged: Int, isInsideRecord: Bool = false) {
        self.secondsSinceReceived = secondsSinceReceived
        self.unacknowledged = unacknowledged
        self.isInsideRecord = isInsideRecord
    }

    init(of socket: Int32, isInsideRecord: Bool) {
        var ages = csocket_ages()
        let areKnown = csocket_ages(socket, &ages) == 0
        self.init(
            secondsSinceReceived: areKnown
                ? Self.secondsSinceReceived(ages.received, sent: ages.sent, acknowledged: ages.acknowledged)
                : nil,
            unacknowledged: Self.unacknowledged(of: socket),
            isInsideRecord: isInsideRecord
        )
    }

    static func unacknowledged(of socket: Int32) -> Int { max(0, Int(csocket_unacknowledged(socket))) }

    /// Returns the age of the last received byte from the kernel's milliseconds. Kernels that do not count
    /// them, as in some sandboxes, report 0 for everything, which means unknown.
    package static func secondsSinceReceived(
        _ received: UInt32,
        sent: UInt32,
        acknowledged: UInt32
    ) -> Double? {
        received | sent | acknowledged == 0 ? nil : Double(received) / 1000
    }
}
