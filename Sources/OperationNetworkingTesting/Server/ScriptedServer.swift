public import Foundation

/// An in-process HTTP/1.1 server that follows a test's script, whether valid HTTP or not.
///
/// It listens on a free port of 127.0.0.1 from `init` until ``stop()`` or deallocation. A test that only uses
/// its ``url`` must keep a reference, for example by ending with `server.stop()`. Any number of servers can
/// run at once. Each connection is served on its own thread, and requests are recorded. The server never
/// sleeps to wait for a test; tests hold and release it.
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

    /// Starts a server that sends one answer per request, in order, whatever the request.
    ///
    /// - Throws: ``SocketError``, like the other initializers.
    public convenience init(
        _ answers: [Answer],
        whenExhausted: Script.Exhaustion = .repeatsLast,
        requestBodies: RequestBodyPolicy = .read
    ) throws(SocketError) {
        let script = Script.answers(answers, whenExhausted: whenExhausted)
        try self.init(ServerState(player: ScriptPlayer(script)), requestBodies)
    }

    /// Starts a server that calls `handler` for every answer, on the connection's thread, concurrently for
    /// several connections. An error that it throws is answered with 500. ``stop()`` waits for it to return.
    public convenience init(
        requestBodies: RequestBodyPolicy = .read,
        _ handler: @escaping @Sendable (_ request: ReceivedRequest) throws -> Answer
    ) throws(SocketError) {
        try self.init(ServerState(player: ScriptPlayer(.handler(handler))), requestBodies)
    }

    /// Starts a server with a representation at every path, which ``setRepresentation(_:forPath:)`` can
    /// change.
    ///
    /// `answers` determine how it is sent: one per request, in order, the last repeating. For example,
    /// `[.currentRepresentation.breaking(after: 400), .currentRepresentation]` breaks the first answer.
    public convenience init(
        serving representation: Representation,
        answers: [Answer] = [.currentRepresentation],
        requestBodies: RequestBodyPolicy = .read
    ) throws(SocketError) {
        let player = ScriptPlayer(.answers(answers))
        try self.init(ServerState(player: player, representation: representation), requestBodies)
    }

    /// Starts a server with a script per path, such as `/file`, ignoring the query, and a script for all
    /// other paths, which defaults to 404.
    public convenience init(
        routes: [String: Script],
        otherwise: Script = [.respond(404, body: "No route.\n")],
        requestBodies: RequestBodyPolicy = .read
    ) throws(SocketError) {
        let routes = routes.mapValues { ScriptPlayer($0) }
        try self.init(ServerState(player: ScriptPlayer(otherwise), routes: routes), requestBodies)
    }

    deinit { core.stop() }

    // MARK: - Address

    /// The port on 127.0.0.1.
    public var port: Int { core.listener.port }

    /// `http://127.0.0.1:port/`.
    public var url: URL { url(path: "/") }

    /// Returns the URL of a percent-encoded path, which may have a query, with or without a leading slash.
    public func url(path: String) -> URL {
        let text = "http://127.0.0.1:\(port)/\(path.hasPrefix("/") ? String(path.dropFirst()) : path)"
        guard let url = URL(string: text) else { preconditionFailure("\(text) is not a URL") }
        return url
    }

    // MARK: - Results

    /// The requests so far, in the order in which reading them completed.
    public var requests: [ReceivedRequest] { core.state.withLock(\.requests) }

    /// The number of accepted connections.
    public var connectionsAccepted: Int { core.state.withLock(\.connectionsAccepted) }

    /// The number of connections that the server has open. May lag behind a client that sees the end of one:
    /// see ``waitForOpenConnections(_:within:)``.
    public var connectionsOpen: Int { core.state.withLock(\.sockets.count) }

    /// The number of answers that have ended: sent, broken, or abandoned by the client.
    public var answersEnded: Int { core.state.withLock(\.answersEnded) }

    /// The number of body bytes of all answers that were passed to the kernel, without the chunked coding.
    /// Never less than clients have received. If a client disconnects or its connection is reset, bytes that
    /// the kernel had not sent are subtracted.
    public var bodyBytesSent: Int { core.state.withLock(\.bodyBytesSent) }

    /// Errors such as malformed requests and handlers that threw. Should be empty at the end of a test.
    public var problems: [String] { core.state.withLock(\.problems) }

    // MARK: - Commands

    /// Changes ``Answer/currentRepresentation`` for answers that begin from now on, at one path, ignoring the
    /// query, or at every path without its own representation.
    public func setRepresentation(_ representation: Representation?, forPath path: String? = nil) {
        core.state.withLock { state in
            if let path {
                state.representations[path] = representation
            } else {
                state.representation = representation
            }
        }
    }

    /// Continues all stalled answers. Answers that stall later wait for another release.
    public func release() {
        let gate = core.state.withLock { state in
            defer { state.stallGate = Gate() }
            return state.stallGate
        }
        gate.open()
    }

    /// Closes every connection now, even in the middle of an answer, and keeps listening.
    public func closeConnections() {
        core.state.withLock { state in
            for socket in state.sockets.values { socket.shutDown() }
        }
    }

    /// Stops listening, closes every connection, and waits for the server's threads to end. Records are kept.
    /// Stopping again does nothing. Callable from any thread, including a handler's.
    public func stop() {
        core.stop()
    }
}
