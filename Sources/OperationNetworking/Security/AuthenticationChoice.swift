/// Which of the offered schemes a credential answers to: a pure decision.
///
/// | Credential        | First of these that is offered and allowed             |
/// |-------------------|--------------------------------------------------------|
/// | user and password | Digest, NTLM, Basic                                    |
/// | token             | Bearer; also when the server offers nothing at all     |
/// | tickets           | Negotiate                                              |
enum AuthenticationChoice {
    /// What libcurl 7.88 can compute. It takes SHA-512-256 for SHA-256, and so is never right about it.
    static let digestAlgorithms: Set<String> = ["md5", "md5-sess", "sha-256", "sha-256-sess"]

    /// - Returns: `nil`: none.
    static func scheme(
        for credential: Credential,
        among offers: [AuthenticationOffer],
        allowed: Set<AuthenticationScheme>
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
            // libcurl answers the first of its kind, and only that one.
            guard let first = offers.first(where: { $0.scheme == scheme }) else { return false }
            return scheme != .digest || canDigest(first)
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

    private static func canDigest(_ offer: AuthenticationOffer) -> Bool {
        digestAlgorithms.contains(offer.parameters["algorithm"]?.lowercased() ?? "md5")
    }
}
