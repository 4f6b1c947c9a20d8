import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// `Authentication`, the value: hop by hop, without a server.
@Suite struct AuthenticationHopTests {
    private static let alice = Credential(user: "alice", password: "s3cret")
    private static let bob = Credential(user: "bob", password: "h1dden")
    private static let token = Credential(bearerToken: "t")

    private static let basic = Authentication.Proof(credential: alice, scheme: .basic)
    private static let digest = Authentication.Proof(credential: alice, scheme: .digest)

    private let home = URL(string: "http://example.org/a")
    private let elsewhere = URL(string: "http://other.example/")

    /// One that has begun its first hop.
    private func authentication(
        _ credential: Credential? = nil,
        allowed: Set<AuthenticationScheme> = AuthenticationScheme.supported,
        hasBodyInMemory: Bool = true
    ) -> Authentication {
        var settings = TransferSettings()
        settings.credential = credential
        settings.authenticationSchemes = allowed
        var authentication = Authentication(SharedSettings(settings), for: home)
        authentication.begin(home, naming: nil, hasBodyInMemory: hasBodyInMemory)
        return authentication
    }

    private func offers(_ challenges: String...) -> [AuthenticationOffer] {
        AuthenticationOffer.offers(in: challenges)
    }

    private func session(_ challenge: String, clientNonce: String = "c") throws -> DigestSession {
        DigestSession(
            try #require(DigestChallenge.first(in: offers(challenge))),
            clientNonce: clientNonce
        )
    }

    // MARK: - Origins

    private static let hops: [(String?, String?, Bool)] = [
        ("http://example.org/a", "http://example.org/b?c", true),
        ("http://example.org/a", "HTTP://EXAMPLE.org:80/", true),
        ("https://example.org:443/", "https://example.org/", true),
        ("http://example.org/a", "https://example.org/a", false),
        ("http://example.org/a", "http://example.org:8080/a", false),
        ("http://example.org/a", "http://www.example.org/a", false),
        ("http://example.org/a", nil, false),
        (nil, "http://example.org/a", false),
        (nil, nil, false),
    ]

    @Test(arguments: hops)
    func theCallersCredentialIsForTheOriginOfTheRequest(request: String?, hop: String?, isAtHome: Bool) {
        var settings = TransferSettings()
        settings.credential = Self.alice
        var authentication = Authentication(
            SharedSettings(settings),
            for: request.flatMap { URL(string: $0) }
        )
        authentication.begin(hop.flatMap { URL(string: $0) }, naming: nil)
        #expect(authentication.isAtHome == isAtHome)
        #expect(authentication.knownCredentials == (isAtHome ? [Self.alice] : []))
    }

    @Test func theCredentialInAURLComesFirstAndIsForAllHopsOfItsOrigin() {
        var authentication = authentication(Self.alice)
        authentication.begin(home, naming: URLUserInformation(user: "bob", password: "h1dden"))
        #expect(authentication.knownCredentials == [Self.bob, Self.alice])
        authentication.begin(elsewhere, naming: nil)
        #expect(authentication.knownCredentials == [])
        authentication.begin(home, naming: nil)
        #expect(authentication.knownCredentials == [Self.bob, Self.alice])
    }

    /// A user whom a URL names alone: at home the operation's credential has the password.
    @Test func aUserAloneIsKnownWhereNoCredentialHasThePassword() {
        let nameOnly = Credential(user: "alice", password: "")
        let information = URLUserInformation(user: "alice")
        for (credential, known) in [
            (Self.alice, [Self.alice]), (Self.bob, [nameOnly, Self.bob]),
            (Self.token, [nameOnly, Self.token]),
            (nil, [nameOnly]),
        ] as [(Credential?, [Credential])] {
            var authentication = authentication(credential)
            authentication.begin(home, naming: information)
            #expect(authentication.knownCredentials == known)
        }
        var authentication = authentication(Self.alice)
        authentication.begin(elsewhere, naming: information)
        #expect(authentication.knownCredentials == [nameOnly])
        authentication.begin(home, naming: URLUserInformation(user: "alice", password: ""))
        #expect(authentication.knownCredentials == [nameOnly, Self.alice])
    }

