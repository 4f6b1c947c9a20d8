import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct ParsedURLTests {
    /// libcurl judges these by itself, and ends the transfer with its reason. Of an address with a zone,
    /// libcurl 7.88 copies all but the zone.
    @Test(arguments: [
        "", "http://", "http://h:99999/", "http://user@h/", "http://h/ a", "http://[fe80::1%25eth0]/",
    ])
    func someAreLeftToTheTransfer(url: String) {
        #expect(ParsedURL(url) == nil)
    }

    /// The first request has its URL taken apart, the second finds it.
    @Test(arguments: [
        "/", "/a/./b/../c", "/a//b", "/%7Ea%2fb?x=%26&y=+", "/?", "?q=1", "/a?b?c#d", "/a;b=c,d'(e)!*$",
        "/%C3%A9",
    ])
    func theTargetIsTheOneOfTheURL(path: String) async throws {
        let server = try ScriptedServer([.respond(200, body: "1"), .respond(200, body: "2")])
        let origin = try #require(URL(string: "/", relativeTo: server.url)?.absoluteString.dropLast())
        let url = try #require(URL(string: origin + path))
        for _ in 0..<2 {
            let operation = HTTPRequestOperation(request: URLRequest(url: url))
            operation.start()
            _ = try await operation.value
        }
        let target = try #require(RequestTarget.of(url.absoluteString))
        #expect(server.requests.map(\.target) == [target, target])
    }
}
