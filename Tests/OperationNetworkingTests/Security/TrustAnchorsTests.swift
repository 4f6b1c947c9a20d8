import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A file of authorities says what it says when a request is made.
@Suite(.enabled(if: TestCertificates.directory != nil), .timeLimit(.minutes(1)))
struct TrustAnchorsTests {
    private let directory: TemporaryDirectory
    private var file: URL { directory.file("authorities.pem") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Asks over a connection of its own, in which the certificate is shown: it is closed after one answer, and who pins
    /// resumes no session.
    private func ask() async throws -> ConnectionOperation {
        let url = try #require(NginxTLSServer.http1.url).appendingPathComponent("close/headers")
        let operation = ConnectionOperation(request: URLRequest(url: url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.trustAnchors = .file(file)
        operation.securityPolicy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: try TestCertificates.all("leaf")
        )
        try await operation.run()
        return operation
    }

    @Test func replacedAuthoritiesAreNoLongerTrusted() async throws {
        try Data(contentsOf: try #require(RealServers.authorities)).write(to: file)
        #expect(try await ask().response?.statusCode == 200)
        try Data(contentsOf: try #require(RealServers.otherAuthorities)).write(to: file)
        let error = try #require(try await ask().error as? ServerTrustError)
        #expect(error.check == .chain(.unknownAuthority))
    }

    /// Neither a connection that was kept nor a TLS session is believed longer than who vouched for them.
    @Test func whatWasTrustedBeforeIsNotUsed() async throws {
        let url = try #require(NginxTLSServer.http1.url).appendingPathComponent("headers")
        func ask() async throws -> ConnectionOperation {
            let operation = ConnectionOperation(request: URLRequest(url: url))
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.trustAnchors = .file(file)
            try await operation.run()
            return operation
        }
        try Data(contentsOf: try #require(RealServers.authorities)).write(to: file)
        #expect(try await ask().metrics?.connectionCount == 1)
        #expect(try await ask().metrics?.connectionCount == 0)
        try Data(contentsOf: try #require(RealServers.otherAuthorities)).write(to: file)
        #expect(try await ask().error is ServerTrustError)
    }

    @Test func aLinkIsFollowed() async throws {
        let (first, second) = (directory.file("first.pem"), directory.file("second.pem"))
        try Data(contentsOf: try #require(RealServers.authorities)).write(to: first)
        try Data(contentsOf: try #require(RealServers.otherAuthorities)).write(to: second)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: first)
        #expect(try await ask().response?.statusCode == 200)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: second)
        #expect(try await ask().error is ServerTrustError)
    }

    @Test func aFileThatIsGoneIsMissed() async throws {
        try Data(contentsOf: try #require(RealServers.authorities)).write(to: file)
        #expect(try await ask().response?.statusCode == 200)
        try FileManager.default.removeItem(at: file)
        let operation = try await ask()
        #expect(operation.response == nil)
        #expect((operation.error as? URLError)?.code == .secureConnectionFailed)
    }
}
