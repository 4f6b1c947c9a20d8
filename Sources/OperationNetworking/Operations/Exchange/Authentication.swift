import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// Who an exchange says it is, hop by hop: a value.
///
/// A credential stays with the origin it is for: that of the caller's request, or that of the URL it was part of. Other
/// origins get what the credential storage has for them, or what somebody answers who sees their name.
struct Authentication {
    /// A credential, and how it is sent.
    struct Proof: Hashable {
        var credential: Credential
        var scheme: AuthenticationScheme
    }

    /// What the operation and the URL of its request have to say.
    private let credential: Credential?
    private let ownOrigin: Origin?
    private let allowed: Set<AuthenticationScheme>
    /// From the URL of a hop: for its origin, whatever hops follow.
    private var named: (origin: Origin, credential: Credential)?
    /// What an origin has taken in this exchange.
    private var accepted: (origin: Origin, proof: Proof)?
    private var origin: Origin?

    /// What the next transfer carries.
    private(set) var proof: Proof?
    /// What the hop's server did not take.
    private(set) var refused: Set<Proof> = []
    /// The token in `proof`, if it comes from the source.
    private(set) var token: TokenSource.Token?
    private var hasRenewedToken = false

    init(_ settings: TransferSettings, for url: URL?) {
        credential = settings.credential
        allowed = settings.authenticationSchemes
        ownOrigin = url.map { Origin($0) }
    }

    // MARK: - Hops

    /// The next transfer goes to another address, or everything begins again. `credential` is what the URL has named.
    mutating func begin(_ url: URL?, credential: Credential?) {
        origin = url.map { Origin($0) }
        if let origin, let credential { named = (origin, credential) }
        proof = nil
        token = nil
        refused = []
        hasRenewedToken = false
    }

    /// Whether the hop goes where the caller's own credentials and tokens belong.
    var isAtHome: Bool { origin != nil && origin == ownOrigin }

    /// Those that may be sent before anybody asks, if it is known how; the best guess first.
    var knownCredentials: [Credential] {
        var known: [Credential] = []
        if let accepted, accepted.origin == origin { known.append(accepted.proof.credential) }
        if let named, named.origin == origin { known.append(named.credential) }
        if let credential, isAtHome { known.append(credential) }
        return known
    }

    mutating func send(_ proof: Proof) {
        self.proof = proof
        token = nil
    }

    mutating func send(_ token: TokenSource.Token) {
        proof = Proof(credential: Credential(bearerToken: token.value), scheme: .bearer)
        self.token = token
    }

    // MARK: - Answers

    /// The server did not ask for more.
    mutating func noteAcceptance() {
        hasRenewedToken = false
        if let origin, let proof, token == nil { accepted = (origin, proof) }
    }

    /// The server answered 401.
    mutating func noteRefusal() {
        guard let proof else { return }
        refused.insert(proof)
        if let accepted, accepted.origin == origin, accepted.proof == proof { self.accepted = nil }
        self.proof = nil
    }

    /// The token that was refused, if there shall be another one; once until something was accepted.
    mutating func tokenToRenew() -> TokenSource.Token? {
        guard let token, !hasRenewedToken else { return nil }
        hasRenewedToken = true
        return token
    }

    /// How to send what somebody answered with; `nil`: the server does not take its kind, or has refused it.
    func proof(with credential: Credential, to offers: [AuthenticationOffer]) -> Proof? {
        AuthenticationChoice.scheme(for: credential, among: offers, allowed: allowed)
            .map { Proof(credential: credential, scheme: $0) }
            .flatMap { refused.contains($0) ? nil : $0 }
    }

    /// What nobody needs to be asked for.
    func defaultProof(to offers: [AuthenticationOffer]) -> Proof? {
        knownCredentials.lazy.compactMap { proof(with: $0, to: offers) }.first
    }
}

extension Authentication.Proof {
    /// The `Authorization` field; `nil` where libcurl makes it.
    var fieldValue: String? {
        guard scheme == .bearer, case .token(let token) = credential.secret else { return nil }
        return "Bearer " + token
    }

    /// What libcurl makes of it; `nil` for a token.
    var curlAuthentication: CurlAuthentication? {
        let curlScheme: CurlAuthentication.Scheme
        switch scheme {
        case .basic: curlScheme = .basic
        case .digest: curlScheme = .digest
        case .ntlm: curlScheme = .ntlm
        case .negotiate: curlScheme = .negotiate
        case .bearer, .other: return nil
        }
        switch credential.secret {
        case .password(let user, let password):
            return CurlAuthentication(scheme: curlScheme, user: user, password: password)
        case .tickets:
            return CurlAuthentication(scheme: curlScheme, user: "", password: "")
        case .token:
            return nil
        }
    }
}
