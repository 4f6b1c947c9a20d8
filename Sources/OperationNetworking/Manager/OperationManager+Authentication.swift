internal import OperationNetworkingSystem

// Credentials and tokens of the manager's operations.
extension OperationManager {
    /// The ``ConnectionOperation/credential`` of operations. Those for another origin (scheme, host, port)
    /// than that of ``baseURL`` do not get it; without a base URL all do.
    public var credential: Credential? {
        get { state.withLock { $0.settings.credential } }
        set { state.change { $0.settings.credential = newValue } }
    }

    /// The ``ConnectionOperation/shouldUseCredentialStorage`` of operations.
    public var shouldUseCredentialStorage: Bool {
        get { state.withLock { $0.settings.shouldUseCredentialStorage } }
        set { state.change { $0.settings.shouldUseCredentialStorage = newValue } }
    }

    /// The ``ConnectionOperation/authenticationSchemes`` of operations.
    public var authenticationSchemes: Set<AuthenticationScheme> {
        get { state.withLock { $0.settings.authenticationSchemes } }
        set { state.change { $0.settings.authenticationSchemes = newValue } }
    }

    /// The source of the bearer token that operations send; `nil` unless set. Its scope is that of
    /// ``credential``.
    public var tokenSource: TokenSource? {
        get { state.withLock { $0.settings.tokenSource } }
        set { state.change { $0.settings.tokenSource = newValue } }
    }

    /// Called for each 401 that an operation made from now on gets; see
    /// ``ConnectionOperation/setAuthenticationChallenge(_:)``.
    public func setAuthenticationChallenge(_ block: ConnectionOperation.AuthenticationChallengeHandler?) {
        state.change { $0.challenge = block }
    }
}
