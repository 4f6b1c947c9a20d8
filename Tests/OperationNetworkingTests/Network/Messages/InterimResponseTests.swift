import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// An early hint (RFC 8297) sets nothing: its fields are not those of the response.
@Suite(.timeLimit(.minutes(1)))
struct InterimResponseTests {
    private let scene = CookieScene()

    @Test(arguments: [102, 103])
    func itsCookiesAreNeitherStoredNorSent(status: Int) async throws {
        let server = try ScriptedServer([
            .respond(["Set-Cookie": "final=1"]).after(
                interim: status,
                [
                    "Link": "</s.css>; rel=preload", "Set-Cookie": "early=1",
                    "Set-Cookie": "final=2; Path=/x",
                    "Set-Cookie": "kept=; Max-Age=0",
                ]
            ),
            .respond(body: "x"), .respond(body: "x"),
        ])
        let kept = try #require(
            HTTPCookie(properties: [.name: "kept", .value: "1", .domain: "127.0.0.1", .path: "/"])
        )
        scene.jar.set(kept)
        let outcome = await scene.get(server.url)
        #expect(outcome.operation.response?.value(forHTTPHeaderField: "Link") == nil)
        await scene.get(server.url)
        await scene.get(server.url(path: "/x/y"))
        #expect(scene.pairs == ["final=1", "kept=1"])
        #expect(server.cookies.dropFirst() == [["final=1", "kept=1"], ["final=1", "kept=1"]])
    }

    @Test func alsoWithoutACookieOfTheResponses() async throws {
        let server = try ScriptedServer([
            .respond(body: "x").after(interim: 103, ["Set-Cookie": "early=1"]), .respond(body: "x"),
        ])
        await scene.get(server.url)
        await scene.get(server.url)
        #expect(scene.pairs.isEmpty && server.cookies == [[], []])
    }

    /// One handle does both transfers.
    @Test func theHandleOfAnotherOperationDoesNotHaveThemEither() async throws {
        let server = try ScriptedServer { request in
            request.number == 0
                ? .respond(body: "x").after(interim: 103, ["Set-Cookie": "early=1"]) : .respond(body: "x")
        }
        await scene.get(server.url)
        let other = CookieScene()
        for _ in 0..<3 { await other.get(server.url) }
        #expect(server.cookies == [[], [], [], []] && other.pairs.isEmpty)
    }

    @Test func severalBeforeALateResponseAreAllowed() async throws {
        var answer = Answer.respond(body: "done")
        for _ in 0..<20 { answer = answer.after(interim: 102) }
        let server = try ScriptedServer([answer])
        let outcome = await scene.get(server.url)
        #expect(outcome.error == nil && outcome.operation.responseData == Data("done".utf8))
    }
}
