internal import OperationNetworkingSystem

// Credentials and tokens.
extension ConnectionOperation {
    /// A closure that is called when a server answers 401, or is not accepted by the security policy: it gets
    /// the challenge, and may take its time to answer. The operation waits; when it is cancelled or paused
    /// meanwhile, the closure's task is cancelled, and its answer has no effect.
    public typealias AuthenticationChallengeHandler =
        @isolated(any) @Sendable (_ operation: ConnectionOperation, _ challenge: AuthenticationChallenge)
        async -> AuthenticationChallenge.Answer

    /// Sets a closure that is called for each 401, and for each server that the security policy does not
    /// accept. Without a closure a 401 is answered with the ``TransferConfigurable/credential`` once, then from
    /// the credential storage; otherwise the 401 is the response.
    public func setAuthenticationChallenge(@_inheritActorContext _ block: AuthenticationChallengeHandler?) {
        setClosure(block) { swap(&$0.challenge, &$1) }
    }
}

// MARK: - For the exchange

extension ConnectionOperation {
    var exchangeAnswersChallenges: Bool { state.withLock { $0.closures.challenge != nil } }

    func exchangeNeedsCredential(
        for challenge: AuthenticationChallenge,
        decide: @escaping @Sendable (AuthenticationChallenge.Answer) -> Void
    ) -> @Sendable () -> Void {
        guard let handler = state.withLock({ $0.closures.challenge }) else {
            decide(.performDefaultHandling)
            return {}
        }
        let task = Task { decide(await handler(self, challenge)) }
        return { task.cancel() }
    }
}
