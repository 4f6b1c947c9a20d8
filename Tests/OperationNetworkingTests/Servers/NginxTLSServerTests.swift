import Foundation
import Testing

@testable import OperationNetworkingTestSupport

/// That nginx's TLS servers are what they say, in the words of another client.
@Suite(.timeLimit(.minutes(1)), .enabled(if: TestCertificates.directory != nil))
struct NginxTLSServerTests {
    /// The exit code of curl when a certificate was refused: CURLE_PEER_FAILED_VERIFICATION.
    private static let refused: Int32 = 60

    private func address(_ server: NginxTLSServer, _ path: String = "/headers") throws -> String {
        try #require(server.url).absoluteString + path
    }

    private func ask(_ server: NginxTLSServer, trusting authority: String = "root", _ arguments: String...)
        throws -> CurlCommand.Outcome
    {
        let anchors = try #require(TestCertificates.pem(authority)).path
        return try CurlCommand.run(["--cacert", anchors] + arguments + [address(server)])
    }

    @Test(arguments: [
        NginxTLSServer.good, .http1, .tls12, .tls13, .clientOptional, .renewed, .wildcard,
    ])
    func aServerWithAGoodCertificateAnswers(server: NginxTLSServer) throws {
        let outcome = try ask(server)
        #expect(outcome.code == 0, "\(outcome.complaint)")
        #expect(outcome.value("Method") == "GET")
    }

    /// The numbers are those of `openssl-verification-options`: 9 not yet valid, 10 expired, 18 signed by
    /// itself, 20 an unknown authority, 26 not for this purpose.
    @Test(arguments: [
        (NginxTLSServer.notYetValid, 9), (.expired, 10), (.selfSigned, 18), (.leafOnly, 20), (.other, 20),
        (.attacker, 20), (.noServerAuth, 26),
    ])
    func aServerWithABadCertificateIsRefusedWithTheReason(server: NginxTLSServer, reason: Int) throws {
        let outcome = try ask(server, "--write-out", "reason: %{ssl_verify_result}\n")
        #expect(outcome.code == Self.refused)
        #expect(outcome.value("reason") == "\(reason)", "\(outcome.complaint)")
        #expect(outcome.value("Method") == nil)
    }

    @Test(arguments: [
        (NginxTLSServer.selfSigned, "self-signed"), (.other, "other-root"), (.attacker, "attacker-root"),
    ])
    func aServerOfAnotherAuthorityAnswersClientsThatTrustIt(server: NginxTLSServer, authority: String) throws
    {
        let outcome = try ask(server, trusting: authority)
        #expect(outcome.code == 0, "\(outcome.complaint)")
    }

    @Test(arguments: [
        (NginxTLSServer.wrongHost, "other.example"), (.wildcard, "any.example.test"), (.ipOnly, "127.0.0.1"),
    ])
    func aCertificateForAnotherHostIsOnlyValidThere(server: NginxTLSServer, host: String) throws {
        let port = try #require(server.url?.port)
        let anchors = try #require(TestCertificates.pem("root")).path
        func ask(_ host: String) throws -> CurlCommand.Outcome {
            let place = ["--connect-to", "\(host):\(port):127.0.0.1:\(port)"]
            return try CurlCommand.run(["--cacert", anchors] + place + ["https://\(host):\(port)/headers"])
        }
        #expect(try ask("localhost").code == Self.refused)
        #expect(try ask("another.example").code == Self.refused)
        let there = try ask(host)
        #expect(there.code == 0, "\(there.complaint)")
    }

    @Test func theAttackerPresentsTheGenuineChainAfterHisOwnCertificate() throws {
        let presented = try ask(.attacker, trusting: "attacker-root", "--write-out", "%{certs}").output
        for name in ["attacker", "leaf", "intermediate1", "intermediate2"] {
            let file = try #require(TestCertificates.pem(name))
            #expect(presented.contains(try String(contentsOf: file, encoding: .utf8)), "\(name)")
        }
    }

