/// Which of the offered schemes a credential answers to: a pure decision.
///
/// | Credential        | First of these that is offered and allowed             |
/// |-------------------|--------------------------------------------------------|
/// | user and password | Digest, NTLM, Basic                                    |
/// | token             | Bearer; also when the server offers nothing at all     |
/// | tickets           | Negotiate                                              |
enum AuthenticationChoice {
    /// - Parameters:
    ///   - credential: who asks.
    ///   - offers: what the server takes.
    ///   - allowed: what the caller lets go.
    ///   - hasBodyInMemory: whether a digest of the request's body can be made.
    /// - Returns: `nil`: none.
    static func scheme(
        for credential: Credential,
        among offers: [AuthenticationOffer],
        allowed: Set<AuthenticationScheme>,
        hasBodyInMemory: Bool = true
    ) -> AuthenticationScheme? {
        let possible: [AuthenticationScheme] =
            switch credential.secret {
            case .password: [.digest, .ntlm, .basic]
            case .token: [.bearer]
            case .tickets: [.negotiate]
            }
        return possible.first { scheme in
            guard allowed.contains(scheme) else { return false }
            if scheme == .bearer, offers.isEmpty { return true }
            guard scheme != .digest else {
                return DigestChallenge.first(in: offers, hasBodyInMemory: hasBodyInMemory) != nil
            }
            return offers.contains { $0.scheme == scheme }
        }
    }

    /// Those that somebody here can answer, the strongest first.
    static func answerable(
        _ offers: [AuthenticationOffer],
        allowed: Set<AuthenticationScheme>
    ) -> [AuthenticationOffer] {
        [.negotiate, .digest, .ntlm, .bearer, .basic].flatMap { (scheme: AuthenticationScheme) in
            offers.filter { allowed.contains(scheme) && $0.scheme == scheme }
        }
    }
}
