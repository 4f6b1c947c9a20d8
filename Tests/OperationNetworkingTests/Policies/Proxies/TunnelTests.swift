import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// https URLs through an HTTP proxy, and everything through SOCKS: the proxy passes bytes on.
@Suite(.timeLimit(.minutes(1)))
struct TunnelTests {
    private let server: TLSServer

    init() throws {
        server = try TLSServer()
    }

    private func operation(
        _ path: String,
        through proxy: String,
        fields: [String: String] = [:]
    ) throws -> HTTPRequestOperation {
        try operation(try server.url(path), through: proxy, fields: fields)
    }

    private func operation(
        _ url: URL,
        through proxy: String,
        fields: [String: String] = [:]
    ) throws -> HTTPRequestOperation {
        try ProxiedOperation.start(url, through: proxy, fields: fields, anchors: .file(server.certificate))
    }

    private func text(of operation: HTTPRequestOperation) async throws -> String {
        String(decoding: try await operation.value as? Data ?? Data(), as: UTF8.self)
    }

    // MARK: - CONNECT

    @Test func anHTTPSRequestGoesThroughATunnel() async throws {
        let proxy = try TunnelProxy()
        let operation = try operation(
            "/head",
            through: "127.0.0.1:\(proxy.port)",
            fields: ["Authorization": "secret"]
        )
        let head = try await text(of: operation)
        #expect(head.hasPrefix("GET /head HTTP/1.1\r\n"))
        #expect(head.contains("Authorization: secret\r\n") && !head.contains("Proxy-"))
        let connect = try #require(proxy.requests.first)
        #expect(connect.hasPrefix("CONNECT 127.0.0.1:\(try server.url("/").port ?? 0) HTTP/1.1\r\n"))
        #expect(!connect.contains("secret"))
        #expect(proxy.requests.count == 1)
    }

    /// Longer than `timeoutInterval` altogether, and never without an octet for so long.
    @Test func aHandshakeInATunnelMayComeSlowly() async throws {
        let late = try TLSServer("tls_slow.py", "handshake")
        let proxy = try TunnelProxy()
        let request = URLRequest(url: try late.url("/"), timeoutInterval: 2)
        let operation = HTTPRequestOperation(request: request)
        operation.trustAnchors = .file(late.certificate)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.proxyConfiguration = .proxy(try Proxy("127.0.0.1:\(proxy.port)"))
        operation.start()
        #expect(try await text(of: operation) == "late")
    }

    @Test func aTunnelIsKept() async throws {
        let proxy = try TunnelProxy()
        for _ in 0..<3 { _ = try await operation("/head", through: "127.0.0.1:\(proxy.port)").value }
        #expect(proxy.requests.count == 1)
    }

    /// libcurl asks for another tunnel when a kept one turns out to be dead, in the same transfer.
    @Test func theAnswerOfASecondTunnelHasItsLimit() async throws {
        let body = String(repeating: "x", count: 4 << 20)
        let endless = "HTTP/1.1 403 No\r\nContent-Length: 1000000000000\r\n\r\n" + body
        let proxy = try TunnelProxy { number, _ in number == 1 ? .tunnel : .reply(endless) }
        _ = try await operation("/head", through: "127.0.0.1:\(proxy.port)").value
        proxy.breakTunnels()
        let second = try operation("/head", through: "127.0.0.1:\(proxy.port)")
        let error = try await ProxiedOperation.failure(of: second)
        #expect(proxy.requests.count == 2)
        switch error {
        case .refused(_, status: 403), .failed(_, _, isTemporary: false): break
        default: throw TestFailure("\(String(describing: error))")
        }
    }

    @Test func tunnelsOfOneUserDoNotServeAnother() async throws {
        let proxy = try TunnelProxy()
        for credentials in ["", "a:x@", "b:x@", "a:y@"] {
            for _ in 0..<2 {
                _ = try await operation("/head", through: "\(credentials)127.0.0.1:\(proxy.port)").value
            }
        }
        #expect(proxy.requests.count == 4)
        for authorization in ["Own 1", "Own 2"] {
            for _ in 0..<2 {
                let operation = try operation(
                    "/head",
                    through: "127.0.0.1:\(proxy.port)",
                    fields: ["Proxy-Authorization": authorization]
                )
                #expect(!(try await text(of: operation)).contains("Proxy-Authorization"))
            }
        }
        #expect(proxy.requests.count == 6)
        #expect(proxy.requests[4].contains("Proxy-Authorization: Own 1\r\n"))
        #expect(proxy.requests[5].contains("Proxy-Authorization: Own 2\r\n"))
    }

    @Test func aTunnelDoesNotServeRequestsWithoutAProxy() async throws {
        let proxy = try TunnelProxy()
        _ = try await operation("/head", through: "127.0.0.1:\(proxy.port)").value
        proxy.stop()
        let straight = HTTPRequestOperation(request: URLRequest(url: try server.url("/head")))
        straight.trustAnchors = .file(server.certificate)
        straight.completionQueue = DispatchQueue(label: "callbacks")
        straight.proxyConfiguration = .none
        straight.start()
        #expect(try await text(of: straight).hasPrefix("GET /head"))
        #expect(straight.metrics?.connectionCount == 1)
    }