    @Test(arguments: [(NginxTLSServer.good, "2"), (.http1, "1.1"), (.attacker, "2"), (.clientRequired, "2")])
    func theProtocolThatALPNSelects(server: NginxTLSServer, version: String) throws {
        let outcome = try ask(server, "--insecure", "--http2", "--write-out", "version: %{http_version}\n")
        #expect(outcome.value("version") == version)
    }

    @Test func oneVersionOfTLSIsOneVersionOfTLS() throws {
        #expect(try ask(.tls12).value("TLS")?.hasPrefix("TLSv1.2 ") == true)
        #expect(try ask(.tls13).value("TLS")?.hasPrefix("TLSv1.3 ") == true)
        // CURLE_SSL_CONNECT_ERROR
        #expect(try ask(.tls12, "--tlsv1.3").code == 35)
        #expect(try ask(.tls13, "--tls-max", "1.2").code == 35)
    }

    @Test func aSessionIsResumedOnASecondConnection() throws {
        let outcome = try ask(.http1, address(.http1, "/close/headers"))
        let lines = outcome.output.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("TLS:") }
        #expect(lines == ["TLS: TLSv1.3 .", "TLS: TLSv1.3 r"])
    }

    // MARK: - Clients' certificates

    private func identity(_ name: String) throws -> [String] {
        [
            "--cert", try #require(TestCertificates.pem(name)).path,
            "--key", try #require(TestCertificates.key(name)).path,
        ]
    }

    private func ask(_ server: NginxTLSServer, as identity: [String]) throws -> CurlCommand.Outcome {
        let anchors = try #require(TestCertificates.pem("root")).path
        return try CurlCommand.run(["--include", "--cacert", anchors] + identity + [address(server)])
    }

    @Test func aClientIsKnownByItsCertificate() throws {
        for server in [NginxTLSServer.clientRequired, .clientOptional] {
            #expect(try ask(server, as: identity("client")).value("Client") == "O=Tests,CN=client")
            #expect(try ask(server, as: identity("client2")).value("X-Client") == "O=Tests,CN=client2")
        }
    }

    @Test func everyFormOfTheClientsIdentityHoldsTheSame() throws {
        let certificate = try #require(TestCertificates.pem("client")).path
        let encrypted = try #require(TestCertificates.key("client-encrypted")).path
        let combined = try #require(TestCertificates.clientCombined).path
        let pkcs12 = try #require(TestCertificates.clientPKCS12).path
        let forms = [
            ["--cert", certificate, "--key", encrypted, "--pass", TestCertificates.passphrase],
            ["--cert", combined],
            ["--cert-type", "P12", "--cert", pkcs12, "--pass", TestCertificates.password],
        ]
        for form in forms {
            let outcome = try ask(.clientRequired, as: form)
            #expect(outcome.value("Client") == "O=Tests,CN=client", "\(form): \(outcome.complaint)")
        }
        // CURLE_SSL_CERTPROBLEM
        #expect(
            try ask(.clientRequired, as: ["--cert", certificate, "--key", encrypted, "--pass", "wrong"]).code
                == 58
        )
    }

    @Test func aClientWithoutAValidCertificateIsRefused() throws {
        let none = try ask(.clientRequired, as: [])
        #expect(none.output.hasPrefix("HTTP/2 403"))
        #expect(none.value("X-Client-Verify") == "NONE")
        let stranger = try ask(.clientRequired, as: identity("stranger"))
        #expect(stranger.output.hasPrefix("HTTP/2 403"))
        #expect(stranger.value("X-Client-Verify")?.hasPrefix("FAILED") == true)
    }

    @Test func optionalCertificatesAreReported() throws {
        #expect(try ask(.clientOptional, as: []).value("Client-Verify") == "NONE")
        #expect(try ask(.clientOptional, as: identity("client")).value("Client-Verify") == "SUCCESS")
        let stranger = try ask(.clientOptional, as: identity("stranger"))
        #expect(stranger.value("Client") == "O=Tests,CN=client")
        #expect(stranger.value("Client-Verify")?.hasPrefix("FAILED") == true)
    }
}
