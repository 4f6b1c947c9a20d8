import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The identity that an exchange shows, hop by hop: a value.
///
/// A credential stays with the origin it is for: that of the caller's request, or that of the URL it was part
/// of. Other origins get what the credential storage has for them, or what the challenge closure answers to
/// their name.
///
/// Most properties say what happened in one hop, and begin anew with the next.
struct Authentication {
    /// A credential, and how it is sent.
    struct Proof: Hashable {
        var credential: Credential
        var scheme: AuthenticationScheme
    }

    /// Nonces of one hop that may be stale one after the other.
    private static let maximumRenewals = 8
    /// The limit of tokens that a wait in line may outlive.
    private static let maximumOutlived = 3
    /// Bytes of a body that are sent although the server may refuse them: to wait for its leave may take a
    /// second.
    private static let maximumWastedBody: Int64 = 1024 * 1024

    /// The credentials of the operation and of its request's URL.
    private let credential: Credential?
    private let ownURL: URL?
    /// Known from the first hop on.
    private var ownOrigin: Origin?
    private let allowed: Set<AuthenticationScheme>
    /// From the URL of a hop: for its origin, whatever hops follow.
    private var named: (origin: Origin, information: URLUserInformation)?
    /// The proofs that origins have taken in this exchange.
    private var accepted: (origin: Origin, proof: Proof)?
    /// The origin of the hop.
    private(set) var origin: Origin?
    /// Whether the hop goes where the caller's own credentials and tokens belong.
    private(set) var isAtHome = false
    /// Whether a digest of the hop's body can be made.
    private(set) var hasBodyInMemory = true

    /// The proof that the next transfer carries.
    private(set) var proof: Proof?
    /// The server's nonce, if `proof` is a digest.
    private(set) var digest: DigestSession?
    /// Whether `digest` was known before the hop: the server may have forgotten it, or be another one.
    private var isDigestRemembered = false
    private var renewedDigests = 0
    /// Whether the body of the transfer waits for the server's leave; and whether the server knows how to
    /// give it.
    private var asksForLeave = false
    private var givesLeave = true
    /// The proofs that the hop's server did not take.
    private(set) var refused: Set<Proof> = []
    /// The token in `proof`, if it comes from the source.
    private(set) var token: TokenSource.Token?
    /// The time from which on ``proof`` is not sent any more: that of a token. `nil`: it may be sent. A token
    /// that was over when it came is sent, too: the next one would be over as well.
    private(set) var expiry: Date?
    /// The number of tokens of this hop that were over when its turn came.
    private var outlived = 0
    private var hasRenewedToken = false

    init(_ settings: SharedSettings, for url: URL?) {
        credential = settings.value.credential
        allowed = settings.value.authenticationSchemes
        ownURL = url
    }

    // MARK: - Hops

    /// The next transfer goes to another address, or everything begins again. `information` is what the URL
    /// has named.
    mutating func begin(
        _ url: URL?,
        naming information: URLUserInformation?,
        hasBodyInMemory: Bool = true
    ) {
        origin = url.map { Origin($0) }
        if ownOrigin == nil {
            let isOwn = url?.absoluteString == ownURL?.absoluteString
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
        asksForLeave = false
        givesLeave = true
        refused = []
        hasRenewedToken = false
    }

    /// Whether there may be ``knownCredentials``.
    var mayKnowCredentials: Bool { credential != nil || named != nil || accepted != nil }

    /// Credentials that may be sent before a server asks, if it is known how; the best guess first.
    var knownCredentials: [Credential] {
        var known: [Credential] = []
        if let accepted, accepted.origin == origin { known.append(accepted.proof.credential) }
        if let named, named.origin == origin, !isCompleted(named.information) {
            known.append(named.information.credential)
        }
        if let credential, isAtHome { known.append(credential) }
        return known
    }

    /// Whether the operation's own credential has the password of the user that the URL names alone. An empty
    /// one before it would be a wrong one.
    private func isCompleted(_ information: URLUserInformation) -> Bool {
        information.password == nil && isAtHome && credential?.user == information.user
    }

    /// The user whom the hop's URL names alone, if the proof has the empty password that this stands for.
    func userWithoutPassword(in proof: Proof) -> String? {
        guard let named, named.origin == origin, named.information.password == nil,
            proof.credential == named.information.credential
        else { return nil }
        return named.information.user
    }

    /// - Parameters:
    ///   - proof: what was chosen.
    ///   - offers: the server's, of which a digest takes the nonce.
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

    /// Sends a digest with a nonce that the server has taken before.
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
        // Where the line is longer than each token, the next one is sent as it is: the wait has to end.
        let isBounded = outlived < Self.maximumOutlived
        expiry = isBounded && token.isGood(at: now) ? token.expiry : nil
    }

