internal import Foundation

extension ServerCore {
    /// Starts the thread that accepts clients. Must be called once.
    func start() throws(SocketError) {
        do throws(SocketError) {
            try startThread { $0.acceptClients() }
        } catch {
            listener.close()
            throw error
        }
    }

    /// Runs `work` on a new thread, which is counted until it ends.
    private func startThread(_ work: @escaping @Sendable (ServerCore) -> Void) throws(SocketError) {
        state.withLock { $0.threads.willStart() }
        do throws(SocketError) {
            try SmallThread.start { [self] in
                state.withLock { $0.threads.didStart() }
                work(self)
                state.withLock { $0.threads.willEnd() }
            }
        } catch {
            state.withLock { $0.threads.didFailToStart() }
            throw error
        }
    }

    /// Accepts clients on the accepting thread.
    private func acceptClients() {
        while let socket = listener.accept() {
            let number: Int? = state.withLock { state in
                guard !state.isStopped else { return nil }
                state.connectionsAccepted += 1
                state.sockets[state.connectionsAccepted] = socket
                return state.connectionsAccepted
            }
            guard let number else { break }
            do {
                try startThread { core in
                    var connection = Connection(number: number, socket: socket, server: core)
                    connection.run()
                    core.state.withLock { $0.sockets[number] = nil }
                }
            } catch {
                note("Connection \(number) was refused. \(error)")
                state.withLock { $0.sockets[number] = nil }
                socket.close()
            }
        }
        listener.close()
    }

    /// Stops everything and waits for all threads, except the calling one if it is one of the server's.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            for socket in state.sockets.values { socket.shutDown() }
        }
        listener.shutDown()
        let caller = pthread_self()
        // Without a limit it does not throw: see waitSynchronously.
        try? state.waitSynchronously(within: nil) { _ in
            ""
        } until: { state in
            state.threads.haveEnded(but: caller) ? () : nil
        }
    }
}