    @Test func onlyAPasswordThatTheURLDoesNotHaveIsLookedForElsewhere() {
        let nameOnly = Authentication.Proof(
            credential: Credential(user: "alice", password: ""),
            scheme: .basic
        )
        var authentication = authentication()
        authentication.begin(home, naming: URLUserInformation(user: "alice"))
        #expect(authentication.userWithoutPassword(in: nameOnly) == "alice")
        #expect(authentication.userWithoutPassword(in: Self.basic) == nil)
        authentication.begin(elsewhere, naming: nil)
        #expect(authentication.userWithoutPassword(in: nameOnly) == nil)
        authentication.begin(home, naming: URLUserInformation(user: "alice", password: ""))
        #expect(authentication.userWithoutPassword(in: nameOnly) == nil)
    }

    @Test func theCredentialThatAnOriginTookComesFirstThereAndNowhereElse() {
        var authentication = authentication(Self.alice)
        authentication.send(Authentication.Proof(credential: Self.bob, scheme: .basic))
        authentication.noteAcceptance()
        authentication.begin(elsewhere, naming: nil)
        #expect(authentication.knownCredentials == [])
        authentication.begin(home, naming: nil)
        #expect(authentication.knownCredentials == [Self.bob, Self.alice])
    }

    /// The scheme that is refused after Basic was accepted, and whether Bob's credential is still known.
    private static let refusals: [(AuthenticationScheme, Bool)] = [(.basic, false), (.ntlm, true)]

    @Test(arguments: refusals)
    func aRefusalTakesBackTheSameAcceptanceOnly(scheme: AuthenticationScheme, isKnown: Bool) {
        var authentication = authentication()
        authentication.send(Authentication.Proof(credential: Self.bob, scheme: .basic))
        authentication.noteAcceptance()
        let proof = Authentication.Proof(credential: Self.bob, scheme: scheme)
        authentication.send(proof)
        authentication.noteRefusal()
        #expect(authentication.proof == nil)
        #expect(authentication.refused == [proof])
        #expect(authentication.knownCredentials == (isKnown ? [Self.bob] : []))
    }

    @Test func aRefusalWithoutAProofRefusesNothing() {
        var authentication = authentication(Self.alice)
        authentication.noteRefusal()
        #expect(authentication.refused == [])
        #expect(authentication.knownCredentials == [Self.alice])
    }

    @Test func theNextHopKnowsNothingOfTheProofsOfTheLast() throws {
        var authentication = authentication(hasBodyInMemory: false)
        #expect(!authentication.hasBodyInMemory)
        authentication.send(Self.basic)
        authentication.noteRefusal()
        authentication.send(Self.alice, by: try session("Digest nonce=n"))
        #expect(authentication.proof == Self.digest)
        authentication.begin(elsewhere, naming: nil)
        #expect(authentication.proof == nil)
        #expect(authentication.digest == nil)
        #expect(authentication.refused == [])
        #expect(authentication.hasBodyInMemory)
    }

    // MARK: - Tokens that expire

    @Test func aTokenExpiresAtItsExpiry() {
        let noon = Date(timeIntervalSinceReferenceDate: 1000)
        var authentication = authentication(Self.alice)
        #expect(authentication.takesToken(at: noon))
        authentication.send(TokenSource.Token("t", expiry: noon), now: noon - 1)
        #expect(authentication.expiry == noon)
        #expect(!authentication.hasExpired(at: noon - 0.1) && !authentication.takesToken(at: noon - 0.1))
        #expect(authentication.hasExpired(at: noon) && authentication.takesToken(at: noon))
        authentication.send(Self.basic)
        #expect(authentication.expiry == nil && !authentication.takesToken(at: noon))
    }

