/// Chooses the scheme with which a credential is sent.
///
/// | Credential        | First of these that is offered and allowed |
/// |-------------------|--------------------------------------------|
/// | user and password | Digest, NTLM, Basic                        |
/// | token             | Bearer; also if the server offers nothing  |
/// | tickets           | Negotiate                                  |
enum AuthenticationChoice {
    /// - Parameters:
    ///   - credential: the credential.
    ///   - offers: the server's challenges.
    ///   - allowed: the schemes that the operation allows.
    ///   - hasBodyInMemory: whether a digest of the request's body can be made.
    /// - Returns: the scheme; `nil` if none matches.
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

    /// The offers that can be answered, the strongest first.
    static func answerable(
        _ offers: [AuthenticationOffer],
        allowed: Set<AuthenticationScheme>,
        hasBodyInMemory: Bool = true
    ) -> [AuthenticationOffer] {
        [.negotiate, .digest, .ntlm, .bearer, .basic].flatMap { (scheme: AuthenticationScheme) in
            offers.filter { offer in
                guard allowed.contains(scheme), offer.scheme == scheme else { return false }
                return scheme != .digest
                    || DigestChallenge(offer, hasBodyInMemory: hasBodyInMemory) != nil
            }
        }
    }
}
