import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct DigestChallengeTests {
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    private static let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"

    private func challenge(_ parameters: String, hasBodyInMemory: Bool = true) -> DigestChallenge? {
        DigestChallenge.first(
            in: AuthenticationOffer.offers(in: ["Digest " + parameters]),
            hasBodyInMemory: hasBodyInMemory
        )
    }

    /// The parameters of the field that answers.
    private func answer(
        _ parameters: String,
        _ user: String = "Mufasa",
        _ password: String = "Circle of Life",
        method: String = "GET",
        target: String = "/dir/index.html",
        body: String = "",
        count: Int = 1,
        clientNonce: String = DigestChallengeTests.clientNonce
    ) throws -> [String: String] {
        let request = DigestChallenge.Request(
            method: method,
            target: target,
            body: Data(body.utf8),
            count: count,
            clientNonce: clientNonce
        )
        let field = try #require(challenge(parameters)).authorization(
            user: user,
            password: password,
            for: request
        )
        let offers = AuthenticationOffer.offers(in: [field])
        #expect(offers.count == 1 && offers.first?.scheme == .digest)
        return try #require(offers.first).parameters
    }

    @Test(
        "RFC 7616 §3.9.1",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
            // Computed by Python's hashlib.
            ("MD5-sess", "e783283f46242139c486a698fec7211d"),
            ("SHA-256-sess", "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"),
        ]
    )
    func theExamplesOfTheStandard(algorithm: String, response: String) throws {
        let said = try answer(
            "realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=\(algorithm), "
                + "nonce=\"\(Self.nonce)\", opaque=\"\(Self.opaque)\""
        )
        #expect(
            said == [
                "username": "Mufasa", "realm": "http-auth@example.org", "uri": "/dir/index.html",
                "algorithm": algorithm, "nonce": Self.nonce, "nc": "00000001", "cnonce": Self.clientNonce,
                "qop": "auth", "response": response, "opaque": Self.opaque,
            ]
        )
    }

    /// The digest of the name is the standard's; that of the password is Python's, for the standard's is wrong.
    @Test("RFC 7616 §3.9.2") func aNameCanBeHidden() throws {
        let said = try answer(
            "realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-512-256, "
                + "nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\", charset=UTF-8, userhash=true",
            "J\u{E4}s\u{F8}n Doe",
            "Secret, or not?",
            target: "/doe.json",
            clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm"
        )
        #expect(said["username"] == "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b")
        #expect(said["response"] == "7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c")
        #expect(said["userhash"] == "true")
    }

    @Test("RFC 2617 §3.5, RFC 2069 §2.4 with its erratum") func olderStandards() throws {
        let nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093"
        let parameters = "realm=\"testrealm@host.com\", nonce=\"\(nonce)\""
        let newer = try answer(
            parameters + ", qop=\"auth,auth-int\"",
            "Mufasa",
            "Circle Of Life",
            clientNonce: "0a4f113b"
        )
        #expect(newer["response"] == "6629fae49393a05397450978507c4ef1" && newer["algorithm"] == nil)
        let older = try answer(parameters, "Mufasa", "CircleOfLife")
        #expect(older["response"] == "1949323746fe6a43ef61f9606e7febea")
        #expect(older["qop"] == nil && older["nc"] == nil && older["cnonce"] == nil)
    }

    /// Computed by Python's hashlib, from octets.
    @Test(arguments: [
        (false, "115d20667a4662232f369f4715b3377c", "j\u{F6}rg"),
        (true, "88c9409e4a47d16978b296bc127909ff", "j\u{C3}\u{B6}rg"),
    ])
    func theServersTextsAreItsOctets(isLatin1: Bool, response: String, user: String) throws {
        let offers = AuthenticationOffer.offers(
            in: ["Digest realm=\"gesch\u{FC}tzt\", nonce=\"n\u{E4}\", opaque=\"\u{DF}\", qop=auth"],
            areLatin1: isLatin1
        )
        let challenge = try #require(DigestChallenge.first(in: offers))
        #expect(challenge.isLatin1 == isLatin1)
        let request = DigestChallenge.Request(method: "GET", target: "/", count: 1, clientNonce: "c")
        let field = try challenge.authorization(user: "j\u{F6}rg", password: "p\u{E4}ss", for: request)
        let said = try #require(AuthenticationOffer.offers(in: [field]).first).parameters
        #expect(said["realm"] == "gesch\u{FC}tzt" && said["nonce"] == "n\u{E4}" && said["opaque"] == "\u{DF}")
        #expect(said["username"] == user)
        #expect(said["response"] == response)
    }

    /// Nothing is gained by it where all is ASCII, and the name would be shown in another form.
    @Test func onlyReturnedTextsCount() throws {
        let offers = AuthenticationOffer.offers(
            in: ["Digest realm=a, nonce=1, title=\"gesch\u{FC}tzt\""],
            areLatin1: true
        )
        #expect(try #require(DigestChallenge.first(in: offers)).isLatin1 == false)
    }

    @Test func aBodyCanBePartOfTheProof() throws {
        let parameters = "realm=\"http-auth@example.org\", qop=auth-int, nonce=\"\(Self.nonce)\""
        let said = try answer(parameters, method: "POST", body: "body")
        #expect(said["response"] == "a1abf5c7fa9ae74478eb9ffa265bf546" && said["qop"] == "auth-int")
        #expect(challenge(parameters, hasBodyInMemory: false) == nil)
        #expect(challenge(parameters + ", qop=x", hasBodyInMemory: true)?.quality == .authInt)
    }

    @Test func numbersHaveEightDigitsOrMore() throws {
        for (count, text) in [(10, "0000000a"), (0xFFFF_FFFF, "ffffffff"), (0x1_0000_0000, "100000000")] {
            #expect(try answer("nonce=1, qop=auth", count: count)["nc"] == text)
        }
    }

    @Test(arguments: [
        "", "realm=a", "nonce=1, algorithm=SHA-512", "nonce=1, algorithm=\"\"", "nonce=1, qop=\"auth-conf\"",
        "nonce=\"a\u{1}b\"", "nonce=1, opaque=\"\u{7F}\"",
    ])
    func whatCannotBeAnswered(parameters: String) {
        #expect(challenge(parameters) == nil)
    }

    @Test(arguments: [
        ("nonce=1", DigestChallenge.Quality?.none, DigestChallenge.Algorithm.md5, false),
        ("nonce=1, qop=\"\", stale=false", nil, .md5, false),
        ("nonce=1, qop=\"AUTH-INT , Auth\", algorithm=sha-256-SESS, stale=TRUE", .auth, .sha256Session, true),
        ("nonce=1, qop=\"auth-int\", algorithm=MD5, stale=\"true\"", .authInt, .md5, true),
    ])
    func whatIsRead(
        _ parameters: String,
        _ quality: DigestChallenge.Quality?,
        _ algorithm: DigestChallenge.Algorithm,
        _ isStale: Bool
    ) throws {
        let read = try #require(challenge(parameters))
        #expect(read.quality == quality && read.algorithm == algorithm && read.isStale == isStale)
    }

    @Test func theFirstThatCanBeAnsweredIs() throws {
        let offers = AuthenticationOffer.offers(in: [
            "Basic realm=x, Digest nonce=1, algorithm=SHA-512, Digest nonce=2, algorithm=SHA-256, Digest nonce=3"
        ])
        #expect(DigestChallenge.first(in: offers)?.nonce == "2")
    }

    @Test func aSessionCountsAndKeepsItsNonce() throws {
        let session = DigestSession(try #require(challenge("realm=a, nonce=1, qop=auth")))
        func next(_ session: DigestSession) throws -> [String: String] {
            let field = try session.nextAuthorization(("u", "p"), method: "GET", target: "/", body: nil)
            return try #require(AuthenticationOffer.offers(in: [field]).first).parameters
        }
        let (first, second) = (try next(session), try next(session))
        #expect(first["nc"] == "00000001" && second["nc"] == "00000002")
        #expect(first["cnonce"] == second["cnonce"] && first["response"] != second["response"])
        #expect(session.following(nil) === session && session.following("rspauth=x, nextnonce=1") === session)
        let third = try next(session.following("nextnonce=\"2\", qop=auth"))
        #expect(third["nonce"] == "2" && third["nc"] == "00000001" && third["cnonce"] != first["cnonce"])
    }
}
