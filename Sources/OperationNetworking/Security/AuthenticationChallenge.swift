import Foundation
public import FoundationNetworking

/// A question before the response: a server wants credentials (it answered 401, and accepted none so far), or
/// the security policy does not accept the server (``serverTrust``).
public struct AuthenticationChallenge: Sendable {
    /// The answer to a challenge.
    public enum Answer: Hashable, Sendable {
        /// Send the request again with this credential, if the server takes its kind. A credential that this
        /// server has refused in this exchange is not sent again: the 401 is the response.
        case use(Credential)
        /// The operation fails with `URLError.userCancelledAuthentication`.
        case refuse
        /// As if there were no closure: the operation's credential once, then the credential storage, then
        /// the 401 is the response.
        case performDefaultHandling
        /// The 401 is the response.
        case continueWithoutCredential
        /// Accept the server of ``AuthenticationChallenge/serverTrust``, in this operation, for as long as it
        /// presents this certificate. As the answer to a 401 this means
        /// ``AuthenticationChallenge/Answer/continueWithoutCredential``. Any other answer about a server
        /// makes the operation fail with the ``ServerTrustError``.
        case trustServer
    }

    /// The host that asks. After a redirect it is not the host of the operation's request.
    public let host: String
    /// The server's port, the default one included.
    public let port: Int
    /// `http` or `https`.
    public let `protocol`: String
    /// The challenges that the server offers, in its order; empty: it did not say.
    public let offers: [AuthenticationOffer]
    /// The strongest offer that can be answered; `nil`: none can.
    public let preferredOffer: AuthenticationOffer?
    /// Whether a proxy asks (407), not the server.
    public let isProxy: Bool
    /// The number of credentials that it has refused for this request.
    public let previousFailureCount: Int
    /// The 401; `nil` for a question about the server.
    public let response: HTTPURLResponse?
    /// The reason why the server is not accepted, with its certificates; `nil` for a 401. No byte of the
    /// request was sent, and none will be unless the answer is ``Answer/trustServer``. A server that the
    /// policy accepts is never asked about.
    public let serverTrustError: ServerTrustError?

    /// The certificates of a server that is not accepted; `nil` for a 401.
    public var serverTrust: ServerTrust? { serverTrustError?.serverTrust }

    /// The protection space: the part of the server that asks; `nil`: it did not say.
    public var realm: String? { preferredOffer?.realm ?? offers.first?.realm }

    /// The scheme of the offer that can be answered; `nil`: there is none.
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

    /// The protection space, as `URLCredentialStorage` knows it. Foundation on Linux has no name for server
    /// trust.
    public var protectionSpace: URLProtectionSpace { protectionSpace(for: preferredOffer ?? offers.first) }

    /// The credentials in `URLCredentialStorage` for these offers, those for the strongest offer first.
    ///
    /// On Linux the storage finds a space by its identity, so an equal one has to be searched for.
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
