internal import Foundation

/// All that changes in a server, for its one lock.
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

    /// The script for requests that no route takes.
    var player: ScriptPlayer
    var routes: [String: ScriptPlayer]
    var representation: Representation?
    var representations: [String: Representation] = [:]

    /// The gate at which stalled answers wait; another one after every release.
    var stallGate = Gate()
    var stalls = 0
    var isStopped = false
    var threads = ServerThreads()

    init(player: ScriptPlayer, routes: [String: ScriptPlayer] = [:], representation: Representation? = nil) {
        self.player = player
        self.routes = routes
        self.representation = representation
    }

    /// Appends `request`, numbered, to the record.
    mutating func record(_ request: ReceivedRequest) -> ReceivedRequest {
        var request = request
        request.number = requests.count
        requests.append(request)
        return request
    }

    /// The script's reaction to a request to `path`.
    mutating func cue(forPath path: String) -> ScriptPlayer.Cue {
        routes[path]?.next() ?? player.next()
    }
}

/// The threads of a server that were started and have not ended.
struct ServerThreads: Sendable {
    private var count = 0
    /// The threads that have begun.
    private var ids: Set<pthread_t> = []

    /// One is going to be started.
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

    /// Called on the thread, last of all.
    mutating func willEnd() {
        ids.remove(pthread_self())
        count -= 1
    }

    /// Whether all have ended but `caller`, if that is one of them.
    func haveEnded(but caller: pthread_t) -> Bool { count == (ids.contains(caller) ? 1 : 0) }
}
