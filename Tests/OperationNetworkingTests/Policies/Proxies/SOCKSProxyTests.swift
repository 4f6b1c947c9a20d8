import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Everything through SOCKS: the proxy passes bytes on.
@Suite(.timeLimit(.minutes(1)))
struct SOCKSProxyTests {
    private func operation(
        _ url: URL,
        through proxy: String,
        fields: [String: String] = [:]
    ) throws -> HTTPRequestOperation {
        try ProxiedOperation.start(url, through: proxy, fields: fields)
    }

    private func failure(of operation: HTTPRequestOperation) async throws -> ProxyError? {
        try await ProxiedOperation.failure(of: operation)
    }

    private func text(of operation: HTTPRequestOperation) async throws -> String {
        String(decoding: try await operation.value as? Data ?? Data(), as: UTF8.self)
    }

    /// libcurl 8 finds the IPv6 address of localhost first.
    @Test(arguments: [("socks5", ["127.0.0.1", "::1"]), ("socks5h", ["localhost"])])
    func theSchemeDecidesWhoLooksUpNames(scheme: String, hosts: [String]) async throws {
        let plain = try ScriptedServer { request in .respond(body: "\(request.target)") }
        let proxy = try TunnelProxy(socksUser: nil)
        let url = try #require(URL(string: "http://localhost:\(plain.port)/a"))
        let operation = try operation(url, through: "\(scheme)://127.0.0.1:\(proxy.port)")
        #expect(try await text(of: operation) == "/a")
        #expect(proxy.requests.count == 1)
        #expect(hosts.map { "\($0):\(plain.port)" }.contains(proxy.requests.first ?? ""))
    }

    @Test func aSOCKSProxyGetsUserAndPasswordAndConnectionsAreNotShared() async throws {
        let plain = try ScriptedServer { request in
            .respond(body: "\(request.connectionNumber)\(request["Proxy-Authorization"] ?? "")")
        }
        let proxy = try TunnelProxy(socksUser: "user", password: "pass")
        let text = "socks5h://user:pass@127.0.0.1:\(proxy.port)"
        let fields = ["Proxy-Authorization": "secret"]
        for _ in 0..<2 {
            #expect(try await self.text(of: operation(plain.url, through: text, fields: fields)) == "1")
        }
        for wrong in ["", "user:other@", "other:pass@"] {
            let error = try await failure(
                of: operation(plain.url, through: "socks5h://\(wrong)127.0.0.1:\(proxy.port)")
            )
            #expect(error == .authenticationRequired(proxy: "socks5h://127.0.0.1:\(proxy.port)"))
        }
        #expect(proxy.requests.count == 1)
    }

    /// The password of SOCKS is not for the server, although libcurl would answer with it.
    @Test(arguments: ["GET", "PUT", "POST"])
    func a407ThroughSOCKSIsTheServersResponse(method: String) async throws {
        let server = try ScriptedServer([
            .respond(407, ["Proxy-Authenticate": "Basic realm=x"], body: "no"), .respond(body: "yes"),
        ])
        let proxy = try TunnelProxy(socksUser: "user", password: "pass")
        var request = URLRequest(url: server.url)
        request.httpMethod = method
        if method != "GET" { request.httpBody = Data("body".utf8) }
        let operation = try ProxiedOperation.start(
            request,
            through: "socks5h://user:pass@127.0.0.1:\(proxy.port)"
        )
        await #expect(throws: ResponseSerializationError.self) { try await operation.value }
        #expect(operation.response?.statusCode == 407 && operation.responseData?.isEmpty != false)
        #expect(server.requests.count == 1)
    }

    /// Without a challenge libcurl has nothing to answer.
    @Test func a407WithoutAChallengeHasItsBody() async throws {
        let server = try ScriptedServer([.respond(407, body: "none"), .respond(body: "yes")])
        let proxy = try TunnelProxy(socksUser: "user", password: "pass")
        let operation = try operation(server.url, through: "socks5h://user:pass@127.0.0.1:\(proxy.port)")
        await #expect(throws: ResponseSerializationError.self) { try await operation.value }
        #expect(operation.response?.statusCode == 407 && operation.responseString == "none")
    }

    @Test(arguments: [
        (1, true), (2, false), (3, true), (4, true), (5, true), (6, true), (7, false), (8, false),
    ])
    func aFailingSOCKSProxyReportsTheReason(code: UInt8, isTemporary: Bool) async throws {
        let proxy = try TunnelProxy(socksUser: nil, code: code)
        let plain = try ScriptedServer([.respond(body: "x")])
        let error = try await failure(of: operation(plain.url, through: "socks5h://127.0.0.1:\(proxy.port)"))
        guard case .failed(_, _, let guess) = error else { throw TestFailure("\(String(describing: error))") }
        // Which of them may pass is a guess, and 6 is the time to live, which a router ran out of.
        #expect(guess == isTemporary)
        #expect(plain.connectionsAccepted == 0)
    }
}