    /// Whether the token in ``proof`` has expired since it came.
    func hasExpired(at now: Date = Date()) -> Bool {
        proof != nil && expiry.map { $0 <= now } ?? false
    }

    /// Whether the next transfer gets a token of the source, if there is one.
    func takesToken(at now: Date = Date()) -> Bool {
        isAtHome && (proof == nil ? refused.isEmpty : hasExpired(at: now))
    }

    // MARK: - Answers

    /// The server did not ask for more. `information` is its `Authentication-Info`.
    mutating func noteAcceptance(_ information: String? = nil) {
        hasRenewedToken = false
        digest = digest?.following(information)
        if let origin, let proof, token == nil { accepted = (origin, proof) }
    }

    /// The server answered 401.
    mutating func noteRefusal() {
        guard let proof else { return }
        refused.insert(proof)
        if let accepted, accepted.origin == origin, accepted.proof == proof { self.accepted = nil }
        self.proof = nil
    }

    /// The proof to send again because the server, asked with a digest, only wants another nonce: it says
    /// that the old one is stale, or it does not know one that it took earlier. That was no refusal.
    ///
    /// - Throws: `TransferError.endlessChallenges` when it was so too often on this hop.
    mutating func proofToRenew(for offers: [AuthenticationOffer]) throws(TransferError) -> Proof? {
        guard let proof, let digest,
            let challenge = DigestChallenge.first(in: offers, hasBodyInMemory: hasBodyInMemory),
            challenge.isStale || isDigestRemembered && challenge.nonce != digest.challenge.nonce
        else { return nil }
        renewedDigests += 1
        guard renewedDigests <= Self.maximumRenewals else { throw .endlessChallenges }
        return proof
    }

    /// Whether the body is to wait until the server has read the head (RFC 9110 §10.1.1): it may want another
    /// nonce than the one it took last, and a body that is large, or can be read only once, would have gone
    /// for nothing.
    mutating func asksForLeave(_ body: RequestBody?) -> Bool {
        guard let body, isDigestRemembered, givesLeave else {
            asksForLeave = false
            return false
        }
        asksForLeave = !body.isRepeatable || (body.length ?? .max) > Self.maximumWastedBody
        return asksForLeave
    }

    /// The server answered 417.
    /// - Returns: whether the same may be asked again, without waiting: no byte of the body was sent.
    mutating func noteNoLeave() -> Bool {
        defer { givesLeave = false }
        return asksForLeave && givesLeave
    }

    /// The token that was refused, if there shall be another one; once until something was accepted.
    mutating func tokenToRenew() -> TokenSource.Token? {
        guard let token, !hasRenewedToken else { return nil }
        hasRenewedToken = true
        return token
    }

    /// The way to send the answer of a challenge closure; `nil`: the server does not take its kind, or has
    /// refused it.
    func proof(with credential: Credential, to offers: [AuthenticationOffer]) -> Proof? {
        AuthenticationChoice
            .scheme(for: credential, among: offers, allowed: allowed, hasBodyInMemory: hasBodyInMemory)
            .map { Proof(credential: credential, scheme: $0) }
            .flatMap { refused.contains($0) ? nil : $0 }
    }

    /// The proof that is known without a question.
    func defaultProof(to offers: [AuthenticationOffer]) -> Proof? {
        knownCredentials.lazy.compactMap { proof(with: $0, to: offers) }.first
    }
}

extension Authentication.Proof {
    /// The `Authorization` field of a token; `nil` where libcurl makes it, or a ``DigestSession``.
    var fieldValue: String? {
        guard scheme == .bearer, case .token(let token) = credential.secret else { return nil }
        return "Bearer " + token
    }

    /// The `Authorization` field that proves it by a digest, for the next request of a session.
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

    /// libcurl's form of it; `nil` for a proof that is a field.
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