    /// Another one would be over as well.
    @Test func aTokenThatIsExpiredOnArrivalIsSent() {
        let noon = Date(timeIntervalSinceReferenceDate: 1000)
        var authentication = authentication()
        for expiry in [noon, noon - 1, Date(timeIntervalSinceReferenceDate: .nan)] {
            authentication.send(TokenSource.Token("t", expiry: expiry), now: noon)
            #expect(!authentication.hasExpired(at: noon + 1000))
            #expect(!authentication.takesToken(at: noon + 1000))
        }
    }

    @Test func aTokenThatWasRefusedIsNotOver() {
        let noon = Date(timeIntervalSinceReferenceDate: 1000)
        var authentication = authentication()
        authentication.send(TokenSource.Token("t", expiry: noon), now: noon - 1)
        authentication.noteRefusal()
        #expect(!authentication.hasExpired(at: noon) && !authentication.takesToken(at: noon))
        authentication.begin(elsewhere, naming: nil)
        #expect(authentication.expiry == nil && !authentication.takesToken(at: noon))
    }

    // MARK: - Which proof answers

    private static let answers: [(Credential, [String], AuthenticationScheme?)] = [
        (alice, ["Basic realm=r"], .basic),
        (alice, ["Basic realm=r", "Digest nonce=n"], .digest),
        (alice, ["Bearer"], nil),
        (alice, [], nil),
        (token, ["Bearer"], .bearer),
        (token, [], .bearer),
        (token, ["Basic realm=r"], nil),
        (.systemTickets, ["Negotiate", "Basic realm=r"], .negotiate),
    ]

    @Test(arguments: answers) func theProofUsesTheOfferedScheme(
        credential: Credential,
        challenges: [String],
        scheme: AuthenticationScheme?
    ) {
        let offers = AuthenticationOffer.offers(in: challenges)
        let expected = scheme.map { Authentication.Proof(credential: credential, scheme: $0) }
        #expect(authentication().proof(with: credential, to: offers) == expected)
        #expect(authentication(credential).defaultProof(to: offers) == expected)
        #expect(authentication(allowed: []).proof(with: credential, to: offers) == nil)
    }

    @Test func aRefusedDigestIsNotFollowedByThePasswordInTheClear() {
        let both = offers("Digest nonce=n", "Basic realm=r")
        var authentication = authentication(Self.alice)
        authentication.send(Self.digest, to: both)
        authentication.noteRefusal()
        #expect(authentication.proof(with: Self.alice, to: both) == nil)
        #expect(authentication.defaultProof(to: both) == nil)
        #expect(authentication.proof(with: Self.bob, to: both)?.scheme == .digest)
    }

    @Test func theNextKnownCredentialIsTriedAfterOneThatWasRefused() {
        let basic = offers("Basic realm=r")
        var authentication = authentication(Self.alice)
        authentication.begin(home, naming: URLUserInformation(user: "bob", password: "h1dden"))
        for credential in [Self.bob, Self.alice] {
            let proof = authentication.defaultProof(to: basic)
            #expect(proof == Authentication.Proof(credential: credential, scheme: .basic))
            if let proof { authentication.send(proof, to: basic) }
            authentication.noteRefusal()
        }
        #expect(authentication.defaultProof(to: basic) == nil)
        #expect(authentication.refused.count == 2)
    }

    @Test(arguments: [true, false]) func aDigestOfTheBodyNeedsTheBodyInMemory(hasBodyInMemory: Bool) {
        let authentication = authentication(hasBodyInMemory: hasBodyInMemory)
        let proof = authentication.proof(with: Self.alice, to: offers("Digest nonce=n, qop=auth-int"))
        #expect(proof == (hasBodyInMemory ? Self.digest : nil))
    }

    // MARK: - Nonces

    enum Sent: Sendable {
        case nothing, basic
        /// A digest with the nonce `old`, which came with the challenge before.
        case challenged
        /// A digest with the nonce `old`, which the server took in an earlier exchange.
        case remembered
    }

