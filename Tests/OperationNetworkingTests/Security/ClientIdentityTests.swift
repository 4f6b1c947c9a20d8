import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

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
            #expect(identity.certificate == certificate && identity.hasSameKey(as: identities[0]))
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

    @Test func aForeignCertificateIsPresentedAndRefused() async throws {
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

    @Test func anInvalidIdentityIsAnErrorWithAReason() throws {
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

    /// Made by `openssl pkcs12 -export -legacy` (RC2), and by `openssl ec -des`.
    @Test func anOldEncryptionIsNotReportedAsAWrongPassphrase() throws {
        let directory = try TemporaryDirectory()
        let (pkcs12, key) = (directory.file("old.p12"), directory.file("old.key"))
        try #require(Data(base64Encoded: Self.oldPKCS12.replacingOccurrences(of: "\n", with: ""))).write(
            to: pkcs12
        )
        try Data(Self.oldKey.utf8).write(to: key)
        let pem = try #require(TestCertificates.pem("client"))
        #expect(throws: CertificateError.unsupportedEncryption(pkcs12.path)) {
            try ClientIdentity(pkcs12File: pkcs12, passphrase: "secret")
        }
        #expect(throws: CertificateError.unsupportedEncryption(key.path)) {
            try ClientIdentity(pemFile: pem, keyFile: key, passphrase: "secret")
        }
        #expect(throws: CertificateError.wrongPassphrase(pkcs12.path)) {
            try ClientIdentity(pkcs12File: pkcs12, passphrase: "wrong")
        }
    }

    /// OpenSSL's decoders call it unsupported, too.
    @Test func aBrokenKeyIsNotReportedAsAnOldEncryption() throws {
        let directory = try TemporaryDirectory()
        let key = directory.file("broken.key")
        let text = try String(contentsOf: try #require(TestCertificates.key("client")), encoding: .utf8)
        var lines = text.split(separator: "\n")
        lines.remove(at: 1)
        try Data(lines.joined(separator: "\n").utf8).write(to: key)
        let pem = try #require(TestCertificates.pem("client"))
        #expect(throws: CertificateError.wrongPassphrase(key.path)) {
            try ClientIdentity(pemFile: pem, keyFile: key)
        }
    }

    private static let oldPKCS12 = """
        MIIDcgIBAzCCAzgGCSqGSIb3DQEHAaCCAykEggMlMIIDITCCAhcGCSqGSIb3DQEHBqCCAggwggIEAgEAMIIB/QYJKoZIhvcNAQcB
        MBwGCiqGSIb3DQEMAQYwDgQIsHMYoEhmZtUCAggAgIIB0NBcSZ9DyKx8iq6Ub+1AmxFj/nm4i6B4HWRiG3c+uY9wI5Ho1KsGOVda
        g5eN8ayP1lOPg7UuDH1eLpUiohNsqn84aTszJdQDRM4B34wthtlKDAXsJrAbyA4NyAlf/KuJo///37GqI+2UgPHyJi4do3iNpnIb
        Y5zYJHNynOWj8wbEPX8CYPKQJnQQObhbmQmF/T13bUxuqwQEqxRs7D2GSX6f+udKM8+yuCqXkTj3c6zJlceII2WYyjD9SC3mDFwS
        ojN1VXmOqMS73NDsySE+D5ZuV826a3kuq3FsAaxPBcwupfsPHRxy45CSVWjou+UfYLOlwsH/8LZmZ0IdI0vJbehyBxpRISjY4r3Y
        31OdmBpDBBZ6ShYaiZwihD8I+Em5NwIE8GkPgOQQHfDMrT548ItzbM+AlUmUYFEo5gp4voLlHvP44+kO2n+oLs5ujZEseW/R6Giu
        Qgp/tk/vLqst5mhKVJu9iKhbyvncEi2TNKGOQbkNYULy9L48a+9NTq2T6FWyd0XaXzlypqWkwORCNGMzJQ0TC5Ma2RAvzGAR039O
        w6u+c5C38HK65l8KITg90gGIlPKZIEee53A69QWt74MP+7EO6jBLAko3EQrh83c6MIIBAgYJKoZIhvcNAQcBoIH0BIHxMIHuMIHr
        BgsqhkiG9w0BDAoBAqCBtDCBsTAcBgoqhkiG9w0BDAEDMA4ECHeUIzze7CoFAgIIAASBkHu9XEdQuH4/dN2IjPYH3zpsgceOH1Zr
        tFmiiuKKvDuRw2DyF90ro0zSFqR6tKGpSFsqQaYfxrO7fSR2027BWQMeV8ZywgDYO/KxLFATj0ONxeKhWXKk6wk1DcT8xM4rnt5l
        CCkz34hrnDvuv/v9AVwcYi2Yb4t7JiBsE+cbHUX9agyzihSKqck5MUdf/47JTDElMCMGCSqGSIb3DQEJFTEWBBST+cyVfarMg2tx
        Rt1VRP4VbQRDwTAxMCEwCQYFKw4DAhoFAAQUhrVtPN2kYZsYUTy++YwdT/nZQU8ECCQPzE9Kt/ZuAgIIAA==
        """
    private static let oldKey = """
        -----BEGIN EC PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: DES-CBC,D0E32856BE231F5C

        C3x1R3+PbYWpuNJGqxFN7JoDYwGUa5GGU97Dl82qEMwZrqLzuTn47q+cDzoXaeGU
        eCtMUvgzw1JtTHry23iOweWGa9SoXSK/lG8x0688xKdlG7r1TdM1E2q6lOCKJU2D
        cDUdxluHj+fynZ4PkODprCqbJ8eeNaFn+PCaH+wTks0=
        -----END EC PRIVATE KEY-----
        """

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
