import Foundation
public import FoundationNetworking

/// A challenge that precedes the response: a server requires credentials (it answered 401 and accepted none
/// so far), or the security policy does not accept the server (``serverTrust``).
public struct AuthenticationChallenge: Sendable {
    /// The answer to a challenge.
    public enum Answer: Hashable, Sendable {
        /// Send the request again with this credential, if the server offers a scheme for it. A credential
        /// that this server has already refused in this exchange is not sent again: the 401 is the response.
        case use(Credential)
        /// The operation fails with `URLError.userCancelledAuthentication`.
        case refuse
        /// Proceed as without a closure: try the operation's credential once, then the credential storage;
        /// after that, the 401 is the response.
        case performDefaultHandling
        /// The 401 is the response.
        case continueWithoutCredential
        /// Accept the server of ``AuthenticationChallenge/serverTrust`` in this operation, as long as it
        /// presents this certificate. For a 401 this means
        /// ``AuthenticationChallenge/Answer/continueWithoutCredential``. With any other answer to a server
        /// trust challenge the operation fails with the ``ServerTrustError``.
        case trustServer
    }

    /// The host that sent the challenge. After a redirect it may differ from that of the operation's request.
    public let host: String
    /// The server's port, the default one included.
    public let port: Int
    /// `http` or `https`.
    public let `protocol`: String
    /// The authentication schemes that the server offers, in its order; empty if it offers none.
    public let offers: [AuthenticationOffer]
    /// The strongest offer that can be answered, if any.
    public let preferredOffer: AuthenticationOffer?
    /// Whether the challenge is from a proxy (407).
    public let isProxy: Bool
    /// The number of credentials that the server has refused for this request.
    public let previousFailureCount: Int
    /// The 401 response; `nil` for server trust.
    public let response: HTTPURLResponse?
    /// Why the server is not accepted, with its certificates; `nil` for a 401. No byte of the request has
    /// been sent, and none will be unless the answer is ``Answer/trustServer``. A server that the policy
    /// accepts causes no challenge.
    public let serverTrustError: ServerTrustError?

    /// The certificates of a server that is not accepted; `nil` for a 401.
    public var serverTrust: ServerTrust? { serverTrustError?.serverTrust }

    /// The realm: the part of the server that requires credentials, if it is named.
    public var realm: String? { preferredOffer?.realm ?? offers.first?.realm }

    /// The scheme of ``preferredOffer``.
    public var scheme: AuthenticationScheme? { preferredOffer?.scheme }

    init(
        url: URL,
        offers: [AuthenticationOffer],
        allowed: Set<AuthenticationScheme> = AuthenticationScheme.supported,
        isProxy: Bool = false,
        previousFailureCount: Int,
        response: HTTPURLResponse?,
        serverTrustError: ServerTrustError? = nil
    ) {
        let scheme = url.scheme?.lowercased() ?? "http"
        host = url.host ?? ""
        port = url.port ?? (scheme == "https" ? 443 : 80)
        self.protocol = scheme
        self.offers = offers
        preferredOffer = AuthenticationChoice.answerable(offers, allowed: allowed).first
        self.isProxy = isProxy
        self.previousFailureCount = previousFailureCount
        self.response = response
        self.serverTrustError = serverTrustError
    }

    // MARK: - Foundation's names

    /// The protection space, as used by `URLCredentialStorage`. Foundation on Linux has no authentication
    /// method for server trust.
    public var protectionSpace: URLProtectionSpace { protectionSpace(for: preferredOffer ?? offers.first) }

    /// Returns the credentials in `URLCredentialStorage` for these offers, those for the strongest offer
    /// first.
    ///
    /// On Linux the storage compares protection spaces by identity, so the equal one has to be searched for.
    func storedCredentials(allowed: Set<AuthenticationScheme>) -> [Credential] {
        let storage = URLCredentialStorage.shared
        let host = host.lowercased()
        let known = storage.allCredentials.keys.filter { $0.port == port && $0.host.lowercased() == host }
        guard !known.isEmpty else { return [] }
        return AuthenticationChoice.answerable(offers, allowed: allowed).flatMap { offer in
            let space = protectionSpace(for: offer)
            return known.filter { $0.isSame(as: space) }
                .compactMap { storage.defaultCredential(for: $0) }
                .compactMap { Credential($0) }
        }
    }

    private func protectionSpace(for offer: AuthenticationOffer?) -> URLProtectionSpace {
        URLProtectionSpace(
            host: host,
            port: port,
            protocol: self.protocol,
            realm: offer?.realm,
            authenticationMethod: offer.flatMap(\.scheme.foundationName)
        )
    }
}

extension URLProtectionSpace {
    fileprivate func isSame(as other: URLProtectionSpace) -> Bool {
        host.lowercased() == other.host.lowercased() && port == other.port && realm == other.realm
            && self.protocol?.lowercased() == other.protocol?.lowercased() && isProxy() == other.isProxy()
            && authenticationMethod == other.authenticationMethod
    }
}

extension AuthenticationScheme {
    fileprivate var foundationName: String? {
        switch self {
        case .basic: NSURLAuthenticationMethodHTTPBasic
        case .digest: NSURLAuthenticationMethodHTTPDigest
        case .ntlm: NSURLAuthenticationMethodNTLM
        case .negotiate: NSURLAuthenticationMethodNegotiate
        case .bearer, .other: nil
        }
    }
}
