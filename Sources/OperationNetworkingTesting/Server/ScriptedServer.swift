public import Foundation

/// An HTTP/1.1 server in this process that does what a test tells it to, right or wrong.
///
/// It listens on a free port of 127.0.0.1 from `init` until ``stop()``, or until the last reference to it
/// goes away: a test that only took its ``url`` has to hold on to it, for which a last line such as
/// `server.stop()` does. Any number can run at once. It serves every connection on a thread of its own, keeps
/// a record of what came in, and never sleeps to wait for a test: tests hold and release it.
///
/// ```swift
/// let server = try ScriptedServer([
///     .respond(200, ["ETag": "\"v1\""], body: "0123456789", breakingAfter: 4),
///     .respond(200, ["ETag": "\"v2\""], body: "abcdef"),
/// ])
/// let download = DownloadOperation(request: URLRequest(url: server.url), to: file)
/// download.start()
/// #expect(try Data(contentsOf: try await download.savedFile) == Data("abcdef".utf8))
/// #expect(server.requests[1]["If-Range"] == "\"v1\"")
/// ```
public final class ScriptedServer: Sendable {
    let core: ServerCore

    private init(_ state: ServerState, _ requestBodies: RequestBodyPolicy) throws(SocketError) {
        core = try ServerCore(state, bodyPolicy: requestBodies)
        try core.start()
    }

    /// Starts a server that gives one answer per request, in order, whatever is asked for.
    ///
    /// - Throws: ``SocketError``, also from the other initializers.
    public convenience init(
        _ answers: [Answer],
        whenExhausted: Script.Exhaustion = .repeatsLast,
        requestBodies: RequestBodyPolicy = .read
    ) throws(SocketError) {
        let script = Script.answers(answers, whenExhausted: whenExhausted)
        try self.init(ServerState(player: ScriptPlayer(script)), requestBodies)
    }

    /// Starts a server that asks `handler` for every answer: on the connection's thread, for several
    /// connections at once. What it throws is answered with 500. It must return before ``stop()`` can.
    public convenience init(
        requestBodies: RequestBodyPolicy = .read,
        _ handler: @escaping @Sendable (_ request: ReceivedRequest) throws -> Answer
    ) throws(SocketError) {
        try self.init(ServerState(player: ScriptPlayer(.handler(handler))), requestBodies)
    }

    /// Starts a server that has a representation at every path, until ``setRepresentation(_:forPath:)``.
    ///
    /// `answers` says how it is sent: one per request, in order, the last repeating. For example
    /// `[.currentRepresentation.breaking(after: 400), .currentRepresentation]` breaks the first answer.
    public convenience init(
        serving representation: Representation,
        answers: [Answer] = [.currentRepresentation],
        requestBodies: RequestBodyPolicy = .read
    ) throws(SocketError) {
        let player = ScriptPlayer(.answers(answers))
        try self.init(ServerState(player: player, representation: representation), requestBodies)
    }

    /// Starts a server with a script for each of some paths, such as `/file`, compared without the query, and
    /// one for all the others, by default 404.
    public convenience init(
        routes: [String: Script],
        otherwise: Script = [.respond(404, body: "No route.\n")],
        requestBodies: RequestBodyPolicy = .read
    ) throws(SocketError) {
        let routes = routes.mapValues { ScriptPlayer($0) }
        try self.init(ServerState(player: ScriptPlayer(otherwise), routes: routes), requestBodies)
    }

    deinit { core.stop() }

    // MARK: - Where it is

    /// The port on 127.0.0.1.
    public var port: Int { core.listener.port }

    /// `http://127.0.0.1:port/`.
    public var url: URL { url(path: "/") }

    /// The URL of a path, which may have a query and must be percent-encoded already, with or without the
    /// slash at the beginning.
    public func url(path: String) -> URL {
        let text = "http://127.0.0.1:\(port)/\(path.hasPrefix("/") ? String(path.dropFirst()) : path)"
        guard let url = URL(string: text) else { preconditionFailure("\(text) is not a URL") }
        return url
    }

    // MARK: - What happened

    /// Every request so far, in the order in which they were read to their end.
    public var requests: [ReceivedRequest] { core.state.withLock(\.requests) }

    /// The number of connections that were accepted.
    public var connectionsAccepted: Int { core.state.withLock(\.connectionsAccepted) }

    /// The number of connections that are open at the server. A client that sees the end of one may be a
    /// little ahead: see ``waitForOpenConnections(_:within:)``.
    public var connectionsOpen: Int { core.state.withLock(\.sockets.count) }

    /// The number of answers that have come to their end: sent, broken, or left by the client.
    public var answersEnded: Int { core.state.withLock(\.answersEnded) }

    /// The number of bytes of bodies that were given to the kernel in all answers together, without the
    /// chunked coding's own. At least as many as clients have received. When a client goes away or its
    /// connection is reset, what the kernel had not put on the wire is taken off again.
    public var bodyBytesSent: Int { core.state.withLock(\.bodyBytesSent) }

    /// The errors of the server: malformed requests, handlers that threw. Empty in a good test.
    public var problems: [String] { core.state.withLock(\.problems) }

    // MARK: - Commands

    /// Changes what ``Answer/currentRepresentation`` is, for answers that begin from now on: at one path,
    /// compared without the query, or at every path that has no representation of its own.
    public func setRepresentation(_ representation: Representation?, forPath path: String? = nil) {
        core.state.withLock { state in
            if let path {
                state.representations[path] = representation
            } else {
                state.representation = representation
            }
        }
    }

    /// Lets every answer go on that stalls now; answers that stall later wait for another release.
    public func release() {
        let gate = core.state.withLock { state in
            defer { state.stallGate = Gate() }
            return state.stallGate
        }
        gate.open()
    }

    /// Closes every connection now, in the middle of answers too, and goes on listening.
    public func closeConnections() {
        core.state.withLock { state in
            for socket in state.sockets.values { socket.shutDown() }
        }
    }

    /// Stops listening, closes every connection, and returns when the server's threads have ended. What was
    /// recorded stays. Stopping again does nothing. Callable from any thread, a handler's included.
    public func stop() {
        core.stop()
    }
}
