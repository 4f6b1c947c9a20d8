extension ScriptedServer {
    /// Suspends the task until at least `count` requests have been received since the start, and returns all
    /// of them.
    ///
    /// - Throws: ``TimeLimitExceeded``, or `CancellationError` if the task is cancelled. The same applies to
    ///   the other wait functions.
    @discardableResult
    public func waitForRequests(
        count: Int = 1,
        within limit: Duration = .waitingLimit
    ) async throws -> [ReceivedRequest] {
        try await core.state.wait(within: limit) {
            "\($0.requests.count) of \(count) requests were received."
        } until: {
            $0.requests.count >= count ? $0.requests : nil
        }
    }

    /// Suspends the task until there is a request that this function has not returned yet, and returns it.
    public func nextRequest(within limit: Duration = .waitingLimit) async throws -> ReceivedRequest {
        try await core.state.wait(within: limit) {
            "no request was received after the first \($0.requestsGivenOut)."
        } until: { state in
            guard state.requestsGivenOut < state.requests.count else { return nil }
            defer { state.requestsGivenOut += 1 }
            return state.requests[state.requestsGivenOut]
        }
    }

    /// Suspends the task until at least `count` answers have stalled since the start: the preceding bytes
    /// have been sent, and the client can read them.
    public func waitForStalls(count: Int = 1, within limit: Duration = .waitingLimit) async throws {
        try await core.state.wait(within: limit) {
            "\($0.stalls) of \(count) answers stalled."
        } until: {
            $0.stalls >= count ? () : nil
        }
    }

    /// Suspends the task until at least `count` answers have ended: sent, broken, or abandoned by the client.
    public func waitForAnswers(count: Int = 1, within limit: Duration = .waitingLimit) async throws {
        try await core.state.wait(within: limit) {
            "\($0.answersEnded) of \(count) answers ended."
        } until: {
            $0.answersEnded >= count ? () : nil
        }
    }

    /// Suspends the task until at least `count` body bytes count as sent; see ``bodyBytesSent``.
    public func waitForBodyBytes(count: Int, within limit: Duration = .waitingLimit) async throws {
        try await core.state.wait(within: limit) {
            "\($0.bodyBytesSent) of \(count) bytes were sent."
        } until: {
            $0.bodyBytesSent >= count ? () : nil
        }
    }

    /// Suspends the task until exactly `count` connections are open; 0 waits until all are closed.
    public func waitForOpenConnections(_ count: Int, within limit: Duration = .waitingLimit) async throws {
        try await core.state.wait(within: limit) {
            "\($0.sockets.count) connections are open, not \(count)."
        } until: {
            $0.sockets.count == count ? () : nil
        }
    }
}
