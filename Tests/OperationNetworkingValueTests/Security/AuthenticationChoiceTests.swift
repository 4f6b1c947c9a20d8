import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct AuthenticationChoiceTests {
    private static let password = Credential(user: "u", password: "p")
    private static let token = Credential(bearerToken: "t")
    private static let all = AuthenticationScheme.supported

    @Test(arguments: [
        ("Basic realm=a", password, AuthenticationScheme.basic),
        ("Basic realm=a, Digest nonce=1", password, .digest),
        ("Basic realm=a, Digest nonce=1, NTLM, Negotiate", password, .digest),
        ("Basic realm=a, NTLM, Negotiate", password, .ntlm),
        ("Digest nonce=1, algorithm=SHA-256", password, .digest),
        ("Digest nonce=1, algorithm=md5-SESS", password, .digest),
        ("Negotiate", password, nil),
        ("Bearer", password, nil),
        ("New", password, nil),
        ("", password, nil),
        ("Basic realm=a, Bearer", token, .bearer),
        ("", token, .bearer),
        ("Basic realm=a", token, nil),
        ("Negotiate, NTLM", .systemTickets, .negotiate),
        ("NTLM, Basic realm=a", .systemTickets, nil),
        ("Digest nonce=1, algorithm=SHA-512-256", password, .digest),
        ("Digest nonce=1, algorithm=SHA-512", password, nil),
        ("Digest nonce=1, algorithm=SHA-512, Digest nonce=1", password, .digest),
        ("Digest nonce=1, algorithm=SHA-512, Basic realm=a", password, .basic),
        ("Digest realm=a, Basic realm=a", password, .basic),
    ])
    func takesTheStrongest(_ field: String, _ credential: Credential, _ scheme: AuthenticationScheme?) {
        let offers = AuthenticationOffer.offers(in: [field])
        #expect(AuthenticationChoice.scheme(for: credential, among: offers, allowed: Self.all) == scheme)
    }

    @Test func takesOnlyWhatIsAllowed() {
        let offers = AuthenticationOffer.offers(in: ["Digest nonce=1, Basic realm=a, Bearer"])
        for (credential, allowed, scheme) in [
            (Self.password, [.basic], .basic), (Self.password, [.bearer], nil), (Self.token, [.basic], nil),
        ] as [(Credential, Set<AuthenticationScheme>, AuthenticationScheme?)] {
            #expect(AuthenticationChoice.scheme(for: credential, among: offers, allowed: allowed) == scheme)
        }
    }

    @Test func aChallengeNamesTheStrongestOffer() throws {
        let url = try #require(URL(string: "https://example.org/a"))
        let challenge = AuthenticationChallenge(
            url: url,
            offers: AuthenticationOffer.offers(in: ["Basic realm=b, Digest realm=d, nonce=1"]),
            previousFailureCount: 2,
            response: nil
        )
        #expect(challenge.host == "example.org" && challenge.port == 443 && challenge.protocol == "https")
        #expect(challenge.scheme == .digest && challenge.realm == "d" && !challenge.isProxy)
        #expect(challenge.offers.count == 2 && challenge.previousFailureCount == 2)
        let space = challenge.protectionSpace
        #expect(space.host == "example.org" && space.port == 443 && space.realm == "d")
        #expect(space.authenticationMethod == NSURLAuthenticationMethodHTTPDigest)
    }

    @Test func aChallengeMayOfferNothing() throws {
        let url = try #require(URL(string: "http://example.org:81/"))
        let challenge = AuthenticationChallenge(url: url, offers: [], previousFailureCount: 0, response: nil)
        #expect(challenge.port == 81 && challenge.scheme == nil && challenge.realm == nil)
        #expect(challenge.protectionSpace.host == "example.org")
    }
}
