import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Proxies of other authors, before nginx.
@Suite(.timeLimit(.minutes(1)), .enabled(if: ProxyServer.http.url != nil && RealServers.nginxTLS != nil))
struct RealProxyTests {
    private func proxy(_ server: ProxyServer, _ password: String? = RealServers.password) throws -> Proxy {
        let open = try Proxy(try #require(server.url).absoluteString)
        guard server != .http, server != .socks, let password else { return open }
        return try Proxy(
            kind: open.kind,
            host: open.host,
            port: open.port,
            user: RealServers.user,
            password: password
        )
    }

    private func operation(
        _ url: URL?,
        _ proxy: Proxy,
        _ method: String = "GET",
        body: Data? = nil
    ) throws -> HTTPRequestOperation {
        var request = URLRequest(url: try #require(url))
        request.httpMethod = method
        request.httpBody = body
        let operation = HTTPRequestOperation(request: request)
        operation.trustAnchors = .file(try #require(RealServers.authorities))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.proxyConfiguration = .proxy(proxy)
        operation.start()
        return operation
    }

    @Test(arguments: ProxyServer.allCases)
    func bothKindsOfRequestsGoThrough(server: ProxyServer) async throws {
        for base in [RealServers.nginx, RealServers.nginxTLS] {
            let operation = try operation(base?.appendingPathComponent("headers"), proxy(server))
            let body = String(decoding: try await operation.value as? Data ?? Data(), as: UTF8.self)
            #expect(operation.response?.statusCode == 200)
            #expect(!body.contains("Basic ") && !body.contains("Digest "))
        }
    }

    @Test(arguments: ProxyServer.allCases)
    func manyGoThroughATunnelWithHTTP2OrOneByOne(server: ProxyServer) async throws {
        let url = RealServers.nginxTLS?.appendingPathComponent("headers")
        let operations = try (0..<10).map { _ in try operation(url, proxy(server)) }
        for operation in operations {
            _ = try await operation.value
            #expect(operation.metrics?.httpVersion == "2")
        }
    }

    @Test(arguments: [ProxyServer.httpBasic, .httpDigest, .socksPassword], [nil, "wrong"])
    func aTunnelNeedsTheRightPassword(server: ProxyServer, password: String?) async throws {
        let proxy = try proxy(server, password)
        let operation = try operation(RealServers.nginxTLS, proxy)
        let error = await #expect(throws: ProxyError.self) { try await operation.value }
        #expect(error == .authenticationRequired(proxy: proxy.address))
    }

    @Test(arguments: [ProxyServer.httpBasic, .httpDigest])
    func aPlainRequestNeedsAPassword(server: ProxyServer) async throws {
        let proxy = try proxy(server, nil)
        let operation = try operation(RealServers.nginx, proxy)
        let error = await #expect(throws: ProxyError.self) { try await operation.value }
        #expect(error == .authenticationRequired(proxy: proxy.address))
    }

    @Test(arguments: [ProxyServer.http, .httpBasic, .httpDigest, .socksPassword])
    func bodiesAreSentAgainAfterA407(server: ProxyServer) async throws {
        let echo = try ScriptedServer { request in .respond(body: "\(request.body.count)") }
        let body = Data(repeating: 1, count: 300_000)
        let operation = try operation(echo.url, proxy(server), "POST", body: body)
        #expect(try await operation.value as? Data == Data("300000".utf8))
        #expect(echo.requests.count == 1)
        #expect(echo.requests.first?["Proxy-Authorization"] == nil)
    }
}
