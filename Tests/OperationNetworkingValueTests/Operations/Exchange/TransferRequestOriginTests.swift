import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Identities, credentials, proxies and cookies of a transfer, and those that cross an origin.
@Suite struct TransferRequestOriginTests {
    private static let alice = Credential(user: "alice", password: "s3cret")

    // MARK: - Another origin

    private static let locations: [(String, Bool)] = [
        ("/next", true), ("http://EXAMPLE.org:80/next", true), ("https://example.org/", false),
        ("http://example.org:8080/", false), ("http://www.example.org/", false), ("//example.com/", false),
    ]

    @Test(arguments: locations)
    func fieldsForOneOriginDoNotReachAnother(location: String, isAtHome: Bool) throws {
        let ownFields = [
            "Authorization": "secret", "Cookie": "a=b", "Host": "name.example", "X-Api-Key": "secret",
            "X-Own": "secret",
        ]
        var scene = try HopScene(
            "http://example.org/",
            "GET",
            ownFields.merging(["X-Trace": "1", "Proxy-Authorization": "secret"]) { $1 }
        )
        var policy = RedirectPolicy()
        policy.droppedHeaders.insert("x-own")
        var authentication = Authentication(scene.configuration.shared, for: scene.hop.url)
        let head = ResponseHead(version: "HTTP/1.1", status: 307, fields: ["Location": location])
        scene.hop = try #require(policy.request(after: head, to: scene.hop))
        authentication.begin(scene.hop.url.map { RequestAddress($0) }, naming: nil)
        scene.isAtHome = authentication.isAtHome
        let fields = try scene.transfer().fields.dictionary
        #expect(fields == (isAtHome ? ownFields : [:]).merging(["X-Trace": "1"]) { $1 })
        // And back: the fields that were dropped are gone.
        let back = ResponseHead(
            version: "HTTP/1.1",
            status: 307,
            fields: ["Location": "http://example.org/"]
        )
        scene.hop = try #require(policy.request(after: back, to: scene.hop))
        #expect(try scene.transfer().fields.dictionary == fields)
    }

    @Test(.enabled(if: TestCertificates.directory != nil), arguments: [true, false])
    func theClientsIdentityIsForTheOriginOfTheRequest(isAtHome: Bool) throws {
        let identity = try ClientIdentity(
            pemFile: try #require(TestCertificates.pem("client")),
            keyFile: TestCertificates.key("client")
        )
        var scene = try HopScene("https://example.org/")
        scene.configuration.settings.clientIdentity = identity
        scene.isAtHome = isAtHome
        #expect(try scene.transfer().trustDomain.identity == (isAtHome ? identity : nil))
    }

    @Test func aHopToAnotherOriginKeepsTheOtherSettingsOfTrust() throws {
        var scene = try HopScene("https://example.org/")
        scene.configuration.settings.tlsVersions = .v1_3 ... .v1_3
        scene.configuration.settings.securityPolicy = SecurityPolicy(pinningMode: .publicKey)
        let home = try scene.transfer().trustDomain
        scene.isAtHome = false
        #expect(try scene.transfer().trustDomain == home)
        #expect(home.versions == .v1_3 ... .v1_3)
        #expect(home.policy.pinningMode == .publicKey)
    }

    // MARK: - Trust

