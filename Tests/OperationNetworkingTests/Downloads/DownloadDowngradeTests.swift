import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// P19: a request over TLS does not lead to a URL without it, where the bytes can be changed on the way.
@Suite(.timeLimit(.minutes(1)))
struct DownloadDowngradeTests {
    private let scene: DownloadScene
    private let server: TLSServer

    init() throws {
        scene = try DownloadScene()
        server = try TLSServer()
    }

    private func operation(_ path: String) throws -> DownloadOperation {
        let operation = DownloadOperation(request: URLRequest(url: try server.url(path)), to: scene.target)
        operation.trustAnchors = .file(server.certificate)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.retryPolicy = nil
        return operation
    }

    private var redirect: String { "/to/\(scene.server.url.port ?? 0)" }

    private func isRefused(_ operation: DownloadOperation) async {
        let error = await #expect(throws: URLError.self) { try await scene.run(operation).get() }
        #expect(error?.code == .appTransportSecurityRequiresSecureConnection)
        #expect(scene.server.requests.isEmpty)
        #expect(scene.names.isEmpty)
    }

    @Test("P19") func aRedirectWithoutTLSIsRefused() async throws {
        await isRefused(try operation(redirect))
    }

    @Test("P19") func aRedirectWithoutTLSMayBeLetPass() async throws {
        let operation = try operation(redirect)
        operation.redirectPolicy.allowsDowngrade = true
        _ = try await scene.run(operation).get()
        #expect(try DownloadScene.body.firstDifference(fromFile: scene.target) == nil)
    }

    @Test("P19, S42") func anotherAddressWithoutTLSIsRefused() async throws {
        let operation = try operation("/gone")
        let other = scene.server.url
        operation.setRefreshURL { _, _ in other }
        await isRefused(operation)
    }
}
