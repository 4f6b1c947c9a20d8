import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A connection that was opened under one policy, or as one client, never serves another.
@Suite(.enabled(if: TestCertificates.directory != nil), .timeLimit(.minutes(1)))
struct TrustDomainTests {
    private let queue = DispatchQueue(label: "callbacks")

    private func manager(_ server: NginxTLSServer) throws -> OperationManager {
        let url = try #require(server.url)
        let manager = OperationManager(baseURL: url)
        manager.completionQueue = queue
        manager.responseSerializer = HTTPResponseSerializer()
        manager.trustAnchors = .file(try #require(RealServers.authorities))
        return manager
    }

    private func strict(_ manager: OperationManager) throws -> OperationManager {
        manager.securityPolicy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: try TestCertificates.all("other-leaf")
        )
        return manager
    }

    private func metrics(_ manager: OperationManager, _ path: String) async throws -> TransferMetrics {
        let request = URLRequest(url: try manager.url(for: path))
        let operation = manager.operation(for: request)
        operation.start()
        _ = try await operation.value
        return try #require(operation.metrics)
    }

    @Test(arguments: [NginxTLSServer.http1, .good])
    func aReusedConnectionServesNobodyWithAnotherPolicy(server: NginxTLSServer) async throws {
        let lax = try manager(server)
        _ = try await metrics(lax, "headers")
        // The connection is there, and is used.
        #expect(try await metrics(lax, "headers").connectionCount == 0)
        let strict = try strict(try manager(server))
        await #expect(throws: ServerTrustError.self) { try await metrics(strict, "headers") }
        #expect(try await metrics(lax, "headers").connectionCount == 0)
    }

    /// Each connection is closed after one answer, so that what could be resumed is the TLS session.
    @Test func aTLSSessionServesNobodyWithAnotherPolicy() async throws {
        let lax = try manager(.http1)
        var isResumed = false
        for _ in 0..<3 {
            let marker = UUID().uuidString
            _ = try await metrics(lax, "close/headers?\(marker)")
            isResumed = try await NginxLog.line(with: marker).contains(" r ") || isResumed
        }
        #expect(isResumed, "nothing would be proven: no session was resumed at all")
        let strict = try strict(try manager(.http1))
        await #expect(throws: ServerTrustError.self) { try await metrics(strict, "close/headers") }
    }

    /// An operation that pins sees the certificate of every connection.
    @Test func aPinningPolicyResumesNoSession() async throws {
        let manager = try manager(.http1)
        manager.securityPolicy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: try TestCertificates.all("leaf")
        )
        for _ in 0..<3 {
            let marker = UUID().uuidString
            #expect(try await metrics(manager, "close/headers?\(marker)").connectionCount == 1)
            let line = try await NginxLog.line(with: marker)
            #expect(!line.contains(" r "))
        }
    }

    @Test func connectionsOfHTTP2AreNotSharedByPolicies() async throws {
        let lax = try manager(.tls13)
        let strict = try strict(try manager(.tls13))
        // All at once, so that each could find the other's connection.
        let operations = try (0..<40).map { index in
            let manager = index % 2 == 0 ? lax : strict
            let operation = manager.operation(for: URLRequest(url: try manager.url(for: "1k.bin")))
            operation.start()
            return operation
        }
        for (index, operation) in operations.enumerated() {
            _ = try? await operation.value
            if index % 2 == 0 {
                #expect(operation.error == nil)
                #expect(operation.metrics?.httpVersion == "2")
            } else {
                #expect(operation.error is ServerTrustError)
            }
        }
    }

    @Test(arguments: [1, 2])
    func aConnectionBelongsToOneClient(round: Int) async throws {
        let nobody = try manager(.clientOptional)
        let one = try manager(.clientOptional)
        one.clientIdentity = try identity("client")
        let two = try manager(.clientOptional)
        two.clientIdentity = try identity("client2")
        for _ in 0..<3 {
            #expect(try await client(nobody).isEmpty)
            #expect(try await client(one).hasSuffix("CN=client"))
            #expect(try await client(two).hasSuffix("CN=client2"))
        }
    }

    /// Whom a redirect leads to does not learn who the client is.
    @Test func aClientsCertificateDoesNotFollowRedirects() async throws {
        let target = try #require(NginxTLSServer.clientOptional.url).appendingPathComponent("headers")
            .absoluteString
        let manager = try manager(.good)
        manager.clientIdentity = try identity("client")
        let operation = manager.operation(
            for: URLRequest(url: try manager.url(for: "redirect/302?to=\(target)"))
        )
        operation.start()
        _ = try await operation.value
        #expect(operation.response?.url?.absoluteString == target)
        let shown = operation.response?.value(forHTTPHeaderField: "X-Client") ?? ""
        #expect(shown.isEmpty)
    }

    private func client(_ manager: OperationManager) async throws -> String {
        let operation = manager.operation(for: URLRequest(url: try manager.url(for: "headers")))
        operation.start()
        _ = try await operation.value
        return operation.response?.value(forHTTPHeaderField: "X-Client") ?? ""
    }

    private func identity(_ name: String) throws -> ClientIdentity {
        try ClientIdentity(
            pemFile: try #require(TestCertificates.pem(name)),
            keyFile: TestCertificates.key(name)
        )
    }

    @Test func versionsOfTLSAreKeptApart() async throws {
        let newest = try manager(.good)
        newest.tlsVersions = .v1_3 ... .v1_3
        let older = try manager(.good)
        older.tlsVersions = .v1_2 ... .v1_2
        for (manager, version) in [(newest, "TLSv1.3"), (older, "TLSv1.2"), (newest, "TLSv1.3")] {
            let marker = UUID().uuidString
            _ = try await metrics(manager, "headers?\(marker)")
            #expect(try await NginxLog.line(with: marker).contains(version))
        }
        let tooNew = try self.manager(.tls12)
        tooNew.tlsVersions = .v1_3 ... .v1_3
        let error = await #expect(throws: URLError.self) { try await metrics(tooNew, "headers") }
        #expect(error?.code == .secureConnectionFailed)
    }

    /// Policies may come and go; their connections go with them.
    @Test func unusedDomainsAreReleased() async throws {
        let descriptors = { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        // So many are kept.
        let maximumIdle = 16
        for _ in 0..<maximumIdle { _ = try await metrics(try pinned(), "headers") }
        let before = try descriptors()
        for _ in 0..<(2 * maximumIdle) { _ = try await metrics(try pinned(), "headers") }
        // Other tests have descriptors of their own.
        #expect(try descriptors() < before + maximumIdle)
    }

    /// No two are equal.
    private func pinned() throws -> OperationManager {
        let manager = try manager(.good)
        let spare = Data(UUID().uuidString.utf8 + Data(count: 32)).prefix(32)
        manager.securityPolicy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: try TestCertificates.all("leaf"),
            pinnedPublicKeys: [try PublicKeyPin("sha256//" + spare.base64EncodedString())]
        )
        return manager
    }
}

/// nginx's access log, as Tests/Servers/nginx.conf has it.
enum NginxLog {
    /// The line of the request whose address has `marker` in it. nginx writes it when the request has ended, which may be
    /// after the client has its answer.
    static func line(with marker: String) async throws -> String {
        let log = try #require(RealServers.nginxLog)
        var line: Substring?
        try await eventually {
            let text = String(decoding: try Data(contentsOf: log), as: UTF8.self)
            line = text.split(separator: "\n").first { $0.contains(marker) }
            return line != nil
        }
        return String(try #require(line))
    }
}
