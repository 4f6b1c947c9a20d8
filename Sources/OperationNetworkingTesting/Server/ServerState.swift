internal import Foundation

/// The mutable state of a server, behind one lock.
struct ServerState: Sendable {
    var requests: [ReceivedRequest] = []
    /// The number of requests that `nextRequest` has returned.
    var requestsGivenOut = 0
    var answersEnded = 0
    var bodyBytesSent = 0
    var connectionsAccepted = 0
    /// The open connections by number.
    var sockets: [Int: Socket] = [:]
    var problems: [String] = []

    /// The script for requests that match no route.
    var player: ScriptPlayer
    var routes: [String: ScriptPlayer]
    var representation: Representation?
    var representations: [String: Representation] = [:]

    /// The gate at which stalled answers wait; replaced after every release.
    var stallGate = Gate()
    var stalls = 0
    var isStopped = false
    var threads = ServerThreads()

    init(player: ScriptPlayer, routes: [String: ScriptPlayer] = [:], representation: Representation? = nil) {
        self.player = player
        self.routes = routes
        self.representation = representation
    }

    /// Numbers and records `request`.
    mutating func record(_ request: ReceivedRequest) -> ReceivedRequest {
        var request = request
        request.number = requests.count
        requests.append(request)
        return request
    }

    /// Returns the script's reaction to a request to `path`.
    mutating func reaction(forPath path: String) -> ScriptPlayer.Reaction {
        routes[path]?.next() ?? player.next()
    }
}

/// The running threads of a server.
struct ServerThreads: Sendable {
    private var count = 0
    /// The threads that have begun to run.
    private var ids: Set<pthread_t> = []

    /// Called before a thread is started.
    mutating func willStart() {
        count += 1
    }

    mutating func didFailToStart() {
        count -= 1
    }

    /// Called on the thread.
    mutating func didStart() {
        ids.insert(pthread_self())
    }

    /// Called last on the thread.
    mutating func willEnd() {
        ids.remove(pthread_self())
        count -= 1
    }

    /// Whether all threads except `caller`, if it is one of them, have ended.
    func haveEnded(but caller: pthread_t) -> Bool { count == (ids.contains(caller) ? 1 : 0) }
}
