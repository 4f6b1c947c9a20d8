import Foundation
import FoundationNetworking
import Glibc
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Hosts below the domains of others, in a process of its own for each: there their names are this machine.
@Suite(.timeLimit(.minutes(1)))
struct PublicSuffixTests {
    /// The cookies that a host may set, and the hosts that are sent them.
    struct Row: Codable, Sendable {
        let host: String
        let domain: String
        let other: String
        let isKept: Bool
    }

    @Test(arguments: [
        Row(
            host: "loopback.example.com",
            domain: "example.com",
            other: "loopback.x.example.com",
            isKept: true
        ),
        Row(host: "loopback.example.com", domain: "com", other: "loopback.com", isKept: false),
        Row(host: "loopback.example.com", domain: ".com", other: "loopback.example.com", isKept: false),
        Row(host: "loopback.example.com", domain: "COM.", other: "loopback.example.com", isKept: false),
        Row(host: "loopback.example.co.uk", domain: "co.uk", other: "loopback.b.co.uk", isKept: false),
        Row(host: "loopback.example.co.uk", domain: "CO.UK", other: "loopback.example.co.uk", isKept: false),
        Row(
            host: "loopback.example.co.uk",
            domain: "example.co.uk",
            other: "loopback.b.example.co.uk",
            isKept: true
        ),
        Row(host: "loopback.github.io", domain: "github.io", other: "loopback.github.io", isKept: false),
        Row(
            host: "loopback.a.github.io",
            domain: "a.github.io",
            other: "loopback.b.a.github.io",
            isKept: true
        ),
        Row(
            host: "loopback.example.com",
            domain: "example.org",
            other: "loopback.example.org",
            isKept: false
        ),
    ])
    func noHostSetsACookieForAPublicSuffix(row: Row) async throws {
        try SlowResolver.preload()
        await #expect(processExitsWith: .success) { [row = row as Row] in
            alarm(50)
            let server = try ScriptedServer.setting("a=1; Domain=\(row.domain)")
            let scene = CookieScene()
            guard await scene.get(try server.url(host: row.host)).error == nil else { exit(2) }
            guard scene.jar.cookies.isEmpty != row.isKept else { exit(3) }
            guard await scene.get(try server.url(host: row.other)).error == nil else { exit(4) }
            guard server.cookies.last == (row.isKept ? ["a=1"] : []) else { exit(5) }
        }
    }

    // MARK: - Hosts that are public suffixes

    /// A host that names a domain, and whether it, and a host below it, are sent the cookie.
    @Test(arguments: [
        ("github.io", "github.io", true, false), ("github.io", ".GitHub.IO", true, false),
        ("example.github.io", "example.github.io", true, true), ("example.com", "example.com", true, true),
        ("co.uk", "co.uk", true, false), ("co.uk.", "co.uk.", true, false),
        ("a.co.uk.", "co.uk.", false, false), ("a.co.uk.", "a.co.uk.", true, true),
    ])
    func aPublicSuffixSetsCookiesForItselfAlone(
        host: String,
        domain: String,
        isSentBack: Bool,
        isSentBelow: Bool
    ) async throws {
        #expect(PublicSuffixes.areKnown)
        let server = try ScriptedServer.setting("a=1; Domain=\(domain)")
        let scene = CookieScene()
        for name in [host, host, "tenant.\(host)"] {
            let outcome = await scene.get(server.url) { $0.setValue(name, forHTTPHeaderField: "Host") }
            #expect(outcome.error == nil)
        }
        #expect(server.cookies == [[], isSentBack ? ["a=1"] : [], isSentBelow ? ["a=1"] : []])
    }

    @Test(arguments: [
        ("com", true), ("co.uk", true), ("github.io", true), ("co.uk.", true), ("localhost", true),
        ("example.com", false), ("a.github.io", false), ("127.0.0.1", false), ("a.localhost", false),
    ])
    func theListIsLibcurls(domain: String, isSuffix: Bool) {
        #expect(PublicSuffixes.contain(domain) == isSuffix)
    }
}
