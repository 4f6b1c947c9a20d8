import COperationNetworking

/// The movement of a connection's bytes as the kernel knows it (tcp(7), `TCP_INFO` and `SIOCOUTQ`).
package struct SocketMovement: Hashable, Sendable {
    /// `nil`: unknown.
    package let secondsSinceReceived: Double?
    /// Bytes that were sent here and that the other side has not acknowledged.
    package let unacknowledged: Int
    /// Whether what was received last is a part of a TLS record, and may be anything.
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

    /// The age of the last byte that came, by the milliseconds that the kernel gives. One that does not count
    /// them, as that of some sandboxes, says 0 to all: it knows nothing, and nothing has just come.
    package static func secondsSinceReceived(
        _ received: UInt32,
        sent: UInt32,
        acknowledged: UInt32
    ) -> Double? {
        received | sent | acknowledged == 0 ? nil : Double(received) / 1000
    }
}
