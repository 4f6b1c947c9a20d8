import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The cookies that a server may set, and the hosts that they go to.
@Suite(.timeLimit(.minutes(1)))
struct SetCookieTests {
    private let scene = CookieScene()

    /// Sets from one address; returns what another one is sent.
    private func sent(
        _ value: String,
        from first: (host: String, path: String) = ("localhost", "/"),
        to second: (host: String, path: String) = ("localhost", "/")
    ) async throws -> [String] {
        let server = try ScriptedServer.setting(value)
        #expect(await scene.get(try server.url(host: first.host, first.path)).error == nil)
        #expect(await scene.get(try server.url(host: second.host, second.path)).error == nil)
        #expect(server.cookies.first == [])
        return server.cookies[1]
    }

    @Test(arguments: [
        ("a=1", ["a=1"]), ("a=1; Path=/", ["a=1"]), ("a=\"1 2\"", ["a=\"1 2\""]), ("a=", ["a="]),
        ("a = 1 ", ["a=1"]), ("a=1; HttpOnly", ["a=1"]), ("a=1; SameSite=Strict; Priority=High", ["a=1"]),
        ("a=b=c", ["a=b=c"]), ("A=1;;;", ["A=1"]),
    ])
    func aCookieIsSentBack(value: String, expected: [String]) async throws {
        #expect(try await sent(value) == expected)
    }

    // MARK: - Time

    @Test(arguments: [
        "Wed, 09 Jun 2100 10:18:14 GMT", "Wednesday, 09-Jun-2100 10:18:14 GMT",
        "Wed, 09-Jun-2100 10:18:14 GMT",
        "Wed Jun  9 10:18:14 2100", "9 Jun 2100 10:18:14", "Wed, 09 Jun 2100 10:18:14 +0000",
    ])
    func expiresHasManyForms(date: String) async throws {
        #expect(try await sent("a=1; Expires=\(date)") == ["a=1"])
        let expires = try #require(scene.jar.cookies.first?.expiresDate)
        // libcurl from 8.12 on keeps no cookie for more than 400 days.
        let isCapped = CurlLibrary.versionNumber >= 0x08_0C_00
        let date =
            isCapped ? Date(timeIntervalSinceNow: 400 * 86_400) : Date(timeIntervalSince1970: 4_116_219_494)
        #expect(abs(expires.timeIntervalSince(date)) <= (isCapped ? 86_400 : 0))
    }

    @Test(arguments: [
        "Expires=Wed, 09 Jun 1999 10:18:14 GMT", "Max-Age=0", "Max-Age=-1", "Max-Age=\"0\"",
        "Max-Age=0; Expires=Wed, 09 Jun 2100 10:18:14 GMT", "Expires=Thu, 01 Jan 1970 00:00:00 GMT",
    ])
    func anExpiredCookieIsNeitherStoredNorSent(attribute: String) async throws {
        #expect(try await sent("a=1; \(attribute)") == [])
        #expect(scene.pairs == [])
    }

    @Test func maxAgeCountsFromNow() async throws {
        #expect(try await sent("a=1; Max-Age=1000; Expires=Wed, 09 Jun 1999 10:18:14 GMT") == ["a=1"])
        let date = try #require(scene.jar.cookies.first?.expiresDate)
        #expect((900...1000).contains(date.timeIntervalSinceNow))
    }

    @Test(arguments: ["Max-Age=0", "Expires=Wed, 09 Jun 1999 10:18:14 GMT", "Max-Age=-5"])
    func aServerCanTakeItsCookieAway(attribute: String) async throws {
        let server = try ScriptedServer([
            .respond(["Set-Cookie": "a=1", "Set-Cookie": "b=2"]),
            .respond(["Set-Cookie": "a=; \(attribute)", "Set-Cookie": "c=3"]), .respond(body: "x"),
        ])
        for _ in 0..<3 { await scene.get(server.url) }
        #expect(server.cookies == [[], ["a=1", "b=2"], ["b=2", "c=3"]])
        #expect(scene.pairs == ["b=2", "c=3"])
    }

