import Foundation
import Testing

@testable import OperationNetworkingTestSupport

/// That the proxies are what they say, and that their logs show who came through.
@Suite(.timeLimit(.minutes(1)), .enabled(if: ProxyServer.http.url != nil && NginxTLSServer.good.url != nil))
struct ProxyServerTests {
    private static let user = ["--proxy-user", "user:password"]

    /// Asks nginx for /headers through a proxy.
    private func ask(_ target: URL?, through proxy: ProxyServer, _ arguments: [String]) throws
        -> CurlCommand.Outcome
    {
        let anchors = try #require(RealServers.authorities).path
        let scheme = proxy == .httpDigest ? ["--proxy-digest"] : []
        let address = try #require(target).absoluteString + "/headers"
        return try CurlCommand.run(
            ["--proxy", try #require(proxy.url).absoluteString, "--cacert", anchors, "--write-out"]
                + ["status: %{http_code}\nconnect: %{http_connect}\n"] + scheme + arguments + [address]
        )
    }

    private func lines(_ proxy: ProxyServer, holding text: String) throws -> Int {
        try String(contentsOf: #require(proxy.log), encoding: .utf8).split(separator: "\n")
            .count { $0.contains(text) }
    }

    private func port(_ target: URL?) throws -> Int { try #require(target?.port) }

    @Test(arguments: ProxyServer.allCases)
    func bothKindsOfRequestsGoThrough(proxy: ProxyServer) throws {
        for target in [RealServers.nginx, NginxTLSServer.good.url] {
            let place = "\(try #require(target?.host)):\(try port(target))"
            let before = try lines(proxy, holding: place)
            let outcome = try ask(target, through: proxy, Self.user)
            #expect(outcome.value("Method") == "GET", "\(outcome.complaint)")
            // Apache writes when everything is over, which may be later than now.
            if proxy != .httpDigest { #expect(try lines(proxy, holding: place) > before) }
        }
    }

    @Test(arguments: [ProxyServer.httpBasic, .httpDigest])
    func anHTTPProxyWithAPasswordRequestsIt(proxy: ProxyServer) throws {
        #expect(try ask(RealServers.nginx, through: proxy, []).value("status") == "407")
        let tunnel = try ask(NginxTLSServer.good.url, through: proxy, [])
        #expect(tunnel.value("connect") == "407")
        #expect(tunnel.value("Method") == nil)
        let wrong = try ask(RealServers.nginx, through: proxy, ["--proxy-user", "user:wrong"])
        #expect(wrong.value("status") == (proxy == .httpBasic ? "401" : "407"))
        #expect(wrong.value("Method") == nil)
    }

    @Test func aSOCKSProxyWithAPasswordRequestsIt() throws {
        // CURLE_PROXY
        #expect(try ask(RealServers.nginx, through: .socksPassword, []).code == 97)
        #expect(
            try ask(RealServers.nginx, through: .socksPassword, ["--proxy-user", "user:wrong"]).code == 97
        )
    }

    @Test func aTunnelIsBetweenTheClientAndTheServer() throws {
        // The server's certificate is seen through the proxy; the proxy has none.
        #expect(try ask(NginxTLSServer.selfSigned.url, through: .http, []).code == 60)
        #expect(try ask(NginxTLSServer.good.url, through: .http, []).value("connect") == "200")
    }
}
