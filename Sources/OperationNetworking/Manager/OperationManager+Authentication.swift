internal import OperationNetworkingSystem

// Credentials and tokens of the manager's operations.
extension OperationManager {
    /// Sets the closure that answers challenges of operations that are made from now on: a 401, or a server
    /// that the security policy rejects. See ``ConnectionOperation/setAuthenticationChallenge(_:)``.
    public func setAuthenticationChallenge(
        @_inheritActorContext _ block: ConnectionOperation.AuthenticationChallengeHandler?
    ) {
        state.change { $0.challenge = block }
    }

    /// Whether there is such a closure.
    package var answersChallenges: Bool { state.withLock { $0.challenge != nil } }
}
