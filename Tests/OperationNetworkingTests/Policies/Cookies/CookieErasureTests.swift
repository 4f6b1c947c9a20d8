import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Cookies of public suffixes, as those of all hosts without a dot are, that lines with a `Domain` take away.
@Suite(.timeLimit(.minutes(1)))
struct CookieErasureTests {
    /// A login and a logout, as servers do them; where the host is no suffix, the cookie is its domain's.
    @Test(arguments: ["localhost", "database", "github.io", "www.example.com", "127.0.0.1"])
    func aLogoutTakesTheCookieAway(host: String) async throws {
        let server = try ScriptedServer([
            .respond(FieldLines([("Set-Cookie", "sid=1; Domain=\(host); Path=/")])), .respond(body: "x"),
            .respond(FieldLines([("Set-Cookie", "sid=; Domain=\(host); Path=/; Max-Age=0")])),
            .respond(body: "x"),
        ])
        let scene = CookieScene()
        for _ in 0..<4 {
            let outcome = await scene.get(server.url) { $0.setValue(host, forHTTPHeaderField: "Host") }
            #expect(outcome.error == nil)
        }
        #expect(server.cookies == [[], ["sid=1"], ["sid=1"], []])
        #expect(scene.jar.cookies.isEmpty)
    }

    /// libcurl has the one that was set for the host, and the jar must not get it.
    @Test func whatIsSetAndThenErasedIsNotKept() async throws {
        let server = try ScriptedServer([
            .respond(
                FieldLines([
                    ("Set-Cookie", "sid=2; Path=/"),
                    ("Set-Cookie", "sid=; Domain=localhost; Path=/; Max-Age=0"),
                ])
            ),
            .respond(body: "x"),
        ])
        let scene = CookieScene()
        for _ in 0..<2 {
            await scene.get(server.url) { $0.setValue("localhost", forHTTPHeaderField: "Host") }
        }
        #expect(server.cookies == [[], []])
    }
}