    @Test func aServerCanChangeItsCookie() async throws {
        let server = try ScriptedServer([
            .respond(["Set-Cookie": "a=1"]), .respond(["Set-Cookie": "a=2; Max-Age=50"]), .respond(body: "x"),
        ])
        for _ in 0..<3 { await scene.get(server.url) }
        #expect(server.cookies == [[], ["a=1"], ["a=2"]])
        #expect(scene.jar.cookies.count == 1)
    }

    // MARK: - Path

    @Test(arguments: [
        ("a=1", "/p/q", "/p/r", true), ("a=1", "/p/q", "/", false), ("a=1", "/p", "/", true),
        ("a=1; Path=/p", "/", "/p", true), ("a=1; Path=/p", "/", "/p/q", true),
        ("a=1; Path=/p", "/", "/pq", false), ("a=1; Path=/p", "/", "/", false),
        ("a=1; Path=", "/p/q", "/p/r", true), ("a=1; Path=p", "/p/q", "/p/r", true),
        ("a=1; Path=/other", "/", "/other?query", true),
    ])
    func paths(value: String, first: String, second: String, expected: Bool) async throws {
        let sent = try await sent(value, from: ("localhost", first), to: ("localhost", second))
        #expect(sent == (expected ? ["a=1"] : []))
    }

    // MARK: - Domain

    @Test(arguments: [
        // Host-only.
        ("a=1", "a.localhost", "a.localhost", true), ("a=1", "a.localhost", "b.a.localhost", false),
        ("a=1", "b.a.localhost", "a.localhost", false),
        // A domain.
        ("a=1; Domain=a.localhost", "b.a.localhost", "c.a.localhost", true),
        ("a=1; Domain=.a.localhost", "b.a.localhost", "a.localhost", true),
        ("a=1; Domain=A.LocalHost", "b.a.localhost", "c.a.localhost", true),
        ("a=1; Domain=a.localhost", "b.a.localhost", "ba.localhost", false),
        ("a=1; Domain=a.localhost", "b.a.localhost", "localhost", false),
        ("a=1; Domain=", "a.localhost", "b.a.localhost", false),
        ("a=1; Domain=", "a.localhost", "a.localhost", true),
        // A foreign one.
        ("a=1; Domain=c.localhost", "a.localhost", "c.localhost", false),
        ("a=1; Domain=b.a.localhost", "a.localhost", "b.a.localhost", false),
        ("a=1; Domain=example.com", "a.localhost", "a.localhost", false),
        // A name without an owner: one without a dot is a public suffix.
        ("a=1; Domain=localhost", "a.localhost", "b.localhost", false),
        ("a=1; Domain=localhost", "a.localhost", "a.localhost", false),
        // Addresses have no subdomains.
        ("a=1; Domain=127.0.0.1", "127.0.0.1", "127.0.0.1", true),
        ("a=1; Domain=0.0.1", "127.0.0.1", "127.0.0.1", false),
        ("a=1", "127.0.0.1", "localhost", false),
    ])
    func domains(value: String, first: String, second: String, expected: Bool) async throws {
        let sent = try await sent(value, from: (first, "/"), to: (second, "/"))
        #expect(sent == (expected ? ["a=1"] : []), "\(scene.jar.cookies)")
    }

    // MARK: - Attacks

    /// Not even over a connection that is safe from listeners does libcurl take one, unless it is to this
    /// machine by name.
    @Test(arguments: ["a=1; Secure", "__Secure-a=1", "__Secure-a=1; Secure", "__Host-a=1; Secure; Path=/"])
    func aSecureCookieIsNotTakenWithoutTLS(value: String) async throws {
        #expect(try await sent(value, from: ("a.localhost", "/"), to: ("a.localhost", "/")) == [])
        #expect(scene.pairs == [])
    }

