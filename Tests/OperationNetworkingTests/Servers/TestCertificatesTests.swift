import Foundation
import Testing

@testable import OperationNetworkingTestSupport

/// That `scripts/make-certificates` made what its list says, in the words of `openssl`.
@Suite(.timeLimit(.minutes(1)), .enabled(if: TestCertificates.directory != nil))
struct TestCertificatesTests {
    /// The output of the command; its arguments hold no spaces. Its complaints are kept out of the log of the
    /// tests.
    private func openssl(_ command: String) throws -> String {
        let directory = try #require(TestCertificates.directory)
        let quietly = ["-c", "exec openssl \(command) 2>/dev/null"]
        return String(decoding: try ChecksumProgram.run("sh", quietly, in: directory), as: UTF8.self)
    }

    private func expectRefusal(_ command: String) {
        #expect(throws: ChecksumProgram.Failure.self) { try openssl(command) }
    }

    @Test(arguments: ["leaf", "renewed", "wrong-host", "wildcard", "ip-only", "cn-only", "other-leaf"])
    func aLeafIsGoodWithTheRootAndTwoIntermediates(name: String) throws {
        let root = name.hasPrefix("other-") ? "other-root.pem" : "root.pem"
        let whole = "-untrusted \(name)-chain.pem \(name).pem"
        let chain = try openssl("verify -show_chain -CAfile \(root) \(whole)")
        #expect(chain.split(separator: "\n").count { $0.hasPrefix("depth=") } == 4, "\(chain)")
        expectRefusal("verify -CAfile \(root) \(name).pem")
        expectRefusal("verify -CAfile stranger-root.pem \(whole)")
    }

    @Test(arguments: [
        ("self-signed", "DNS:localhost"), ("self-signed-cn", "CN = foobar.com"),
        ("self-signed-san", "DNS:foobar.com"), ("self-signed-no-name", nil),
    ])
    func aSelfSignedCertificateHasOneName(name: String, only: String?) throws {
        let file = "-in \(name).pem -noout"
        let text = try openssl("x509 \(file) -subject") + openssl("x509 \(file) -ext subjectAltName")
        let names = ["DNS:localhost", "CN = foobar.com", "DNS:foobar.com"].filter { text.contains($0) }
        #expect(names == [only].compactMap(\.self))
        #expect(try openssl("verify -CAfile \(name).pem \(name).pem").contains("OK"))
    }

    @Test func theRenewedLeafHasTheSameKeyInAnotherCertificate() throws {
        func key(_ name: String) throws -> String { try openssl("x509 -in \(name).pem -noout -pubkey") }
        func serial(_ name: String) throws -> String { try openssl("x509 -in \(name).pem -noout -serial") }
        #expect(try key("renewed") == key("leaf"))
        #expect(try serial("renewed") != serial("leaf"))
        #expect(try key("other-leaf") != key("leaf"))
        #expect(try key("attacker") != key("leaf"))
    }

    @Test func aClientIsOfItsOwnAuthority() throws {
        #expect(try openssl("verify -CAfile client-root.pem -purpose sslclient client.pem").contains("OK"))
        expectRefusal("verify -CAfile client-root.pem -purpose sslserver client.pem")
        expectRefusal("verify -CAfile client-root.pem stranger.pem")
        expectRefusal("verify -CAfile root.pem client.pem")
    }

    @Test(arguments: ["root", "intermediate1", "intermediate2", "leaf", "self-signed-cn", "client"])
    func theTwoFormsOfACertificateHoldTheSame(name: String) throws {
        let pem = try String(contentsOf: #require(TestCertificates.pem(name)), encoding: .utf8)
        let inside = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        #expect(try Data(contentsOf: #require(TestCertificates.der(name))) == Data(base64Encoded: inside))
    }
}
