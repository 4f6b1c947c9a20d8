import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The identity that an exchange presents, hop by hop: a value.
///
/// A credential stays with its origin: that of the caller's request, or that of the URL that contained it.
/// Other origins get the credential that the credential storage has for them, or that the challenge closure
/// answers with.
///
/// Tokens and digests are fields of the request. libcurl gets a name and a password only for a transfer that
/// sends them, with exactly one scheme, so that it cannot fall back to a weaker one. For NTLM and Negotiate
/// it answers challenges within one transfer; these authenticate a connection, so the credential is a part of
/// the ``TrustDomain``, and they use HTTP/1.1. libcurl begins them with an empty body, which a server that no
/// longer asks would take for the request: a request with a body is sent so only after a 401, unless its
/// stream can be read only once.
///
/// Most properties say what happened in one hop, and begin anew with the next.
struct Authentication {
    /// A credential and the scheme with which it is sent.
    struct Proof: Hashable {
        var credential: Credential
        var scheme: AuthenticationScheme
    }

    /// The maximum number of consecutive stale nonces in one hop.
    private static let maximumRenewals = 8
    /// The maximum number of tokens that may expire while the exchange waits in line.
    private static let maximumOutlived = 3
    /// The maximum length of a body that is sent although the server may reject it: waiting for `100
    /// Continue` may take a second.
    private static let maximumWastedBody: Int64 = 1024 * 1024

    /// The credentials of the operation and of its request's URL.
    private let credential: Credential?
    private let ownURL: URL?
    /// Set from the first hop on.
    private var ownOrigin: Origin?
    private let allowed: Set<AuthenticationScheme>
    /// From the URL of a hop: used for its origin in all later hops.
    @Rare private var named: (origin: Origin, information: URLUserInformation)?
    /// The last proof that was accepted in this exchange, and its origin.
    @Rare private var accepted: (origin: Origin, proof: Proof)?
    /// The origin of the hop.
    private(set) var origin: Origin?
    /// Whether the hop goes to the origin of the caller's own credentials and tokens.
    private(set) var isAtHome = false
    /// Whether a digest of the hop's body can be computed.
    private(set) var hasBodyInMemory = true

    /// The proof that the next transfer carries.
    private(set) var proof: Proof?
    /// The server's nonce, if `proof` is a digest.
    private(set) var digest: DigestSession?
    /// Whether `digest` was known before the hop: the server may have forgotten it, or may be a different
    /// one.
    private var isDigestRemembered = false
    private var renewedDigests = 0
    /// Whether the body of the transfer waits for `100 Continue`, and whether the server supports that.
    private var expectsContinue = false
    private var supportsContinue = true
    /// The proofs that the hop's server rejected.
    private(set) var refused: Set<Proof> = []
    /// The token in `proof`, if it comes from the source.
    private(set) var token: TokenSource.Token?
    /// The time after which ``proof``, a token, is no longer sent; `nil` if it may always be sent. A token
    /// that had already expired when it arrived is sent, too: the next one would have expired as well.
    private(set) var expiry: Date?
    /// The number of tokens that expired before this hop's turn came.
    private var outlived = 0
    private var hasRenewedToken = false

    init(_ settings: SharedSettings, for url: URL?) {
        credential = settings.value.credential
        allowed = settings.value.authenticationSchemes
        ownURL = url
    }

    // MARK: - Hops

    /// Begins a hop: the next transfer goes to another address, or everything starts over. `information` is
    /// the user information of the URL.
    mutating func begin(
        _ address: RequestAddress?,
        naming information: URLUserInformation?,
        hasBodyInMemory: Bool = true
    ) {
        origin = address?.origin
        if ownOrigin == nil {
            let isOwn = address?.text == ownURL?.absoluteString
            ownOrigin = isOwn ? origin : ownURL.map { Origin($0) }
        }
        isAtHome = origin != nil && origin == ownOrigin
        self.hasBodyInMemory = hasBodyInMemory
        if let origin, let information { named = (origin, information) }
        proof = nil
        token = nil
        expiry = nil
        outlived = 0
        digest = nil
        isDigestRemembered = false
        renewedDigests = 0
        expectsContinue = false
        supportsContinue = true
        refused = []
        hasRenewedToken = false
    }

    /// Whether there can be ``knownCredentials``.
    var mayKnowCredentials: Bool { credential != nil || named != nil || accepted != nil }

    /// The credentials that may be sent preemptively, if the scheme is known; the most likely first.
    var knownCredentials: [Credential] {
        var known: [Credential] = []
        if let accepted, accepted.origin == origin { known.append(accepted.proof.credential) }
        if let named, named.origin == origin, !isCompleted(named.information) {
            known.append(named.information.credential)
        }
        if let credential, isAtHome { known.append(credential) }
        return known
    }

    /// Whether the URL has only a user name and the operation's own credential has the password for it.
    /// Sending an empty password first would be wrong.
    private func isCompleted(_ information: URLUserInformation) -> Bool {
        information.password == nil && isAtHome && credential?.user == information.user
    }

    /// The user name of the hop's URL, if the URL has no password and the proof uses an empty one instead.
    func userWithoutPassword(in proof: Proof) -> String? {
        guard let named, named.origin == origin, named.information.password == nil,
            proof.credential == named.information.credential
        else { return nil }
        return named.information.user
    }

    /// - Parameters:
    ///   - proof: the chosen proof.
    ///   - offers: the server's offers, from which a digest takes its nonce.
    mutating func send(_ proof: Proof, to offers: [AuthenticationOffer] = []) {
        self.proof = proof
        token = nil
        expiry = nil
        isDigestRemembered = false
        digest =
            proof.scheme == .digest
            ? DigestChallenge.first(in: offers, hasBodyInMemory: hasBodyInMemory).map { DigestSession($0) }
            : nil
    }

