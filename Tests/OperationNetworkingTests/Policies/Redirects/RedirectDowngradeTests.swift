import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A request over TLS is not redirected to a URL without it, where an attacker on the way can read and change
/// things.
@Suite(.timeLimit(.minutes(1)))
struct RedirectDowngradeTests {
    private let secure: TLSServer
    private let plain: ScriptedServer

    init() throws {
        secure = try TLSServer()
        plain = try ScriptedServer { _ in .respond(body: "x") }
    }

    private func operation(_ policy: RedirectPolicy = .follow) throws -> HTTPRequestOperation {
        var request = URLRequest(url: try secure.url("/to/\(plain.port)"))
        request.setValue("secret", forHTTPHeaderField: "Authorization")
        let operation = HTTPRequestOperation(request: request)
        operation.trustAnchors = .file(secure.certificate)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.redirectPolicy = policy
        return operation
    }

    @Test func aRedirectWithoutTLSIsAnErrorThatSaysWhere() async throws {
        let operation = try operation()
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .appTransportSecurityRequiresSecureConnection)
        #expect(error?.failingURL == plain.url)
        #expect(error?.localizedDescription.contains("http://127.0.0.1:\(plain.port)") == true)
        #expect(plain.connectionsAccepted == 0)
    }

    @Test func aPolicyMayAllowIt() async throws {
        var policy = RedirectPolicy()
        policy.allowsDowngrade = true
        let operation = try operation(policy)
        operation.start()
        #expect(try await operation.value as? Data == Data("x".utf8))
        #expect(plain.requests.first?["Authorization"] == nil)
    }

    /// Most only observe redirects.
    @Test func aClosureCannotAllowADowngrade() async throws {
        let operation = try operation()
        operation.setRedirect { _, request, _ in request }
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .appTransportSecurityRequiresSecureConnection)
        #expect(plain.connectionsAccepted == 0)
    }

    @Test func aClosureMayChooseTLS() async throws {
        let operation = try operation()
        let url = try secure.url("/head")
        operation.setRedirect { _, _, _ in URLRequest(url: url) }
        operation.start()
        _ = try await operation.value
        #expect(operation.response?.url == url)
        #expect(plain.connectionsAccepted == 0)
    }

    @Test func aClosureMayRefuseIt() async throws {
        let operation = try operation()
        operation.setRedirect { _, _, _ in nil }
        operation.start()
        await #expect(throws: ResponseSerializationError.self) { try await operation.value }
        #expect(operation.response?.statusCode == 302)
        #expect(plain.connectionsAccepted == 0)
    }
}
