import Foundation
import Testing

@testable import OperationNetworking

struct AuthenticationMemoryTests {
    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func key(
        _ text: String = "http://h/",
        _ credential: Credential = Credential(user: "u", password: "p"),
        _ domain: TrustDomain = TrustDomain(anchors: .system)
    ) throws -> AuthenticationMemory.Key {
        AuthenticationMemory.Key(trustDomain: domain, origin: Origin(try url(text)), credential: credential)
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

    @Test(arguments: [AuthenticationScheme.digest, .ntlm, .negotiate, .bearer])
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
        memory.note(try key(), scheme: .digest, for: try url("http://h/a/b"))
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
