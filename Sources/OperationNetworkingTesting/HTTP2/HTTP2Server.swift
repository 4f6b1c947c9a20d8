public import Foundation

/// A server for one cleartext HTTP/2 connection with prior knowledge. Tests choose how streams end: normally,
/// by a reset, or with the connection.
///
/// It does not parse requests, does not implement flow control (all bodies together must stay under 65,535
/// bytes), and sends one answer per stream, in order, repeating the last.
public final class HTTP2Server: Sendable {
    private struct State: Sendable {
        var connection: Socket?
        var streams = 0
        var isStopped = false
        var isRunning = true
    }

    private let listener: ListeningSocket
    private let state: Watched<State>

    /// Starts the server.
    ///
    /// - Throws: ``SocketError``.
    public init(_ answers: [HTTP2Answer]) throws(SocketError) {
        let listener = try ListeningSocket()
        let state = Watched(State())
        (self.listener, self.state) = (listener, state)
        do throws(SocketError) {
            try SmallThread.start {
                if let socket = listener.accept() {
                    let isWelcome = state.withLock { state in
                        state.connection = socket
                        return !state.isStopped
                    }
                    var connection = HTTP2Connection(socket, answers) { state.withLock { $0.streams += 1 } }
                    if isWelcome { connection.run() }
                    socket.finish(isClientTalking: false)
                    socket.shutDown()
                    socket.close()
                }
                listener.close()
                state.withLock { $0.isRunning = false }
            }
        } catch {
            listener.close()
            state.withLock { $0.isRunning = false }
            throw error
        }
    }

    deinit { stop() }

    /// `http://127.0.0.1:port/`.
    public var url: URL {
        let text = "http://127.0.0.1:\(listener.port)/"
        guard let url = URL(string: text) else { preconditionFailure("\(text) is not a URL") }
        return url
    }

    /// The port on 127.0.0.1.
    public var port: Int { listener.port }

    /// The number of streams that clients have opened.
    public var streams: Int { state.withLock(\.streams) }

    /// Ends the connection and waits for the server's thread to end.
    public func stop() {
        state.withLock { state in
            state.isStopped = true
            state.connection?.shutDown()
        }
        listener.shutDown()
        // Without a limit it does not throw: see waitSynchronously.
        try? state.waitSynchronously(within: nil) { _ in
            ""
        } until: {
            $0.isRunning ? nil : ()
        }
    }
}
