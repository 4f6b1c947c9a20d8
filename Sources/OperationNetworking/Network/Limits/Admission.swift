internal import OperationNetworkingSystem

/// Decides which transfers may start. A pure value, without side effects.
///
/// A *server* is a scheme, host and port, for the transfers of one ``ConnectionLimit``. It has at most as
/// many active connections as its limit. Waiting transfers start by priority, then in order; a server that is
/// at its limit does not hold up other servers.
///
/// A *group* consists of the transfers to a server that may share HTTP/2 connections, or of those that share
/// none. The state of its connections determines how many may start:
///
/// | known            | may start                                                                        |
/// |------------------|----------------------------------------------------------------------------------|
/// | shares nothing   | while the server has a connection left                                           |
/// | not yet known    | the first; the others once it is connected, or has failed                        |
/// | HTTP/1.1, failed | while the server has a connection left                                           |
/// | HTTP/2           | as many as its connections have been seen to carry; beyond that, one as a probe  |
///
/// A transfer that has started counts as a separate connection until its connection is known. So the limit
/// also holds for an HTTP/2 server that accepts few streams: a transfer that finds no room opens a
/// connection, and if the server has none left, it goes back to its place in the line.
///
/// Each event costs constant time per group of its server, and the logarithm of the number of waiting groups.
struct Admission {
    /// The maximum number of groups without a transfer that are kept.
    private static let maximumIdleGroups = 256

    private struct Member {
        var group: Int
        let rank: WaitingRank
        let raisedLimit: Int
        var phase: Phase
    }

    private enum Phase: Hashable {
        case waiting
        /// `isExtra` means that the server had no connection left, but seemed to have room on an open one.
        case starting(isExtra: Bool)
        case connected(ConnectionID)
        /// No byte can be transferred, for a reason on this side.
        case held(ConnectionID)
    }

    private struct Server {
        let key: ServerKey
        var limit: Int
        /// The highest raised limit of the present transfers; 0 if there is none.
        var raisedLimit = 0
        /// The number of transfers with each raised limit. There are few different ones.
        var raisedLimits: [Int: Int] = [:]
        /// The number of active connections.
        var connections = 0
        /// The number of started transfers without a connection yet.
        var starting = 0
        var groups: [Int] = []

        var left: Int { max(limit, raisedLimit) - connections - starting }

        mutating func raise(to limit: Int) {
            guard limit > 0 else { return }
            raisedLimits[limit, default: 0] += 1
            raisedLimit = max(raisedLimit, limit)
        }

        /// Removes a transfer with this raised limit.
        mutating func lower(from limit: Int) {
            guard let count = raisedLimits[limit] else { return }
            raisedLimits[limit] = count > 1 ? count - 1 : nil
            if count == 1 { raisedLimit = raisedLimits.keys.max() ?? 0 }
        }

        mutating func take(_ old: Server) {
            (limit, raisedLimit, raisedLimits) = (old.limit, old.raisedLimit, old.raisedLimits)
            (connections, starting) = (old.connections, old.starting)
        }
    }

    private struct ServerKey: Hashable {
        let limit: ConnectionLimit
        let origin: Origin
    }

    private struct Group {
        /// What is known about the group's connections.
        enum ConnectionState: Hashable {
            case none
            /// Each transfer needs a separate connection.
            case single
            case shared
        }

        let place: TransferPlace
        let server: Int
        var connectionState: ConnectionState
        var line = WaitingLine()
        var members = 0
        var starting = 0
        /// The number of the transfer in ``Admission/heads``.
        var offered: UInt64?
        var connections = SharedConnections()

        mutating func take(_ old: Group) {
            (connectionState, line, members, starting) = (
                old.connectionState, old.line, old.members, old.starting
            )
            connections = old.connections
        }
    }

    private var members = TransferTable<Member>()
    private var servers: [Server] = []
    private var groups: [Group] = []
    private var serverOf: [ServerKey: Int] = [:]
    private var groupOf: [TransferPlace: Int] = [:]
    private var lastGroup = 0
    private var idleGroups = 0
    private var lastNumber: UInt64 = 0
    /// The first transfer of each group that may start one. An entry may be out of date.
    private var heads = BinaryHeap<WaitingRank, Int>()
    private var looks = StepCount()
    /// The number of started transfers without a connection yet.
    private(set) var startingCount = 0
    /// The number of started transfers that are neither held nor ended.
    private(set) var activeCount = 0
    private(set) var waitingCount = 0

    /// The number of accesses to groups and transfers, and of comparisons.
    var steps: Int { looks.value + heads.steps.value + groups.reduce(0) { $0 + $1.line.steps } }

    /// Whether ``next()`` may return a transfer.
    var mayHaveNext: Bool { !heads.isEmpty }

    // MARK: - Events