    @Test(arguments: [("http://example.org/", false), ("https://example.org/", true)])
    func aPolicyThatPinsRefusesAHopWithoutTLS(url: String, isAllowed: Bool) throws {
        var scene = try HopScene(url)
        scene.configuration.settings.securityPolicy = SecurityPolicy(pinningMode: .publicKey)
        guard !isAllowed else { return #expect(try scene.transfer().url.absoluteString == url) }
        let error = #expect(throws: ServerTrustError.self) { try scene.transfer() }
        #expect(error?.check == .encryption)
    }

    @Test(arguments: [("http://example.org/", 0), ("https://example.org/", 1), ("HTTPS://example.org/", 1)])
    func theVersionsOfAuthoritiesCountForTLSOnly(url: String, count: Int) throws {
        var scene = try HopScene(url)
        let anchors = TrustAnchors.file(URL(fileURLWithPath: "/missing.pem"))
        scene.configuration.settings.trustAnchors = anchors
        scene.configuration.anchorVersions = anchors.fileVersions
        #expect(try scene.transfer().trustDomain.anchorVersions.count == count)
    }

    // MARK: - Proxies

    private static let proxies: [(Proxy.Kind?, String, Bool)] = [
        (nil, "http://example.org/", false), (.http, "http://example.org/", true),
        (.http, "https://example.org/", true), (.socks4a, "http://example.org/", false),
        (.socks5h, "https://example.org/", false),
    ]

    @Test(arguments: proxies)
    func theProxysAuthorizationIsNeverSentToAServer(kind: Proxy.Kind?, url: String, isSent: Bool)
        throws
    {
        for name in ["Proxy-Authorization", "proxy-authorization"] {
            var scene = try HopScene(url, "GET", [name: "secret"])
            if let kind {
                scene.configuration.settings.proxyConfiguration = .proxy(try Proxy(kind: kind, host: "p"))
            }
            let transfer = try scene.transfer()
            #expect(transfer.trustDomain.proxy?.kind == kind)
            #expect(transfer.trustDomain.proxyAuthorization == (isSent ? "secret" : nil))
            #expect(transfer.fields.isEmpty)
            let options = transfer.options(nil)
            #expect(!options.headerLines.contains { $0.contains("secret") })
            #expect((options.proxy?.headerLines ?? []) == (isSent ? ["Proxy-Authorization: secret"] : []))
        }
    }

    @Test(arguments: [("http://example.org/", false), ("http://example.com/", true)])
    func eachHopGetsTheProxyForItsOwnURL(url: String, isProxied: Bool) throws {
        var scene = try HopScene(url)
        let proxy = try Proxy(host: "p")
        scene.configuration.settings.proxyConfiguration = .proxy(proxy, exceptions: ["example.org"])
        #expect(try scene.transfer().trustDomain.proxy == (isProxied ? proxy : nil))
    }

    // MARK: - Credentials

    struct Sent: Sendable {
        var proof: Authentication.Proof?
        /// The `Authorization` field; `nil`: none.
        var field: String?
        /// The scheme that libcurl answers by itself.
        var scheme: CurlAuthentication.Scheme?
        /// Whether the connection is the credential's alone, over HTTP/1.1.
        var ownsConnection = false
    }

    private static let sents = [
        Sent(field: "the caller's"),
        Sent(
            proof: Authentication.Proof(credential: Credential(bearerToken: "t"), scheme: .bearer),
            field: "Bearer t"
        ),
        Sent(proof: Authentication.Proof(credential: alice, scheme: .basic), scheme: .basic),
        Sent(
            proof: Authentication.Proof(credential: alice, scheme: .ntlm),
            scheme: .ntlm,
            ownsConnection: true
        ),
        Sent(
            proof: Authentication.Proof(credential: .systemTickets, scheme: .negotiate),
            scheme: .negotiate,
            ownsConnection: true
        ),
    ]

    @Test(arguments: sents) func aProofTakesThePlaceOfTheCallersAuthorization(sent: Sent) throws {
        for name in ["Authorization", "AUTHORIZATION"] {
            var scene = try HopScene("http://example.org/", "GET", [name: "the caller's"])
            scene.proof = sent.proof
            let transfer = try scene.transfer()
            #expect(transfer.fields.values(for: "Authorization") == [sent.field].compactMap(\.self))
            #expect(transfer.authentication?.scheme == sent.scheme)
            #expect(transfer.trustDomain.credential == (sent.ownsConnection ? sent.proof?.credential : nil))
            #expect(transfer.version == (sent.ownsConnection ? .http1 : .automatic))
        }
    }

    @Test func aDigestIsOfTheHopAndCounted() throws {
        var scene = try HopScene("http://example.org/a?b=c", "PUT")
        scene.proof = Authentication.Proof(credential: Self.alice, scheme: .digest)
        let offers = AuthenticationOffer.offers(in: ["Digest realm=r, nonce=n, qop=auth"])
        scene.digest = DigestSession(try #require(DigestChallenge.first(in: offers)))
        for count in 1...2 {
            let transfer = try scene.transfer()
            let field = try #require(transfer.fields["Authorization"])
            #expect(field.hasPrefix("Digest username=\"alice\", "))
            #expect(field.contains("uri=\"/a?b=c\""))
            #expect(field.contains("nc=0000000\(count)"))
            #expect(transfer.authentication == nil)
            #expect(transfer.trustDomain.credential == nil)
        }
    }

    private static let refused: [(Credential, AuthenticationScheme, CredentialError)] = [
        (Credential(user: "a:b", password: "p"), .basic, .colonInUser),
        (Credential(user: "a\r\nX: y", password: "p"), .basic, .controlCharacter(in: .user)),
        (Credential(user: "a", password: "p\n"), .digest, .controlCharacter(in: .password)),
        (Credential(bearerToken: "a\r\nX: y"), .bearer, .controlCharacter(in: .token)),
        (Credential(bearerToken: ""), .bearer, .invalidToken),
        (Credential(bearerToken: "a b"), .bearer, .invalidToken),
    ]

    @Test(arguments: refused) func aCredentialThatWouldNotArriveIsNotSent(
        credential: Credential,
        scheme: AuthenticationScheme,
        error: CredentialError
    ) throws {
        var scene = try HopScene()
        scene.proof = Authentication.Proof(credential: credential, scheme: scheme)
        #expect(throws: error) { try scene.transfer() }
    }

    // MARK: - Cookies

    @Test(arguments: [nil, [], ["a"], ["b", "a"]])
    func cookiesAreThoseThatWereRead(names: [String]?) throws {
        var scene = try HopScene()
        scene.cookies = try names.map { names in
            try names.map { try #require(Cookie(name: $0, value: "1", domain: "example.org")) }
        }
        let transfer = try scene.transfer()
        #expect(transfer.options(nil).cookieLines == scene.cookies?.map(\.line))
        #expect(transfer.cookies?.map(\.name) == names)
        #expect(transfer.fields.isEmpty)
    }
}
