import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking

@Suite(.enabled(if: TestCertificates.directory != nil), .timeLimit(.minutes(1)))
struct ClientIdentityTests {
    private func data(_ file: URL?) throws -> Data {
        try Data(contentsOf: try #require(file))
    }

    /// The same identity in all its forms.
    private func identities() throws -> [ClientIdentity] {
        let pem = try #require(TestCertificates.pem("client"))
        let key = try #require(TestCertificates.key("client"))
        let encrypted = try #require(TestCertificates.key("client-encrypted"))
        let combined = try #require(TestCertificates.clientCombined)
        let pkcs12 = try #require(TestCertificates.clientPKCS12)
        return [
            try ClientIdentity(pemFile: pem, keyFile: key),
            try ClientIdentity(pemFile: pem, keyFile: encrypted, passphrase: TestCertificates.passphrase),
            try ClientIdentity(pemFile: combined),
            try ClientIdentity(pem: try data(combined)),
            try ClientIdentity(pem: try data(TestCertificates.der("client")), key: try data(key)),
            try ClientIdentity(pkcs12File: pkcs12, passphrase: TestCertificates.password),
            try ClientIdentity(pkcs12: try data(pkcs12), passphrase: TestCertificates.password),
        ]
    }

    @Test func anIdentityIsTheSameFromEveryFormat() throws {
        let certificate = try TestCertificates.all("client").first
        let identities = try identities()
        for identity in identities {
            #expect(identity.certificate == certificate)
            #expect(identity.keyPair.privateKey == identities[0].keyPair.privateKey)
        }
    }

    @Test func aServerThatRequiresACertificateGetsIt() async throws {
        for identity in try identities() {
            let operation = try operation(identity)
            try await operation.run()
            #expect(operation.error == nil)
            #expect(operation.response?.statusCode == 200)
            #expect(operation.response?.value(forHTTPHeaderField: "X-Client")?.hasSuffix("CN=client") == true)
        }
    }

    @Test func withoutOneTheServerRefuses() async throws {
        let operation = try operation(nil)
        try await operation.run()
        #expect(operation.response?.statusCode == 403)
        #expect(operation.response?.value(forHTTPHeaderField: "X-Client-Verify") == "NONE")
    }

    @Test func aStrangersIsShownAndRefused() async throws {
        let stranger = try ClientIdentity(
            pemFile: try #require(TestCertificates.pem("stranger")),
            keyFile: TestCertificates.key("stranger")
        )
        let operation = try operation(stranger)
        try await operation.run()
        #expect(operation.response?.statusCode == 403)
        #expect(operation.response?.value(forHTTPHeaderField: "X-Client-Verify")?.contains("FAILED") == true)
    }

    private func operation(_ identity: ClientIdentity?) throws -> ConnectionOperation {
        let base = try #require(NginxTLSServer.clientRequired.url)
        let operation = ConnectionOperation(request: URLRequest(url: base.appendingPathComponent("headers")))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.trustAnchors = .file(try #require(RealServers.authorities))
        operation.clientIdentity = identity
        return operation
    }

    @Test func whatIsNoIdentityIsAnErrorThatSaysWhy() throws {
        let pem = try #require(TestCertificates.pem("client"))
        let key = try #require(TestCertificates.key("client"))
        let encrypted = try #require(TestCertificates.key("client-encrypted"))
        let pkcs12 = try #require(TestCertificates.clientPKCS12)
        let missing = URL(fileURLWithPath: "/nowhere/client.pem")
        #expect(throws: CertificateError.noPrivateKey(pem.path)) { try ClientIdentity(pemFile: pem) }
        #expect(throws: CertificateError.noCertificate(key.path)) { try ClientIdentity(pemFile: key) }
        #expect(throws: CertificateError.wrongPassphrase(encrypted.path)) {
            try ClientIdentity(pemFile: pem, keyFile: encrypted)
        }
        #expect(throws: CertificateError.wrongPassphrase(encrypted.path)) {
            try ClientIdentity(pemFile: pem, keyFile: encrypted, passphrase: "wrong")
        }
        #expect(throws: CertificateError.wrongPassphrase(pkcs12.path)) {
            try ClientIdentity(pkcs12File: pkcs12, passphrase: "wrong")
        }
        #expect(throws: CertificateError.noCertificate(pem.path)) {
            try ClientIdentity(pkcs12File: pem, passphrase: "")
        }
        #expect(throws: CertificateError.keyMismatch(key.path)) {
            try ClientIdentity(pemFile: try #require(TestCertificates.pem("stranger")), keyFile: key)
        }
        let error = #expect(throws: CertificateError.self) { try ClientIdentity(pemFile: missing) }
        #expect(error?.description.contains("/nowhere/client.pem cannot be read") == true)
    }

    @Test func nothingPrintsTheKey() throws {
        let identity = try #require(try identities().first)
        var dumped = ""
        dump(identity, to: &dumped)
        for text in ["\(identity)", String(reflecting: identity), dumped] {
            #expect(!text.contains("PRIVATE KEY") && !text.contains("keyPair"))
            #expect(text.contains("client"))
        }
    }
}