    /// Adds a transfer that is to be started.
    ///
    /// - Parameters:
    ///   - id: the transfer.
    ///   - place: its server and group.
    ///   - priority: its priority among the waiting transfers.
    ///   - raisedLimit: the server's limit while the transfer is present, if it is higher.
    ///   - rank: its place in the line, if it already had one.
    /// - Returns: its place in the line.
    @discardableResult
    mutating func append(
        _ id: TransferID,
        to place: TransferPlace,
        priority: TransferPriority = .normal,
        raisedLimit: Int = 0,
        rank: WaitingRank? = nil
    ) -> WaitingRank {
        lastNumber += 1
        let rank = rank ?? WaitingRank(priority: priority, number: lastNumber)
        let group = group(place)
        let server = groups[group].server
        if groups[group].members == 0 { idleGroups -= 1 }
        members[id] = Member(group: group, rank: rank, raisedLimit: raisedLimit, phase: .waiting)
        groups[group].members += 1
        groups[group].line.insert(id, rank)
        waitingCount += 1
        servers[server].raise(to: raisedLimit)
        servers[server].limit = place.limit.value
        offer(group)
        return rank
    }

    /// Returns the next transfer to start, or `nil` if none may start. It counts as started;
    /// ``remove(_:hasFailed:)`` has to follow.
    mutating func next() -> TransferID? {
        while let (key: offered, value: group) = heads.removeFirst() {
            guard group < groups.count, groups[group].offered == offered.number else { continue }
            groups[group].offered = nil
            guard mayStart(group), let (id, rank) = groups[group].line.first() else { continue }
            guard rank.number == offered.number else {
                offer(group)
                continue
            }
            start(id, rank, group)
            offer(group)
            return id
        }
        return nil
    }

    private mutating func start(_ id: TransferID, _ rank: WaitingRank, _ group: Int) {
        let server = groups[group].server
        groups[group].line.removeFirst(rank.priority)
        members[id]?.phase = .starting(isExtra: servers[server].left <= 0)
        groups[group].starting += 1
        servers[server].starting += 1
        waitingCount -= 1
        startingCount += 1
        activeCount += 1
    }

    /// Records the connection, or a change of connection, of a started transfer.
    ///
    /// - Parameters:
    ///   - id: the transfer.
    ///   - connection: its current connection.
    ///   - mayGoBack: whether it may go back to the line and abandon this connection.
    /// - Returns: `false` if it has to go back, because the server would exceed its limit.
    ///   ``remove(_:hasFailed:)`` has to follow.
    mutating func didConnect(_ id: TransferID, to connection: ConnectionID, mayGoBack: Bool = true) -> Bool {
        guard let member = members[id] else { return true }
        let group = member.group
        let server = groups[group].server
        var isExtra = false
        switch member.phase {
        case .waiting, .held, .connected(connection):
            return true
        case .starting(let wasExtra):
            isExtra = wasExtra
            startingCount -= 1
            groups[group].starting -= 1
            servers[server].starting -= 1
        case .connected(let old):
            // The old connection died, or refused the transfer. All of its transfers may come with new
            // connections.
            isExtra = true
            flee(old, group)
        }
        if groups[group].place.sharing != nil {
            groups[group].connectionState = connection.isShared ? .shared : .single
        }
        let isNew = join(connection, group)
        if isNew, isExtra, mayGoBack, servers[server].left < 0 {
            leave(connection, group)
            startingCount += 1
            groups[group].starting += 1
            servers[server].starting += 1
            members[id]?.phase = .starting(isExtra: true)
            return false
        }
        members[id]?.phase = .connected(connection)
        offerAll(server)
        return true
    }

    /// Records that no byte of a connected transfer can be transferred, for a reason on this side: its
    /// connection does not count.
    mutating func didHold(_ id: TransferID) {
        guard let member = members[id], case .connected(let connection) = member.phase else { return }
        members[id]?.phase = .held(connection)
        activeCount -= 1
        leave(connection, member.group)
        offerAll(groups[member.group].server)
    }

    /// Records that bytes can be transferred again. The transfer has its connection and does not wait; others
    /// do, until the server is below its limit.
    mutating func didResume(_ id: TransferID) {
        guard let member = members[id], case .held(let connection) = member.phase else { return }
        members[id]?.phase = .connected(connection)
        activeCount += 1
        _ = join(connection, member.group)
    }

