internal import OperationNetworkingSystem

// Credentials and tokens.
extension ConnectionOperation {
    /// A closure that receives the challenge when a server answers 401, or is rejected by the security
    /// policy. The operation waits for its answer. If the operation is cancelled or paused, the closure's
    /// task is cancelled and its answer is ignored.
    public typealias AuthenticationChallengeHandler =
        @isolated(any) @Sendable (_ operation: ConnectionOperation, _ challenge: AuthenticationChallenge)
        async -> AuthenticationChallenge.Answer

    /// Sets the closure that is called for each 401 and for each server that the security policy rejects.
    /// Without a closure, a 401 is answered once with ``TransferConfigurable/credential``, then from the
    /// credential storage; otherwise the 401 is the response.
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
