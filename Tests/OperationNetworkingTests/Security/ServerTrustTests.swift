import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.enabled(if: TestCertificates.directory != nil), .timeLimit(.minutes(1)))
struct ServerTrustTests {
    @Test("Each row of the table, by itself", arguments: TrustRow.all)
    func verdict(row: TrustRow) throws {
        let policy = try row.policy()
        let trust = ServerTrust(
            verifying: try TestCertificates.all(row.presents),
            for: row.host,
            anchors: try row.trustAnchors(),
            policy: policy
        )
        #expect(policy.failedCheck(of: trust) == row.refusal)
    }

    @Test("Each row of the table, as a connection to nginx", arguments: TrustRow.live)
    func connection(row: TrustRow) async throws {
        let base = try #require(row.server?.url)
        let path = "/headers?\(UUID().uuidString)"
        let operation = ConnectionOperation(
            request: URLRequest(url: try #require(URL(string: path, relativeTo: base)))
        )
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.securityPolicy = try row.policy()
        operation.trustAnchors = try row.trustAnchors()
        try await operation.run()

        guard let refusal = row.refusal else {
            #expect(operation.error == nil)
            #expect(operation.response?.statusCode == 200)
            return
        }
        let error = try #require(operation.error as? ServerTrustError)
        #expect(error.check == refusal)
        #expect(error.host == base.host)
        let presented = try TestCertificates.all(row.presents)
        #expect(error.serverTrust?.certificates == presented)
        #expect(operation.response == nil)
        let beneath = try #require((error as NSError).userInfo[NSUnderlyingErrorKey] as? URLError)
        #expect(beneath.code == refusal.expectedCode)
        #expect(beneath.failingURL?.host == base.host)
    }

    /// The server does not learn of it.
    @Test func aRefusalComesBeforeAByteOfTheRequest() async throws {
        let base = try #require(NginxTLSServer.good.url)
        let log = try #require(RealServers.nginxLog)
        let path = "/\(UUID().uuidString)"
        let url = try #require(URL(string: path, relativeTo: base))
        for policy in [
            SecurityPolicy(
                pinningMode: .publicKey,
                pinnedCertificates: try TestCertificates.all("other-leaf")
            ),
            SecurityPolicy(
                pinningMode: .certificate,
                pinnedCertificates: try TestCertificates.all("other-leaf")
            ),
            SecurityPolicy(allowInvalidCertificates: true),
        ] {
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            request.httpBody = Data("secret".utf8)
            let operation = ConnectionOperation(request: request)
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.securityPolicy = policy
            operation.trustAnchors = .file(try #require(RealServers.authorities))
            try await operation.run()
            #expect(operation.error is ServerTrustError)
            #expect(operation.metrics?.bytesSent == 0)
        }
        // What comes after it is in the log, and it is not.
        let marker = "/\(UUID().uuidString)"
        let control = ConnectionOperation(
            request: URLRequest(url: try #require(URL(string: marker, relativeTo: base)))
        )
        control.completionQueue = DispatchQueue(label: "callbacks")
        control.trustAnchors = .file(try #require(RealServers.authorities))
        try await control.run()
        _ = try await NginxLog.line(with: marker)
        let text = try String(contentsOf: log, encoding: .utf8)
        #expect(!text.contains(path))
    }

    @Test(arguments: [SecurityPolicy.PinningMode.publicKey, .certificate])
    func aPinnedRequestIsNotSentWithoutTLS(mode: SecurityPolicy.PinningMode) async throws {
        let url = try #require(RealServers.nginx)
        let operation = ConnectionOperation(request: URLRequest(url: url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.securityPolicy = SecurityPolicy(
            pinningMode: mode,
            pinnedCertificates: try TestCertificates.all("leaf")
        )
        try await operation.run()
        let error = try #require(operation.error as? ServerTrustError)
        #expect(error.check == .encryption)
        #expect(error.urlError.code == .appTransportSecurityRequiresSecureConnection)
        #expect(operation.metrics?.transferCount ?? 0 == 0)
    }
}

extension ServerTrustError.Check {
    fileprivate var expectedCode: URLError.Code {
        switch self {
        case .chain(.expired): .serverCertificateHasBadDate
        case .chain(.notYetValid): .serverCertificateNotYetValid
        case .chain(.unknownAuthority), .chain(.selfSigned): .serverCertificateHasUnknownRoot
        default: .serverCertificateUntrusted
        }
    }
}