    @Test func aProxyThatWantsCredentialsGetsThem() async throws {
        let right = "Proxy-Authorization: Basic " + Data("user:pass".utf8).base64EncodedString()
        let proxy = try TunnelProxy { _, head in
            head.contains(right) ? .tunnel : .reply(TunnelProxy.challenge)
        }
        let operation = try operation("/head", through: "user:pass@127.0.0.1:\(proxy.port)")
        #expect(!(try await text(of: operation)).contains("Proxy-"))
        #expect(operation.response?.statusCode == 200)
        #expect(proxy.requests.count == 2)
    }

    // MARK: - 407 of the server

    /// Wants Digest, and says how it was answered: `-`, or the scheme.
    private func digestProxy() throws -> (TunnelProxy, schemes: () -> [String]) {
        let challenge = #"Proxy-Authenticate: Digest realm="p", nonce="abc", qop="auth""#
        let refusal = "HTTP/1.1 407 No\r\n\(challenge)\r\nContent-Length: 0\r\n\r\n"
        let proxy = try TunnelProxy { _, head in
            head.contains("Proxy-Authorization: Digest ") ? .tunnel : .reply(refusal)
        }
        return (
            proxy,
            {
                proxy.requests.map { head in
                    let field = head.split(separator: "\r\n").first { $0.hasPrefix("Proxy-Authorization: ") }
                    return field.map { String($0.split(separator: " ")[1]) } ?? "-"
                }
            }
        )
    }

    /// The response may have been meant for a proxy on its own side; the credentials of ours are none of its
    /// business, and libcurl takes it for our proxy's. The second answer of the server would be a 200.
    @Test(arguments: ["/407", "/407/close"], [false, true])
    func aServersOwn407IsItsResponse(path: String, hasTunnel: Bool) async throws {
        let (proxy, schemes) = try digestProxy()
        let address = "user:pass@127.0.0.1:\(proxy.port)"
        if hasTunnel { _ = try await operation("/head", through: address).value }
        let operation = try operation(path, through: address)
        await #expect(throws: ResponseSerializationError.self) { try await operation.value }
        #expect(operation.response?.statusCode == 407)
        #expect(operation.responseData?.isEmpty != false)
        // What it says of a proxy is not believed of ours by the next tunnel either.
        _ = try await self.operation("/head", through: address).value
        #expect(schemes() == ["-", "Digest", "-", "Digest"])
    }

    @Test func a407InATunnelWithHTTP2EndsItsStreamOnly() async throws {
        let fields: FieldLines = ["proxy-authenticate": "Basic realm=x", "content-length": "2"]
        let server = try HTTP2Server([.respond(407, fields, body: "no"), .respond(body: "yes")])
        let (proxy, schemes) = try digestProxy()
        let address = try Proxy("user:pass@127.0.0.1:\(proxy.port)")
        let transfer = TestTransfer(.plain(server.url, version: .http2PriorKnowledge, proxy: address)).start()
        let error = try await transfer.end().operationError as? URLError
        #expect(error?.localizedDescription == "The response was rejected.")
        #expect(transfer.statuses == [407])
        #expect(transfer.body == "")
        #expect(server.streams == 1)
        #expect(schemes() == ["-", "Digest"])
    }

    /// A stream that is reset with HTTP_1_1_REQUIRED (RFC 9113 §7) has libcurl ask again, although the
    /// response has begun.
    @Test func aResponseThatBrokeOffIsNotContinuedByAnother() async throws {
        // In one read with the body, libcurl 7.88 does not see the reset.
        let gate = Gate()
        let ending = HTTP2Ending.reset(code: 13, after: 3)
        let server = try HTTP2Server([.respond(body: "abc", ending: ending, endingAfter: gate)])
        let plain = try ScriptedServer([.respond(body: "xyz")])
        let proxy = try TunnelProxy { number, _ in
            number == 1 ? .tunnel : .tunnelTo(UInt16(plain.port))
        }
        let address = try Proxy("127.0.0.1:\(proxy.port)")
        let transfer = TestTransfer(
            .plain(server.url, method: "PUT", version: .http2PriorKnowledge, proxy: address)
        )
        .start()
        try await transfer.bodyCame.wait()
        gate.open()
        let end = try await transfer.end()
        #expect(end.code == .networkConnectionLost)
        #expect(end.sentence?.contains("aborted its response") == true, "\(end)")
        #expect(transfer.body == "abc")
        #expect(plain.requests.isEmpty)
    }

    // MARK: - Refusals that may pass

    @Test func aRefusalThatMayPassIsTriedAgain() async throws {
        let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
        let proxy = try TunnelProxy { number, _ in number < 3 ? .close(busy) : .tunnel }
        let operation = HTTPRequestOperation(request: URLRequest(url: try server.url("/head")))
        operation.trustAnchors = .file(server.certificate)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.proxyConfiguration = .proxy(try Proxy("127.0.0.1:\(proxy.port)"))
        var policy = RetryPolicy(maximumRetries: 3)
        policy.initialDelay = 0.001
        operation.retryPolicy = policy
        operation.start()
        #expect(try await text(of: operation).hasPrefix("GET /head"))
        #expect(proxy.requests.count == 3)
    }

    // MARK: - SOCKS

    @Test func anHTTPSRequestGoesThroughSOCKS() async throws {
        let proxy = try TunnelProxy(socksUser: nil)
        let operation = try operation("/head", through: "socks5h://127.0.0.1:\(proxy.port)")
        #expect(try await text(of: operation).hasPrefix("GET /head"))
    }

}