    @Test(arguments: [
        ("__Host-a=1; Secure; Path=/", true), ("__Host-a=1; Secure; Path=/p", false),
        ("__Host-a=1; Secure; Path=/; Domain=localhost", false), ("__Host-a=1; Path=/", false),
        ("__Secure-a=1; Secure", true), ("__Secure-a=1", false),
        ("__host-a=1; Secure; Path=/; Domain=localhost", false), ("__HOST-a=1; Path=/", false),
        ("__sEcUrE-a=1", false), ("__host-a=1; Secure; Path=/", true),
        // Without a name: a server would read them as a name.
        ("=__Host-a=1; Secure; Path=/", false), ("__Host-a; Secure; Path=/", false),
        ("= __Secure-a=1", false),
    ])
    func prefixesPromise(value: String, isKept: Bool) async throws {
        // libcurl counts this host as secure.
        #expect(try await sent(value).isEmpty != isKept)
    }

    /// libcurl takes an address that names itself for a host without a domain.
    @Test(arguments: [
        ("__Host-a=1; Secure; Path=/", true), ("__Host-a=1; Secure; Path=/; Domain=127.0.0.1", false),
        ("__Host-a=1; Secure; Path=/; domain = .127.0.0.1", false),
        ("__Host-a=1; Secure; Path=/; Domain=", false), ("__Host-a=1; Secure", false),
        ("__Secure-a=1; Secure; Domain=127.0.0.1", true),
    ])
    func prefixesPromiseForAnAddress(value: String, isKept: Bool) async throws {
        let sent = try await sent(value, from: ("127.0.0.1", "/"), to: ("127.0.0.1", "/"))
        #expect(sent.isEmpty != isKept)
        #expect(scene.pairs.isEmpty != isKept)
    }

    /// Nor does it replace, or take away, one that was.
    @Test(arguments: ["", "; Max-Age=0"])
    func aBrokenPromiseLeavesWhatWasThere(attribute: String) async throws {
        let server = try ScriptedServer([
            .respond(["Set-Cookie": "__Host-a=good; Secure; Path=/", "Set-Cookie": "b=1"]),
            .respond([
                "Set-Cookie": "__Host-a=bad; Secure; Path=/; Domain=127.0.0.1\(attribute)",
                "Set-Cookie": "b=2",
            ]),
            .respond(body: "x"),
        ])
        for _ in 0..<3 { await scene.get(server.url) }
        #expect(server.cookies.last == ["__Host-a=good", "b=2"])
    }

    @Test(arguments: [
        "", "=1", "a", ";", "a=1\u{1}", "a\u{7F}=1", "a=\u{8}1", "\u{1}=1", "a=1\t2", "a\tb=1",
        "a=" + String(repeating: "x", count: 5000), String(repeating: "n", count: 5000) + "=1",
    ])
    func anInvalidCookieIsNotStored(value: String) async throws {
        #expect(try await sent(value) == [])
        #expect(scene.pairs == [])
    }

    @Test func aServerThatSetsThousandsFillsNeitherTheJarNorTheRequest() async throws {
        let server = try ScriptedServer { request in
            let name = String(request.path.dropFirst())
            return .respond(200, FieldLines((0..<100).map { ("Set-Cookie", "\(name)\($0)=1; Path=/") }))
        }
        for round in 0..<6 { await scene.get(server.url(path: "/n\(round)x")) }
        #expect(scene.jar.cookies.count == 180)
        #expect(server.cookies.allSatisfy { $0.count <= 150 })
        #expect(server.problems == [])
    }

    @Test func aLargeJarIsNotSentWhole() async throws {
        let server = try ScriptedServer { request in
            let value = String(repeating: "x", count: 3500)
            return .respond(200, ["Set-Cookie": "\(request.path.dropFirst())=\(value); Path=/"])
        }
        for round in 0..<6 { #expect(await scene.get(server.url(path: "/n\(round)")).error == nil) }
        #expect(server.requests.allSatisfy { ($0["Cookie"] ?? "").utf8.count <= 8200 })
        #expect(scene.jar.cookies.count == 6)
    }

    @Test func aCookieInAResponseWhoseHeadIsBrokenIsNotKept() async throws {
        let server = try ScriptedServer([
            .raw("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")
        ])
        #expect(await scene.get(server.url).error != nil)
        #expect(scene.pairs == [])
    }
}
