internal import OperationNetworkingSystem

// Credentials and tokens.
extension ConnectionOperation {
    /// A closure that is called when a server answers 401: it gets the challenge, and answers when it likes.
    /// The operation waits; when it is cancelled or paused meanwhile, the task is cancelled, and what is
    /// answered then has no effect.
    public typealias AuthenticationChallengeHandler =
        @isolated(any) @Sendable (_ operation: ConnectionOperation, _ challenge: AuthenticationChallenge)
        async -> AuthenticationChallenge.Answer

    /// Called for each 401, instead of what is done without it: the ``TransferSettings/credential`` once,
    /// then the credential storage, then the 401 is the response.
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
