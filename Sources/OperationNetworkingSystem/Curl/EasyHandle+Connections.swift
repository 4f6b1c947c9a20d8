import COperationNetworking

extension EasyHandle {
    // MARK: - Before a request

    /// Notes whether a connection was used before, and the socket of one that was not.
    func noteConnection(_ connection: ConnectionID, localPort: Int32) {
        let socket = trace.openedSockets.last { csocket_local_port($0) == localPort }
        trace.isConnectionKept = socket == nil
        guard let socket else { return }
        trace.openedSockets = []
        sockets?.note(socket, of: connection)
    }

    /// Whether the connection was used before, by this transfer or another one. Callable from within
    /// ``EasyHandleDelegate/easyHandleWillSendRequest(over:)``, as ``isQuiet(_:)``.
    package var isConnectionKept: Bool { trace.isConnectionKept }

    /// Whether the server has said nothing on a connection since the last response, nor has ended it: see
    /// ``KeptConnection``. Asks the kernel, for a connection that was used before.
    package func isQuiet(_ connection: ConnectionID) -> Bool {
        guard trace.isConnectionKept, !connection.isShared else { return true }
        guard let socket = sockets?[connection] else { return false }
        return KeptConnection.isQuiet(socket, tls: ctls_session(raw))
    }

    // MARK: - Behind a response

    /// Has the connection closed after the transfer if more than the response was read of it. Callable from
    /// within the delegate, when the head is known: that of a response without a body, or with chunks. Behind
    /// a body with a length libcurl does so by itself.
    ///
    /// libcurl drops what is too much, and says so in its log only. The rest may come later, in the middle of
    /// the next request.
    package func watchForExcess() {
        trace.watchesForExcess = true
        clibcurl_easy_setopt_long(raw, CURLOPT_VERBOSE, 1)
    }

    /// - Parameter text: a line of libcurl's log.
    func didLog(_ text: UnsafeBufferPointer<UInt8>) {
        // By libcurl up to 8.5 behind a response without a body, and by all up to 8.14 behind the last chunk.
        let isExcess =
            text.starts(with: "Excess found".utf8) || text.starts(with: "Leftovers after chunking".utf8)
        guard isExcess else { return }
        trace.hasExcess = true
        clibcurl_easy_setopt_long(raw, CURLOPT_FORBID_REUSE, 1)
    }
}
