import Foundation
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite struct SecurityPolicyTests {
    @Test("SEC-01 to SEC-04") func theDefaultPolicyTrustsTheAuthorities() {
        let policy = SecurityPolicy.default
        #expect(policy.pinningMode == .none)
        #expect(!policy.allowInvalidCertificates)
        #expect(policy.validatesDomainName)
        #expect(policy.pinnedCertificates.isEmpty && policy.pinnedPublicKeys.isEmpty)
        #expect(policy == SecurityPolicy())
    }

    @Test(
        "SEC-09, SEC-10, SEC-22, SEC-23",
        .enabled(if: TestCertificates.directory != nil),
        arguments: [SecurityPolicy.PinningMode.publicKey, .certificate]
    )
    func pinsComeFromADirectory(mode: SecurityPolicy.PinningMode) throws {
        let folder = try TemporaryDirectory()
        let leaf = try #require(TestCertificates.der("leaf"))
        let root = try #require(TestCertificates.pem("root"))
        try FileManager.default.copyItem(at: leaf, to: folder.url.appendingPathComponent("a.cer"))
        try FileManager.default.copyItem(at: root, to: folder.url.appendingPathComponent("b.PEM"))
        try Data("not a certificate".utf8).write(to: folder.url.appendingPathComponent("README"))
        let certificates = try X509Certificate.all(inDirectory: folder.url)
        let expected = try TestCertificates.all("leaf") + TestCertificates.all("root")
        #expect(certificates == expected)
        let policy = SecurityPolicy(pinningMode: mode, pinnedCertificates: certificates + certificates)
        #expect(policy.pinnedCertificates == certificates)

        try Data("not a certificate".utf8).write(to: folder.url.appendingPathComponent("c.crt"))
        #expect(throws: CertificateError.noCertificate(folder.url.appendingPathComponent("c.crt").path)) {
            try X509Certificate.all(inDirectory: folder.url)
        }
    }

    @Test func aDirectoryWithoutACertificateIsAnError() throws {
        let folder = try TemporaryDirectory()
        #expect(throws: CertificateError.noCertificate(folder.url.path)) {
            try X509Certificate.all(inDirectory: folder.url)
        }
    }

    @Test("SEC-47, SEC-48", .enabled(if: TestCertificates.directory != nil))
    func aPolicySurvivesCodingAndKeepsItself() throws {
        var policy = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: try TestCertificates.all("leaf-chain"),
            pinnedPublicKeys: [
                try PublicKeyPin("sha256//" + Data(repeating: 7, count: 32).base64EncodedString())
            ],
            allowInvalidCertificates: true,
            validatesDomainName: false
        )
        let copy = policy
        #expect(copy == policy)
        let json = try JSONEncoder().encode(policy)
        #expect(try JSONDecoder().decode(SecurityPolicy.self, from: json) == policy)
        let list = try PropertyListEncoder().encode(policy)
        #expect(try PropertyListDecoder().decode(SecurityPolicy.self, from: list) == policy)
        policy.allowInvalidCertificates = false
        #expect(copy != policy)
    }

    @Test func anInvalidCertificateIsNotDecoded() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(X509Certificate.self, from: Data(#""bm90IGEgY2VydGlmaWNhdGU=""#.utf8))
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(PublicKeyPin.self, from: Data(#""sha256//short""#.utf8))
        }
    }
}

@Suite(.enabled(if: TestCertificates.directory != nil))
struct CertificateTests {
    @Test func aCertificateIsTheSameInBothFormats() throws {
        let der = try Data(contentsOf: try #require(TestCertificates.der("leaf")))
        let certificate = try X509Certificate(der: der)
        #expect(try TestCertificates.all("leaf") == [certificate])
        #expect(try X509Certificate.all(in: der) == [certificate])
        #expect(certificate.subject == "CN=localhost")
        #expect(try TestCertificates.all("self-signed-no-name").first?.subject == "O=Tests")
    }

    @Test func textBetweenCertificatesIsSkipped() throws {
        let leaf = try Data(contentsOf: try #require(TestCertificates.pem("leaf")))
        let root = try Data(contentsOf: try #require(TestCertificates.pem("root")))
        let both = Data("A leaf:\n".utf8) + leaf + Data("\nand its root\n".utf8) + root + Data("end\n".utf8)
        #expect(try X509Certificate.all(in: both).count == 2)
    }

    @Test func aBrokenCertificateIsAnErrorAndNotSkipped() throws {
        let der = try Data(contentsOf: try #require(TestCertificates.der("leaf")))
        let leaf = try Data(contentsOf: try #require(TestCertificates.pem("leaf")))
        var text = String(decoding: leaf, as: UTF8.self)
        let middle = text.index(text.startIndex, offsetBy: text.count / 2)
        text.replaceSubrange(middle...middle, with: "!")
        let broken = [
            Data(), Data("x".utf8), der.dropLast(), der + [0], Data(leaf.dropLast(40)),
            leaf + Data(text.utf8),
            Data("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n".utf8),
        ]
        for data in broken {
            #expect(throws: CertificateError.self) { try X509Certificate.all(in: data) }
        }
        #expect(throws: CertificateError.self) { try X509Certificate(der: leaf) }
    }

    /// OpenSSL would take `.wild.localhost` for any name below it.
    @Test(arguments: [
        ("www.wild.localhost", true), ("WWW.wild.localhost.", true), ("a.b.wild.localhost", false),
        ("wild.localhost", false), (".wild.localhost", false), ("", false), (".", false),
        ("www.wild.localhost..", false),
    ])
    func aNameIsAWholeName(host: String, isNamed: Bool) throws {
        let certificate = try #require(try TestCertificates.all("wildcard").first)
        #expect(certificate.isIssued(to: host) == isNamed)
    }

    @Test func aPinIsTheSameAsOpenSSLs() throws {
        let leaf = try #require(try TestCertificates.all("leaf").first)
        let renewed = try #require(try TestCertificates.all("renewed").first)
        let pin = try PublicKeyPin(leaf)
        #expect(try PublicKeyPin(pin.description) == pin)
        #expect(try PublicKeyPin(renewed) == pin)
        let key = try #require(TestCertificates.key("leaf"))
        let command =
            "openssl pkey -in '\(key.path)' -pubout -outform DER | openssl dgst -sha256 -binary | openssl base64 -A"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(pin.description == "sha256//" + text)
    }

    @Test(arguments: ["", "sha256//", "sha256/AAAA", "sha1//AAAA", "sha256//AAAA", "sha256//!"])
    func anInvalidPinIsAnError(text: String) {
        #expect(throws: CertificateError.noPublicKeyPin(text)) { try PublicKeyPin(text) }
    }
}