    /// Sends a digest with a nonce that the server has accepted before.
    mutating func send(_ credential: Credential, by remembered: DigestSession) {
        proof = Proof(credential: credential, scheme: .digest)
        token = nil
        expiry = nil
        digest = remembered
        isDigestRemembered = true
    }

    mutating func send(_ token: TokenSource.Token, now: Date = Date()) {
        if hasExpired(at: now) { outlived += 1 }
        digest = nil
        proof = Proof(credential: Credential(bearerToken: token.value), scheme: .bearer)
        self.token = token
        // If every token expires in the line, the next one is sent anyway: the wait has to end.
        let isBounded = outlived < Self.maximumOutlived
        expiry = isBounded && token.isGood(at: now) ? token.expiry : nil
    }

    /// Whether the token in ``proof`` has expired since it was fetched.
    func hasExpired(at now: Date = Date()) -> Bool {
        proof != nil && expiry.map { $0 <= now } ?? false
    }

    /// Whether the next transfer uses a token of the source, if there is one.
    func takesToken(at now: Date = Date()) -> Bool {
        isAtHome && (proof == nil ? refused.isEmpty : hasExpired(at: now))
    }

    // MARK: - Answers

    /// Records that the server accepted the proof. `information` is its `Authentication-Info`.
    mutating func noteAcceptance(_ information: String? = nil) {
        hasRenewedToken = false
        digest = digest?.following(information)
        if let origin, let proof, token == nil { accepted = (origin, proof) }
    }

    /// Records that the server answered 401.
    mutating func noteRefusal() {
        guard let proof else { return }
        refused.insert(proof)
        if let accepted, accepted.origin == origin, accepted.proof == proof { self.accepted = nil }
        self.proof = nil
    }

    /// Returns the proof to send again if the server only wants another nonce for a digest: it says that the
    /// old one is stale, or it no longer knows one that it accepted earlier. That is not a rejection.
    ///
    /// - Throws: `TransferError.endlessChallenges` if that happened too often in this hop.
    mutating func proofToRenew(for offers: [AuthenticationOffer]) throws(TransferError) -> Proof? {
        guard let proof, let digest,
            let challenge = DigestChallenge.first(in: offers, hasBodyInMemory: hasBodyInMemory),
            challenge.isStale || isDigestRemembered && challenge.nonce != digest.challenge.nonce
        else { return nil }
        renewedDigests += 1
        guard renewedDigests <= Self.maximumRenewals else { throw .endlessChallenges }
        return proof
    }

    /// Decides whether the body waits for `100 Continue` (RFC 9110 §10.1.1): the server may want a new nonce,
    /// and a body that is large, or can be read only once, would have been sent in vain.
    mutating func expectsContinue(_ body: RequestBody?) -> Bool {
        guard let body, isDigestRemembered, supportsContinue else {
            expectsContinue = false
            return false
        }
        expectsContinue = !body.isRepeatable || (body.length ?? .max) > Self.maximumWastedBody
        return expectsContinue
    }

    /// Records that the server answered 417.
    /// - Returns: whether the request may be repeated without waiting, since no byte of the body was sent.
    mutating func noteExpectationFailed() -> Bool {
        defer { supportsContinue = false }
        return expectsContinue && supportsContinue
    }

    /// Returns the rejected token if another one should be fetched: once until a proof is accepted.
    mutating func tokenToRenew() -> TokenSource.Token? {
        guard let token, !hasRenewedToken else { return nil }
        hasRenewedToken = true
        return token
    }

    /// The proof for a credential from a challenge closure; `nil` if the server does not accept its kind, or
    /// has rejected it.
    func proof(with credential: Credential, to offers: [AuthenticationOffer]) -> Proof? {
        AuthenticationChoice
            .scheme(for: credential, among: offers, allowed: allowed, hasBodyInMemory: hasBodyInMemory)
            .map { Proof(credential: credential, scheme: $0) }
            .flatMap { refused.contains($0) ? nil : $0 }
    }

    /// The proof from the known credentials.
    func defaultProof(to offers: [AuthenticationOffer]) -> Proof? {
        knownCredentials.lazy.compactMap { proof(with: $0, to: offers) }.first
    }
}

extension Authentication.Proof {
    /// The `Authorization` field of a token; `nil` if libcurl or a ``DigestSession`` makes the field.
    var fieldValue: String? {
        guard scheme == .bearer, case .token(let token) = credential.secret else { return nil }
        return "Bearer " + token
    }

    /// The `Authorization` field with a digest, for the next request of a session.
    func fieldValue(
        _ session: DigestSession,
        _ method: String,
        _ url: URL,
        _ body: RequestBody?
    ) throws -> String? {
        guard case .password(let user, let password) = credential.secret else { return nil }
        let data: Data? =
            switch body {
            case nil: Data()
            case .data(let data): data
            case .stream: nil
            }
        return try session.nextAuthorization(
            (user, password),
            method: method,
            target: RequestTarget.of(url.absoluteString) ?? "/",
            body: data
        )
    }

    /// The proof in libcurl's form; `nil` if it is sent as a field.
    var curlAuthentication: CurlAuthentication? {
        let curlScheme: CurlAuthentication.Scheme
        switch scheme {
        case .basic: curlScheme = .basic
        case .ntlm: curlScheme = .ntlm
        case .negotiate: curlScheme = .negotiate
        case .bearer, .digest, .other: return nil
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