    /// Removes a transfer that has ended, or is no longer to be started.
    ///
    /// - Parameters:
    ///   - id: the transfer.
    ///   - hasFailed: whether it ended by itself. If it had no connection, the others all try at once: one
    ///     after another, each might wait for its timeout.
    mutating func remove(_ id: TransferID, hasFailed: Bool = false) {
        guard let member = members.remove(id) else { return }
        let group = member.group
        let server = groups[group].server
        switch member.phase {
        case .waiting:
            waitingCount -= 1
            groups[group].line.remove(id)
        case .starting:
            activeCount -= 1
            startingCount -= 1
            groups[group].starting -= 1
            servers[server].starting -= 1
            if hasFailed { groups[group].connectionState = .single }
        case .connected(let connection):
            activeCount -= 1
            leave(connection, group)
        case .held:
            break
        }
        groups[group].members -= 1
        servers[server].lower(from: member.raisedLimit)
        offerAll(server)
        if groups[group].members == 0 { didBecomeIdle(group) }
    }

    /// Applies the changed value of a ``ConnectionLimit``.
    mutating func limitsDidChange() {
        looks.add(servers.count)
        for server in servers.indices {
            servers[server].limit = servers[server].key.limit.value
            offerAll(server)
        }
    }

    // MARK: - Connections

    /// - Returns: whether the connection was not active before.
    private mutating func join(_ connection: ConnectionID, _ group: Int) -> Bool {
        let isNew = connection.isShared ? groups[group].connections.join(connection) : true
        if isNew { servers[groups[group].server].connections += 1 }
        return isNew
    }

    private mutating func leave(_ connection: ConnectionID, _ group: Int) {
        let isLast = connection.isShared ? groups[group].connections.leave(connection) : true
        if isLast { servers[groups[group].server].connections -= 1 }
    }

    private mutating func flee(_ connection: ConnectionID, _ group: Int) {
        let isLast = connection.isShared ? groups[group].connections.flee(connection) : true
        if isLast { servers[groups[group].server].connections -= 1 }
    }

    private func mayStart(_ index: Int) -> Bool {
        let left = servers[groups[index].server].left
        switch groups[index].connectionState {
        case .none: return left > 0 && groups[index].starting == 0
        case .single: return left > 0
        case .shared:
            let starting = groups[index].starting
            return groups[index].connections.provenRoom > starting
                || starting == 0 && (left > 0 || groups[index].connections.mayHaveRoom)
        }
    }

    // MARK: - Groups

    private mutating func offerAll(_ server: Int) {
        looks.add(servers[server].groups.count)
        for group in servers[server].groups where groups[group].line.count > 0 { offer(group) }
    }

    private mutating func offer(_ group: Int) {
        guard groups[group].line.count > 0, mayStart(group), let (_, rank) = groups[group].line.first(),
            groups[group].offered != rank.number
        else { return }
        groups[group].offered = rank.number
        heads.insert(group, rank)
    }

    private mutating func group(_ place: TransferPlace) -> Int {
        // Most transfers go to the same place as the last one; comparing costs less than hashing.
        if groups.indices.contains(lastGroup), groups[lastGroup].place == place { return lastGroup }
        lastGroup = groupOf[place] ?? makeGroup(place)
        return lastGroup
    }

    private mutating func makeGroup(_ place: TransferPlace) -> Int {
        let key = ServerKey(limit: place.limit, origin: place.origin)
        let server = serverOf[key] ?? servers.count
        if server == servers.count {
            serverOf[key] = server
            servers.append(Server(key: key, limit: place.limit.value))
        }
        groupOf[place] = groups.count
        servers[server].groups.append(groups.count)
        groups.append(Group(place: place, server: server, connectionState: Self.first(place)))
        idleGroups += 1
        return groups.count - 1
    }

    private static func first(_ place: TransferPlace) -> Group.ConnectionState {
        place.sharing == nil ? .single : .none
    }

    /// Forgets what is known about the group, which may be out of date when the next transfer comes.
    private mutating func didBecomeIdle(_ group: Int) {
        groups[group].connectionState = Self.first(groups[group].place)
        groups[group].connections = SharedConnections()
        idleGroups += 1
        guard idleGroups > Self.maximumIdleGroups, idleGroups > groups.count / 2 else { return }
        forgetIdleGroups()
    }

    /// Costs time for every group and transfer, so it is only done when half of the groups are idle.
    private mutating func forgetIdleGroups() {
        looks.add(groups.count + members.count)
        var renamed = Admission()
        renamed.lastNumber = lastNumber
        var numbers = [Int](repeating: 0, count: groups.count)
        for (old, group) in groups.enumerated() where group.members > 0 {
            let new = renamed.group(group.place)
            numbers[old] = new
            let server = renamed.groups[new].server
            renamed.servers[server].take(servers[group.server])
            renamed.groups[new].take(group)
            renamed.idleGroups -= 1
        }
        members.changeAll { $0.group = numbers[$0.group] }
        (groups, servers) = (renamed.groups, renamed.servers)
        (groupOf, serverOf) = (renamed.groupOf, renamed.serverOf)
        heads = BinaryHeap()
        idleGroups = 0
        for server in servers.indices { offerAll(server) }
    }
}