    private static let renewals: [(Sent, String, Bool)] = [
        (.nothing, "Digest nonce=new, stale=true", false),
        (.basic, "Digest nonce=new, stale=true", false),
        (.challenged, "Digest nonce=new, stale=true", true),
        (.challenged, "Digest nonce=old, stale=true", true),
        (.challenged, "Digest nonce=new", false),
        (.challenged, "Digest nonce=new, stale=false", false),
        (.remembered, "Digest nonce=new", true),
        (.remembered, "Digest nonce=old", false),
        (.remembered, "Digest nonce=old, stale=true", true),
        (.remembered, "Basic realm=r", false),
        (.remembered, "Digest nonce=new, algorithm=unknown, stale=true", false),
    ]

    @Test(arguments: renewals)
    func aDigestIsSentAgainIfOnlyItsNonceIsRefused(sent: Sent, challenge: String, isRenewed: Bool) throws {
        var authentication = authentication()
        switch sent {
        case .nothing: break
        case .basic: authentication.send(Self.basic, to: offers("Basic realm=r"))
        case .challenged: authentication.send(Self.digest, to: offers("Digest nonce=old"))
        case .remembered: authentication.send(Self.alice, by: try session("Digest nonce=old"))
        }
        let proof = try authentication.proofToRenew(for: offers(challenge))
        #expect(proof == (isRenewed ? Self.digest : nil))
    }

