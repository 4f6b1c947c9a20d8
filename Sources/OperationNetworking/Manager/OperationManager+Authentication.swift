internal import OperationNetworkingSystem

// Credentials and tokens of the manager's operations.
extension OperationManager {
    /// Called for each 401 that an operation made from now on gets; see
    /// ``ConnectionOperation/setAuthenticationChallenge(_:)``.
    public func setAuthenticationChallenge(
        @_inheritActorContext _ block: ConnectionOperation.AuthenticationChallengeHandler?
    ) {
        state.change { $0.challenge = block }
    }
}
