internal import OperationNetworkingSystem

// Credentials and tokens.
extension ConnectionOperation {
    /// A closure that is called when a server answers 401: it gets the challenge, and answers when it likes.
    /// The operation waits; when it is cancelled or paused meanwhile, the task is cancelled, and what is
    /// answered then has no effect.
    public typealias AuthenticationChallengeHandler =
        @Sendable (_ operation: ConnectionOperation, _ challenge: AuthenticationChallenge) async ->
        AuthenticationChallenge.Answer

    /// The credential for a server that answers 401, sent once; refused, the 401 is the response. `nil`
    /// unless set.
    ///
    /// It goes to the origin of the request and to no other, also after redirects. What a server took is
    /// remembered: the next requests with it to the same place send it at once. `user:password@` in the
    /// request's URL is the same, and comes first.
    public var credential: Credential? {
        get { state.withLock { $0.settings.credential } }
        set { configure { $0.settings.credential = newValue } }
    }

    /// Whether `URLCredentialStorage.shared` is asked, by the protection space, when ``credential`` is not
    /// there, belongs to another origin, or was refused. True unless set.
    public var shouldUseCredentialStorage: Bool {
        get { state.withLock { $0.settings.shouldUseCredentialStorage } }
        set { configure { $0.settings.shouldUseCredentialStorage = newValue } }
    }

    /// The schemes by which credentials are sent; all that are supported unless set. Basic sends the password
    /// in the clear, unless TLS hides it.
    public var authenticationSchemes: Set<AuthenticationScheme> {
        get { state.withLock { $0.settings.authenticationSchemes } }
        set { configure { $0.settings.authenticationSchemes = newValue } }
    }

    /// The source of the bearer token that the request carries; `nil` unless set.
    public var tokenSource: TokenSource? {
        get { state.withLock { $0.settings.tokenSource } }
        set { configure { $0.settings.tokenSource = newValue } }
    }

    /// Called for each 401, instead of what is done without it: the ``credential`` once, then the credential
    /// storage, then the 401 is the response.
    public func setAuthenticationChallenge(_ block: AuthenticationChallengeHandler?) {
        state.change { $0.challenge = block }
    }
}

// MARK: - For the exchange

extension ConnectionOperation {
    var exchangeAnswersChallenges: Bool { state.withLock { $0.challenge != nil } }

    func exchangeNeedsCredential(
        for challenge: AuthenticationChallenge,
        decide: @escaping @Sendable (AuthenticationChallenge.Answer) -> Void
    ) -> @Sendable () -> Void {
        guard let handler = state.withLock({ $0.challenge }) else {
            decide(.performDefaultHandling)
            return {}
        }
        let task = Task { decide(await handler(self, challenge)) }
        return { task.cancel() }
    }
}
