extension ScriptedServer {
    /// Suspends the task until at least `count` requests have come since the server was started, and returns
    /// all there are.
    ///
    /// - Throws: ``TimeLimitExceeded``, or `CancellationError` when the task is cancelled. So do the others.
    @discardableResult
    public func waitForRequests(
        count: Int = 1,
        within limit: Duration = .waitingLimit
    ) async throws -> [ReceivedRequest] {
        try await core.state.wait(within: limit) {
            "\($0.requests.count) of \(count) requests came."
        } until: {
            $0.requests.count >= count ? $0.requests : nil
        }
    }

    /// Returns the first request that this function has not returned yet, suspending the task until there is
    /// one.
    public func nextRequest(within limit: Duration = .waitingLimit) async throws -> ReceivedRequest {
        try await core.state.wait(within: limit) {
            "no request came after the first \($0.requestsGivenOut)."
        } until: { state in
            guard state.requestsGivenOut < state.requests.count else { return nil }
            defer { state.requestsGivenOut += 1 }
            return state.requests[state.requestsGivenOut]
        }
    }

    /// Suspends the task until at least `count` answers have stalled since the server was started: the bytes
    /// before have been sent, and the client can read them.
    public func waitForStalls(count: Int = 1, within limit: Duration = .waitingLimit) async throws {
        try await core.state.wait(within: limit) {
            "\($0.stalls) of \(count) answers stalled."
        } until: {
            $0.stalls >= count ? () : nil
        }
    }

    /// Suspends the task until at least `count` answers have come to their end: sent, broken, or left by the
    /// client.
    public func waitForAnswers(count: Int = 1, within limit: Duration = .waitingLimit) async throws {
        try await core.state.wait(within: limit) {
            "\($0.answersEnded) of \(count) answers came to their end."
        } until: {
            $0.answersEnded >= count ? () : nil
        }
    }

    /// Suspends the task until at least `count` bytes of bodies count as sent; see ``bodyBytesSent``.
    public func waitForBodyBytes(count: Int, within limit: Duration = .waitingLimit) async throws {
        try await core.state.wait(within: limit) {
            "\($0.bodyBytesSent) of \(count) bytes were sent."
        } until: {
            $0.bodyBytesSent >= count ? () : nil
        }
    }

    /// Suspends the task until exactly `count` connections are open: 0 waits until all have been closed.
    public func waitForOpenConnections(_ count: Int, within limit: Duration = .waitingLimit) async throws {
        try await core.state.wait(within: limit) {
            "\($0.sockets.count) connections are open, not \(count)."
        } until: {
            $0.sockets.count == count ? () : nil
        }
    }
}
