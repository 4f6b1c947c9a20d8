import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Downloads through proxies, which are resumed there as elsewhere.
@Suite(.timeLimit(.minutes(1)))
struct DownloadProxyTests {
    private func isResumed(_ scene: DownloadScene, through proxy: Proxy, from url: URL) async throws {
        func operation() -> DownloadOperation {
            let operation = DownloadOperation(request: URLRequest(url: url), to: scene.target)
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.retryPolicy = nil
            operation.proxyConfiguration = .proxy(proxy)
            operation.addObserver(scene.journal)
            return operation
        }
        await #expect(throws: URLError.self) { try await scene.run(operation()).get() }
        _ = try await scene.run(operation()).get()
        #expect(try DownloadScene.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.journal.offsets.elements.count == 1)
        #expect(scene.server.requests.last?["Range"] != nil)
    }

    private static let answers: [Answer] = [
        .currentRepresentation.breaking(after: 200_000), .currentRepresentation,
    ]

    @Test func aDownloadThroughAnHTTPProxyIsResumed() async throws {
        let scene = try DownloadScene(answers: Self.answers)
        let url = try #require(URL(string: "http://server.example/file.bin"))
        try await isResumed(scene, through: Proxy("127.0.0.1:\(scene.server.port)"), from: url)
    }

    @Test func aDownloadThroughSOCKSIsResumed() async throws {
        let scene = try DownloadScene(answers: Self.answers)
        let proxy = try TunnelProxy(socksUser: "user", password: "pass")
        let text = "socks5h://user:pass@127.0.0.1:\(proxy.port)"
        try await isResumed(scene, through: Proxy(text), from: scene.server.url)
        #expect(proxy.requests.count == 2)
    }

    @Test func aProxys407DoesNotTouchTheExistingFile() async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: 200_000), .respond(407), .currentRepresentation,
        ])
        let url = try #require(URL(string: "http://server.example/file.bin"))
        let proxy = try Proxy("127.0.0.1:\(scene.server.port)")
        for _ in 0..<3 {
            let operation = DownloadOperation(request: URLRequest(url: url), to: scene.target)
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.retryPolicy = nil
            operation.proxyConfiguration = .proxy(proxy)
            _ = await scene.run(operation)
            if scene.server.requests.count == 2 { #expect(operation.error is ProxyError) }
        }
        #expect(try DownloadScene.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.server.requests.last?["Range"] != nil)
    }
}
