internal import OperationNetworkingSystem

/// The HTTP/2 connections that carry transfers of one group, and how many more they may carry. A value.
///
/// libcurl does not report how many streams a server accepts, so that is observed: a connection is assumed to
/// carry as many as another one has carried. If a new transfer did not get a connection that seemed to have
/// room, that is full until one of its transfers ends.
///
/// Before a server has announced its limit, libcurl may exceed it. The server refuses those streams (RFC 9113
/// §8.7), and libcurl repeats them over separate connections and stops using the old one. The number left on
/// the old one is then the maximum for all, and is doubled after a while without refusals: the old one may
/// also have been about to close.
struct SharedConnections {
    /// libcurl's maximum per connection.
    private static let maximumStreams = 100
    /// The number of ends without a refusal after which the maximum is doubled.
    private static let endsUntilIncrease = 100

    private struct Load {
        let connection: ConnectionID
        var carried: Int
        var isFull = false
    }

    /// The few connections that carry transfers.
    private var loads: [Load] = []
    private var peak = 0
    private var maximum = maximumStreams
    /// The number of ends since ``maximum`` changed.
    private var ends = 0

    /// The number of further transfers that are certain to find room.
    var provenRoom: Int {
        loads.reduce(0) { $0 + ($1.isFull ? 0 : max(0, peak - $1.carried)) }
    }

    /// Whether one more transfer may find room.
    var mayHaveRoom: Bool {
        loads.contains { !$0.isFull && $0.carried < maximum }
    }

    /// Records that a transfer uses `connection`.
    /// - Returns: whether it is the first one on it.
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

    /// Records that a transfer had to leave `connection` for another one.
    /// - Returns: whether it was the last one on it.
    mutating func flee(_ connection: ConnectionID) -> Bool {
        let isLast = leave(connection)
        maximum = max(1, loads.first { $0.connection == connection }?.carried ?? 1)
        peak = min(peak, maximum)
        ends = 0
        return isLast
    }

    /// Records that a transfer no longer uses `connection`.
    /// - Returns: whether it was the last one on it.
    mutating func leave(_ connection: ConnectionID) -> Bool {
        guard let index = loads.firstIndex(where: { $0.connection == connection }) else { return false }
        loads[index].carried -= 1
        loads[index].isFull = false
        ends += 1
        if ends >= Self.endsUntilIncrease, maximum < Self.maximumStreams {
            maximum = min(Self.maximumStreams, 2 * maximum)
            ends = 0
        }
        guard loads[index].carried == 0 else { return false }
        loads.remove(at: index)
        return true
    }
}
