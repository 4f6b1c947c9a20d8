import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The closure is asked about a server that the policy does not accept.
@Suite(.enabled(if: TestCertificates.directory != nil), .timeLimit(.minutes(1)))
struct ServerTrustChallengeTests {
    private let asked = Recorder<AuthenticationChallenge>()

    private func operation(
        _ server: NginxTLSServer,
        _ answer: AuthenticationChallenge.Answer,
        path: String = "headers"
    ) throws -> ConnectionOperation {
        let url = try #require(server.url)
        let operation = ConnectionOperation(request: URLRequest(url: url.appendingPathComponent(path)))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.trustAnchors = .file(try #require(RealServers.authorities))
        operation.setAuthenticationChallenge { [asked] _, challenge in
            asked.append(challenge)
            return answer
        }
        return operation
    }

    @Test(arguments: [NginxTLSServer.selfSigned, .other, .expired, .wrongHost, .cnOnly])
    func aTrustedExceptionAllowsTheConnection(server: NginxTLSServer) async throws {
        let operation = try operation(server, .trustServer)
        try await operation.run()
        #expect(operation.error == nil)
        #expect(operation.response?.statusCode == 200)
        let challenge = try #require(asked.elements.first)
        #expect(asked.elements.count == 1)
        #expect(challenge.host == "localhost" && challenge.protocol == "https")
        #expect(challenge.serverTrust?.certificates.isEmpty == false)
        #expect(challenge.response == nil)
    }

    @Test(arguments: [
        AuthenticationChallenge.Answer.refuse, .performDefaultHandling, .continueWithoutCredential,
        .use(Credential(user: "a", password: "b")),
    ])
    func everyOtherAnswerRefusesTheServer(answer: AuthenticationChallenge.Answer) async throws {
        let operation = try operation(.selfSigned, answer)
        try await operation.run()
        let error = try #require(operation.error as? ServerTrustError)
        #expect(error.check == .chain(.selfSigned))
        #expect(asked.elements.count == 1)
    }

    @Test func aTrustedServerCausesNoChallenge() async throws {
        let operation = try operation(.good, .refuse)
        try await operation.run()
        #expect(operation.response?.statusCode == 200)
        #expect(asked.elements.isEmpty)
    }

    /// Not even the next operation with the same settings, on the same server, over a connection that is still there.
    @Test func theExceptionAppliesToNoOtherOperation() async throws {
        let trusting = try operation(.selfSigned, .trustServer)
        try await trusting.run()
        #expect(trusting.error == nil)
        for _ in 0..<3 {
            let other = try operation(.selfSigned, .refuse)
            try await other.run()
            #expect(other.error is ServerTrustError)
        }
        let again = try operation(.selfSigned, .trustServer)
        try await again.run()
        #expect(again.error == nil)
    }

    @Test func cancellingEndsTheWaitForTheClosure() async throws {
        let url = try #require(NginxTLSServer.selfSigned.url)
        let operation = ConnectionOperation(request: URLRequest(url: url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        let gate = Gate()
        let isCancelled = Gate()
        operation.setAuthenticationChallenge { _, _ in
            gate.open()
            do {
                try await Gate().wait(within: .seconds(50))
            } catch is CancellationError {
                isCancelled.open()
            } catch {}
            return .trustServer
        }
        let done = Gate()
        operation.completionBlock = { done.open() }
        operation.start()
        try await gate.wait()
        operation.cancel()
        try await done.wait()
        #expect((operation.error as? URLError)?.code == .cancelled)
        try await isCancelled.wait()
    }

    @Test func aPinIsNotForgottenByARedirectToTheServer() async throws {
        let target = try #require(NginxTLSServer.other.url).appendingPathComponent("headers").absoluteString
        let url = try #require(NginxTLSServer.good.url)
        let request = URLRequest(
            url: try #require(URL(string: "/redirect/302?to=\(target)", relativeTo: url))
        )
        let operation = ConnectionOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.trustAnchors = .file(try #require(TestCertificates.pem("root-and-other-root")))
        operation.securityPolicy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: try TestCertificates.all("root")
        )
        try await operation.run()
        let error = try #require(operation.error as? ServerTrustError)
        #expect(error.check == .pin(.publicKey))
        #expect(error.url.absoluteString == target)
    }
}
