import COperationNetworking

extension EasyHandle {
    // MARK: - Before a request

    /// Records whether a connection is reused, and the socket of a new one.
    func noteConnection(_ connection: ConnectionID, localPort: Int32) {
        let socket = trace.openedSockets.last { csocket_local_port($0) == localPort }
        trace.isConnectionKept = socket == nil
        guard let socket else { return }
        trace.openedSockets = []
        sockets?.note(socket, of: connection)
    }

    /// Whether the connection has been used before, by this or another transfer. Callable from within
    /// ``EasyHandleDelegate/easyHandleWillSendRequest(over:)``, like ``isQuiet(_:)``.
    package var isConnectionKept: Bool { trace.isConnectionKept }

    /// Whether the server has neither sent anything on a connection since the last response nor closed it:
    /// see ``KeptConnection``. Makes a system call for a reused connection.
    package func isQuiet(_ connection: ConnectionID) -> Bool {
        guard trace.isConnectionKept, !connection.isShared else { return true }
        guard let socket = sockets?[connection] else { return false }
        return KeptConnection.isQuiet(socket, tls: ctls_session(raw))
    }

    // MARK: - After a response

    /// Closes the connection after the transfer if bytes beyond the response were read. Callable from within
    /// the delegate when the head is known, for a response without a body or with a chunked one. For a body
    /// with a length, libcurl does it by itself.
    ///
    /// libcurl discards excess bytes, and reports them only in its log. More may arrive later, during the
    /// next request.
    package func watchForExcess() {
        trace.watchesForExcess = true
        clibcurl_easy_setopt_long(raw, CURLOPT_VERBOSE, 1)
    }

    /// - Parameter text: a line of libcurl's log.
    func didLog(_ text: UnsafeBufferPointer<UInt8>) {
        // Logged by libcurl up to 8.5 after a response without a body, and up to 8.14 after the last chunk.
        let isExcess =
            text.starts(with: "Excess found".utf8) || text.starts(with: "Leftovers after chunking".utf8)
        guard isExcess else { return }
        trace.hasExcess = true
        clibcurl_easy_setopt_long(raw, CURLOPT_FORBID_REUSE, 1)
    }
}
