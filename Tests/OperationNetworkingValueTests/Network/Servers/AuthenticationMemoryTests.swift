import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct AuthenticationMemoryTests {
    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func key(
        _ text: String = "http://h/",
        _ credential: Credential = Credential(user: "u", password: "p"),
        _ domain: TrustDomain = TrustDomain(anchors: .system),
        _ servers: ServerSet = .network
    ) throws -> AuthenticationMemory.Key {
        AuthenticationMemory.Key(
            servers: servers,
            trustDomain: domain,
            origin: Origin(try url(text)),
            credential: credential
        )
    }

    @Test(arguments: [
        ("http://h/a/b", "http://h/a/c", true), ("http://h/a/b", "http://h/a/", true),
        ("http://h/a/b", "http://h/a/b/c?d", true), ("http://h/a/b", "http://h/a", false),
        ("http://h/a/b", "http://h/", false), ("http://h/a/b", "http://h/ab/c", false),
        ("http://h/a/b", "http://h/A/b", false), ("http://h", "http://h/a/b", true),
        ("http://h/a", "http://h", true), ("http://h/a/b", "http://h/a/../c", false),
        ("http://h/a/b", "http://h/a/%2e%2E/c", false), ("http://h/a/b", "http://h/a/./c", false),
        ("http://h/a/../b", "http://h/a/../c", false), ("http://h/a%2Fb/c", "http://h/a/b/c", false),
    ])
    func basicGoesOnlyBelowWhereItWasTaken(_ taken: String, _ asked: String, _ isSent: Bool) throws {
        var memory = AuthenticationMemory()
        memory.note(try key(), scheme: .basic, for: try url(taken))
        #expect((memory.scheme(for: try key(), to: try url(asked)) == .basic) == isSent)
    }

    private func session(_ parameters: String) throws -> DigestSession {
        let offers = AuthenticationOffer.offers(in: ["Digest " + parameters])
        return DigestSession(try #require(DigestChallenge.first(in: offers)))
    }

    @Test(arguments: [
        ("realm=a, nonce=1", "http://h/c", true), ("realm=a, nonce=1", "http://h", true),
        ("realm=a, nonce=1, domain=\"/a\"", "http://h/a/x", true),
        ("realm=a, nonce=1, domain=\"/a\"", "http://h/c", false),
        ("realm=a, nonce=1, domain=\"/d /c\"", "http://h/c?x", true),
        ("realm=a, nonce=1, domain=\"/d\"", "http://h/a/c", true),
        ("realm=a, nonce=1, domain=\"/d\"", "http://h/d/../c", false),
        ("realm=a, nonce=1, domain=\"http://H:80/c\"", "http://h/c", true),
        ("realm=a, nonce=1, domain=\"http://i/ https://h/\"", "http://h/c", false),
        ("realm=a, nonce=1, domain=\"//h/c\"", "http://h/c", false),
        ("realm=a, nonce=1, domain=\"c\"", "http://h/c", true),
        ("realm=a, nonce=1, domain=\"/x/../c\"", "http://h/c", true),
        ("realm=a, nonce=1, domain=\"[ /c\"", "http://h/c", true),
    ])
    func aDigestGoesWhereTheServerSaysOrHasTakenIt(_ challenge: String, _ asked: String, _ isSent: Bool)
        throws
    {
        var memory = AuthenticationMemory()
        let session = try session(challenge)
        memory.note(try key(), scheme: .digest, for: try url("http://h/a/b"), digest: session)
        #expect((memory.digest(for: try key(), to: try url(asked)) === session) == isSent)
        #expect((memory.scheme(for: try key(), to: try url(asked)) == .digest) == isSent)
    }

    @Test func eachRealmHasItsOwnNonceAndTheNearestCounts() throws {
        var memory = AuthenticationMemory()
        let (one, two, other) = (
            try session("realm=a, nonce=1"), try session("realm=a, nonce=2"), try session("realm=b, nonce=3")
        )
        memory.note(try key(), scheme: .digest, for: try url("http://h/a/b"), digest: one)
        memory.note(try key(), scheme: .digest, for: try url("http://h/a/x/b"), digest: other)
        memory.note(try key(), scheme: .digest, for: try url("http://h/a/c"), digest: two)
        func found(_ text: String) throws -> DigestSession? {
            memory.digest(for: try key(), to: try url(text))
        }
        #expect(try found("http://h/a/d") === two)
        #expect(try found("http://h/a/x/d") === other)
        #expect(try found("http://h/elsewhere") === two)
        memory.forget(try key(), for: try url("http://h/a/x/d"), digest: one)
        #expect(try found("http://h/a/d") === two)
        memory.forget(try key(), for: try url("http://h/a/x/d"), digest: two)
        #expect(try found("http://h/a/d") === other)
        memory.forget(try key(), for: try url("http://h/a/x/d"), digest: other)
        #expect(memory.count == 0)
    }

    @Test func aServerCannotFillItWithRealms() throws {
        var memory = AuthenticationMemory()
        for number in 0..<100 {
            let place = try url("http://h/\(number)/x")
            memory.note(
                try key(),
                scheme: .digest,
                for: place,
                digest: try session("realm=\(number), nonce=1, domain=\"/x\"")
            )
        }
        let kept = try (0..<100).filter {
            memory.digest(for: try key(), to: try url("http://h/\($0)/y")) != nil
        }
        #expect(kept == Array(84..<100))
    }

    /// A challenge has 100 KiB for that, and each request asks 16 realms.
    @Test func aServerCannotFillItWithURIs() throws {
        var memory = AuthenticationMemory()
        let words = String(repeating: "/q ", count: 32_000)
        let here = try url("http://h/a/b")
        for number in 0..<16 {
            let challenge = try session("realm=\(number), nonce=1, domain=\"/c \(words)/d\"")
            memory.note(try key(), scheme: .digest, for: here, digest: challenge)
        }
        for number in 0..<500 {
            let elsewhere = try url("http://h/e/\(number)")
            #expect(memory.digest(for: try key(), to: elsewhere) == nil)
        }
        #expect(memory.digest(for: try key(), to: try url("http://h/c")) != nil)
        #expect(memory.digest(for: try key(), to: try url("http://h/d")) == nil)
    }

    @Test(arguments: [AuthenticationScheme.ntlm, .negotiate, .bearer])
    func othersGoEverywhere(scheme: AuthenticationScheme) throws {
        var memory = AuthenticationMemory()
        memory.note(try key(), scheme: scheme, for: try url("http://h/a/b"))
        #expect(memory.scheme(for: try key(), to: try url("http://h/c")) == scheme)
    }

    @Test func nothingIsKnownOfOthers() throws {
        var memory = AuthenticationMemory()
        let here = try url("http://h/")
        memory.note(try key(), scheme: .basic, for: here)
        let others = [
            try key("https://h/"), try key("http://h:81/"), try key("http://i/"),
            try key("http://h/", Credential(user: "u", password: "q")),
            try key("http://h/", Credential(user: "u", password: "p"), TrustDomain(anchors: .file(here))),
        ]
        for other in others { #expect(memory.scheme(for: other, to: here) == nil) }
        memory.forget(try key(), for: here)
        #expect(memory.scheme(for: try key(), to: here) == nil && memory.count == 0)
    }

    @Test func whatIsRefusedAtOnePathIsStillTakenAtAnother() throws {
        var memory = AuthenticationMemory()
        memory.note(try key(), scheme: .basic, for: try url("http://h/a/b"))
        memory.note(try key(), scheme: .basic, for: try url("http://h/c/d"))
        memory.forget(try key(), for: try url("http://h/a/x/y"))
        #expect(memory.scheme(for: try key(), to: try url("http://h/a/b")) == nil)
        #expect(memory.scheme(for: try key(), to: try url("http://h/c/d")) == .basic)
    }

    @Test func theSchemeThatWasTakenLastCounts() throws {
        var memory = AuthenticationMemory()
        memory.note(
            try key(),
            scheme: .digest,
            for: try url("http://h/a/b"),
            digest: try session("realm=a, nonce=1")
        )
        memory.note(try key(), scheme: .basic, for: try url("http://h/c/d"))
        #expect(memory.scheme(for: try key(), to: try url("http://h/a/b")) == nil)
        #expect(memory.scheme(for: try key(), to: try url("http://h/c/e")) == .basic)
    }

    @Test func itIsBounded() throws {
        var memory = AuthenticationMemory(capacity: 10)
        for number in 0..<1000 {
            let text = "http://h\(number % 100)/\(number)/"
            memory.note(try key(text), scheme: .basic, for: try url(text))
            #expect(memory.count <= 10)
            #expect(memory.scheme(for: try key(text), to: try url(text)) == .basic)
        }
    }
}
