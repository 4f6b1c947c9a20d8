internal import OperationNetworkingSystem

/// The connections of HTTP/2 that carry transfers of one group, and how many more they may take. A value.
///
/// libcurl does not say how many streams a server takes, so it is seen: what one connection has carried,
/// another one is taken to carry, too. One that a newcomer did not get, although it seemed to have room, is
/// full until it loses one.
///
/// Before a server has said how many it takes, libcurl may send more. It refuses those (RFC 9113 §8.7), and
/// libcurl asks again over a connection of their own, and gives up the old one. What the old one has kept is
/// then the most for all, and twice that when that went well for a while: the old one may also have been
/// about to close.
struct SharedConnections {
    /// libcurl puts no more on one.
    private static let maximumStreams = 100
    /// The number of ends without a refusal after which a connection is tried with twice as many streams.
    private static let patience = 100

    private struct Load {
        let connection: ConnectionID
        var carried: Int
        var isFull = false
    }

    /// Connections that carry something; a few.
    private var loads: [Load] = []
    private var peak = 0
    private var maximum = maximumStreams
    /// Since ``maximum`` changed.
    private var ends = 0

    /// The number of further transfers that are certain to find room.
    var provenRoom: Int {
        loads.reduce(0) { $0 + ($1.isFull ? 0 : max(0, peak - $1.carried)) }
    }

    /// Whether one more may find room.
    var mayHaveRoom: Bool {
        loads.contains { !$0.isFull && $0.carried < maximum }
    }

    /// A transfer goes over `connection`.
    /// - Returns: whether it is the first there.
    mutating func join(_ connection: ConnectionID) -> Bool {
        guard let index = loads.firstIndex(where: { $0.connection == connection }) else {
            for index in loads.indices { loads[index].isFull = true }
            loads.append(Load(connection: connection, carried: 1))
            peak = max(peak, 1)
            return true
        }
        loads[index].carried += 1
        loads[index].isFull = false
        peak = max(peak, min(maximum, loads[index].carried))
        return false
    }

    /// A transfer had to leave `connection` for another one.
    /// - Returns: whether it was the last one there.
    mutating func flee(_ connection: ConnectionID) -> Bool {
        let isLast = leave(connection)
        maximum = max(1, loads.first { $0.connection == connection }?.carried ?? 1)
        peak = min(peak, maximum)
        ends = 0
        return isLast
    }

    /// A transfer that went over `connection` does so no longer.
    /// - Returns: whether it was the last one there.
    mutating func leave(_ connection: ConnectionID) -> Bool {
        guard let index = loads.firstIndex(where: { $0.connection == connection }) else { return false }
        loads[index].carried -= 1
        loads[index].isFull = false
        ends += 1
        if ends >= Self.patience, maximum < Self.maximumStreams {
            maximum = min(Self.maximumStreams, 2 * maximum)
            ends = 0
        }
        guard loads[index].carried == 0 else { return false }
        loads.remove(at: index)
        return true
    }
}
