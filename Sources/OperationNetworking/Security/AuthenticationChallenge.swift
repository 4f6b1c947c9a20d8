import Foundation
public import FoundationNetworking

/// A question on the way to a response: a server wants to know who asks (it answered 401, and nothing that it
/// was told before was right); or the security policy does not accept the server (``serverTrust``).
public struct AuthenticationChallenge: Sendable {
    /// What to do about it.
    public enum Answer: Hashable, Sendable {
        /// Send the request again with this credential, if the server takes its kind. One that this server
        /// has refused in this exchange already is not sent again: the 401 is the response.
        case use(Credential)
        /// The operation fails with `URLError.userCancelledAuthentication`.
        case refuse
        /// As if there were no closure: the operation's credential once, then the credential storage, then
        /// the 401 is the response.
        case performDefaultHandling
        /// The 401 is the response.
        case continueWithoutCredential
        /// Talk to the server that ``AuthenticationChallenge/serverTrust`` is about, for as long as it
        /// presents this certificate, in this operation. Not for a 401, which it leaves without an answer.
        /// Every other answer about a server leaves the ``ServerTrustError`` as it is.
        case trustServer
    }

    /// Who asks. After a redirect that is not the host of the operation's request.
    public let host: String
    /// His port, the default one included.
    public let port: Int
    /// `http` or `https`.
    public let `protocol`: String
    /// What the server offers, in its order; empty: it did not say.
    public let offers: [AuthenticationOffer]
    /// The strongest offer that can be answered; `nil`: none can.
    public let preferredOffer: AuthenticationOffer?
    /// Whether a proxy asks (407), not the server.
    public let isProxy: Bool
    /// How many credentials it has refused for this request.
    public let previousFailureCount: Int
    /// The 401; `nil` for a question about the server.
    public let response: HTTPURLResponse?
    /// Why the server is not accepted, and what it has presented; `nil` for a 401. No byte of the request was
    /// sent, and none will be unless the answer is ``Answer/trustServer``. A server that the policy accepts
    /// is nobody's question.
    public let serverTrustError: ServerTrustError?

    /// What the server that is not accepted has presented; `nil` for a 401.
    public var serverTrust: ServerTrust? { serverTrustError?.serverTrust }

    /// For which part of the server; `nil`: it did not say.
    public var realm: String? { preferredOffer?.realm ?? offers.first?.realm }

    /// How; `nil`: in no way that is known here.
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

    /// As `URLCredentialStorage` knows it. Foundation on Linux has no name for server trust.
    public var protectionSpace: URLProtectionSpace { protectionSpace(for: preferredOffer ?? offers.first) }

    /// What `URLCredentialStorage` has for what is offered, for the strongest offer first.
    ///
    /// On Linux the storage finds a space by its identity, so somebody who has only an equal one must look
    /// for it.
    func storedCredentials(allowed: Set<AuthenticationScheme>) -> [Credential] {
        let storage = URLCredentialStorage.shared
        let known = storage.allCredentials.keys
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