    @Test func aNonceThatCameWithAChallengeIsNotRememberedAnyMore() throws {
        var authentication = authentication()
        authentication.send(Self.alice, by: try session("Digest nonce=old"))
        let proof = try authentication.proofToRenew(for: offers("Digest nonce=new"))
        authentication.send(try #require(proof), to: offers("Digest nonce=new"))
        #expect(authentication.digest?.challenge.nonce == "new")
        // Without `stale`, it is the password that the server refuses now.
        #expect(try authentication.proofToRenew(for: offers("Digest nonce=newer")) == nil)
    }

    @Test func noncesAreRenewedEightTimesOnEachHop() throws {
        var authentication = authentication()
        let stale = offers("Digest nonce=n, stale=true")
        for _ in 1...2 {
            authentication.begin(home, naming: nil)
            authentication.send(Self.digest, to: stale)
            for _ in 1...8 { #expect(try authentication.proofToRenew(for: stale) == Self.digest) }
            let error = #expect(throws: TransferError.self) { try authentication.proofToRenew(for: stale) }
            guard case .endlessChallenges = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    private static let informations: [(String?, String)] = [
        (nil, "old"), ("qop=auth", "old"), ("nextnonce=\"new\"", "new"), ("nextnonce=\"old\"", "old"),
    ]

    @Test(arguments: informations)
    func theServerNamesTheNextNonceInItsInformation(information: String?, nonce: String) throws {
        var authentication = authentication()
        let session = try session("Digest nonce=old")
        authentication.send(Self.alice, by: session)
        authentication.noteAcceptance(information)
        #expect(authentication.digest?.challenge.nonce == nonce)
        #expect((authentication.digest === session) == (nonce == "old"), "the count goes on with the nonce")
    }

    // MARK: - Bodies that wait

    private static let mebibyte = 1024 * 1024
    private static let bodies: [(SampleBody, Bool)] = [
        (.none, false),
        (.data(0), false),
        (.data(mebibyte), false),
        (.data(mebibyte + 1), true),
        (.stream(length: 10, isRepeatable: false), true),
        (.stream(length: 10, isRepeatable: true), false),
        (.stream(length: nil, isRepeatable: true), true),
        (.stream(length: Int64(mebibyte) + 1, isRepeatable: true), true),
    ]

    @Test(arguments: bodies)
    func aBodyThatCanBeReadOnceWaitsIfTheNonceMayBeStale(body: SampleBody, waits: Bool) throws {
        var authentication = authentication()
        authentication.send(Self.digest, to: offers("Digest nonce=n"))
        #expect(authentication.expectsContinue(body.body) == false)
        authentication.send(Self.alice, by: try session("Digest nonce=n"))
        #expect(authentication.expectsContinue(body.body) == waits)
        // 417: the same again without waiting, if it waited, and only once.
        #expect(authentication.noteExpectationFailed() == waits)
        #expect(authentication.expectsContinue(body.body) == false)
        #expect(authentication.noteExpectationFailed() == false)
        authentication.begin(home, naming: nil)
        authentication.send(Self.alice, by: try session("Digest nonce=n"))
        #expect(authentication.expectsContinue(body.body) == waits)
    }

    // MARK: - Tokens

    @Test func aTokenIsRenewedOnceUntilSomethingIsAccepted() {
        var authentication = authentication()
        let (first, second) = (TokenSource.Token("1"), TokenSource.Token("2"))
        #expect(authentication.tokenToRenew() == nil)
        authentication.send(first)
        #expect(authentication.proof?.fieldValue == "Bearer 1")
        authentication.noteRefusal()
        #expect(authentication.tokenToRenew() == first)
        authentication.send(second)
        authentication.noteRefusal()
        #expect(authentication.tokenToRenew() == nil)
        authentication.send(second)
        authentication.noteAcceptance()
        #expect(authentication.tokenToRenew() == second)
    }

    /// The token may have expired by the next hop, and its source knows.
    @Test func aTokenIsNotKnownFromItsAcceptance() {
        var authentication = authentication(Self.alice)
        authentication.send(TokenSource.Token("1"))
        authentication.noteAcceptance()
        authentication.begin(home, naming: nil)
        #expect(authentication.token == nil)
        #expect(authentication.knownCredentials == [Self.alice])
    }

    // MARK: - Proofs

    private static let proofs: [(Credential, AuthenticationScheme, String?, CurlAuthentication?)] = [
        (alice, .basic, nil, CurlAuthentication(scheme: .basic, user: "alice", password: "s3cret")),
        (alice, .ntlm, nil, CurlAuthentication(scheme: .ntlm, user: "alice", password: "s3cret")),
        (.systemTickets, .negotiate, nil, CurlAuthentication(scheme: .negotiate, user: "", password: "")),
        (token, .bearer, "Bearer t", nil),
        (alice, .digest, nil, nil),
        (alice, .bearer, nil, nil),
        (token, .basic, nil, nil),
        (alice, .other("x"), nil, nil),
    ]

    @Test(arguments: proofs) func aProofIsAFieldOrMadeByLibcurl(
        credential: Credential,
        scheme: AuthenticationScheme,
        field: String?,
        curl: CurlAuthentication?
    ) {
        let proof = Authentication.Proof(credential: credential, scheme: scheme)
        #expect(proof.fieldValue == field)
        #expect(proof.curlAuthentication == curl)
    }

    @Test func aDigestIsOfTheTargetTheMethodAndTheBody() throws {
        let url = try #require(URL(string: "http://example.org/a?b=c#d"))
        func field(_ method: String, _ url: URL, _ body: RequestBody?) throws -> String? {
            // A session for each: with the same count of requests, only what is protected differs.
            let session = try session("Digest realm=r, nonce=n, qop=auth-int")
            return try Self.digest.fieldValue(session, method, url, body)
        }
        let first = try #require(try field("GET", url, nil))
        #expect(first.hasPrefix("Digest username=\"alice\", "))
        #expect(first.contains("uri=\"/a?b=c\""))
        #expect(first.contains("nc=00000001"))
        #expect(try field("GET", url, .data(Data())) == first)
        #expect(try field("POST", url, nil) != first)
        #expect(try field("GET", url, .data(Data("x".utf8))) != first)
        let bearer = Authentication.Proof(credential: Self.token, scheme: .digest)
        #expect(try bearer.fieldValue(try session("Digest nonce=n"), "GET", url, nil) == nil)
    }
}

extension Authentication {
    /// Begins a hop to a URL.
    fileprivate mutating func begin(
        _ url: URL?,
        naming information: URLUserInformation?,
        hasBodyInMemory: Bool = true
    ) {
        begin(url.map { RequestAddress($0) }, naming: information, hasBodyInMemory: hasBodyInMemory)
    }
}
