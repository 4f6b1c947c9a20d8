import Foundation
import Testing

@testable import OperationNetworking

/// A row of the table of trust: a policy, a server, and what is to come of it.
///
/// Rows named SEC-n are AFNetworking's tests of its security policy, in their order there; its "httpbin.org" is `leaf`, its
/// "ADN" is `other-leaf`.
struct TrustRow: Sendable, CustomTestStringConvertible {
    let name: String
    var mode = SecurityPolicy.PinningMode.none
    /// Names of certificates.
    var pins: [String] = []
    var allowInvalid = false
    var validatesDomainName = true
    /// The certificates of the server: names of certificates or of chains.
    var presents = "leaf-chain"
    /// The trusted authorities.
    var anchors = ["root"]
    var host: String?
    /// nginx's server that presents the same.
    var server: NginxTLSServer?
    /// `nil`: accepted.
    var refusal: ServerTrustError.Check?

    var testDescription: String { name }

    func policy() throws -> SecurityPolicy {
        SecurityPolicy(
            pinningMode: mode,
            pinnedCertificates: try pins.flatMap { try TestCertificates.all($0) },
            allowInvalidCertificates: allowInvalid,
            validatesDomainName: validatesDomainName
        )
    }

    func trustAnchors() throws -> TrustAnchors {
        .certificates(try anchors.flatMap { try TestCertificates.all($0) })
    }
}

extension TestCertificates {
    static func all(_ name: String) throws -> [X509Certificate] {
        guard let file = pem(name) else { throw TestFailure("There are no certificates") }
        return try X509Certificate.all(contentsOf: file)
    }
}

extension TrustRow {
    private static let wholeChain = ["leaf", "intermediate2", "intermediate1", "root"]
    private static let others = ["other-leaf", "other-intermediate2", "other-root"]
    private static let good = NginxTLSServer.good

    static let byDefault: [TrustRow] = [
        TrustRow(name: "SEC-05"),
        TrustRow(name: "SEC-06", host: "localhost", server: good),
        TrustRow(name: "SEC-07", presents: "self-signed", refusal: .chain(.selfSigned)),
        TrustRow(
            name: "SEC-07 for its host",
            presents: "self-signed",
            host: "localhost",
            server: .selfSigned,
            refusal: .chain(.selfSigned)
        ),
        TrustRow(name: "SEC-08", host: "apple.com", refusal: .host),
        TrustRow(
            name: "SEC-08 as a server",
            presents: "wrong-host-chain",
            host: "localhost",
            server: .wrongHost,
            refusal: .host
        ),
    ]

    /// SEC-11 to SEC-21 for public keys, SEC-24 to SEC-34 for certificates.
    static let pinned: [TrustRow] = [
        (SecurityPolicy.PinningMode.publicKey, 11), (.certificate, 24),
    ].flatMap { mode, first -> [TrustRow] in
        let row = { (number: Int) in "SEC-\(first + number)" }
        return [
            TrustRow(name: row(0), mode: mode, pins: ["leaf"]),
            TrustRow(name: row(1), mode: mode, pins: ["intermediate1"], host: "localhost", server: good),
            TrustRow(name: row(2), mode: mode, pins: ["intermediate2"], host: "localhost", server: good),
            // Here the root is not sent: it is in the path all the same.
            TrustRow(name: row(3), mode: mode, pins: ["root"], host: "localhost", server: good),
            TrustRow(name: row(4), mode: mode, pins: wholeChain, host: "localhost", server: good),
            TrustRow(name: row(5), mode: mode, pins: ["leaf"] + others, host: "localhost", server: good),
            TrustRow(name: row(6), mode: mode, pins: ["leaf"], host: "localhost", server: good),
            TrustRow(
                name: row(7),
                mode: mode,
                host: "localhost",
                server: good,
                refusal: .nothingPinned
            ),
            TrustRow(
                name: row(8),
                mode: mode,
                pins: ["leaf"],
                presents: "other-leaf-chain",
                anchors: ["root", "other-root"],
                host: "localhost",
                server: .other,
                refusal: .pin(mode)
            ),
            TrustRow(name: row(9), mode: mode, pins: ["leaf"], host: "invalid.org", refusal: .host),
            TrustRow(
                name: row(9) + " as a server",
                mode: mode,
                pins: ["wrong-host"],
                presents: "wrong-host-chain",
                host: "localhost",
                server: .wrongHost,
                refusal: .host
            ),
            TrustRow(
                name: row(10),
                mode: mode,
                pins: ["leaf", "intermediate1", "self-signed"],
                presents: "other-leaf-chain",
                anchors: ["root", "other-root"],
                host: "localhost",
                server: .other,
                refusal: .pin(mode)
            ),
        ]
    }

    static let names: [TrustRow] = [
        TrustRow(
            name: "SEC-35",
            validatesDomainName: false,
            presents: "wrong-host-chain",
            host: "localhost",
            server: .wrongHost
        ),
        TrustRow(
            name: "SEC-36",
            mode: .publicKey,
            pins: ["self-signed-cn"],
            allowInvalid: true,
            presents: "self-signed-cn",
            host: "foobar.com"
        ),
        TrustRow(
            name: "SEC-37",
            mode: .publicKey,
            pins: ["self-signed-san"],
            allowInvalid: true,
            presents: "self-signed-san",
            host: "foobar.com"
        ),
        TrustRow(name: "SEC-38", host: "foobar.com", refusal: .host),
        TrustRow(
            name: "SEC-39",
            mode: .certificate,
            pins: ["self-signed-no-name"],
            allowInvalid: true,
            presents: "self-signed-no-name",
            host: "foobar.com",
            refusal: .host
        ),
    ]

    static let invalidAllowed: [TrustRow] = [
        TrustRow(name: "SEC-40", allowInvalid: true, presents: "self-signed"),
        TrustRow(
            name: "SEC-41",
            mode: .publicKey,
            pins: ["self-signed"],
            allowInvalid: true,
            presents: "self-signed",
            host: "localhost",
            server: .selfSigned
        ),
        TrustRow(
            name: "SEC-42",
            allowInvalid: true,
            validatesDomainName: false,
            presents: "self-signed",
            host: "localhost",
            server: .selfSigned
        ),
        TrustRow(
            name: "SEC-43",
            presents: "self-signed",
            host: "localhost",
            server: .selfSigned,
            refusal: .chain(.selfSigned)
        ),
        TrustRow(
            name: "SEC-44",
            mode: .publicKey,
            allowInvalid: true,
            presents: "self-signed",
            host: "localhost",
            server: .selfSigned,
            refusal: .nothingPinned
        ),
        TrustRow(
            name: "SEC-45",
            pins: ["self-signed"],
            allowInvalid: true,
            presents: "self-signed",
            host: "localhost",
            server: .selfSigned,
            refusal: .nothingPinned
        ),
        TrustRow(
            name: "SEC-46",
            allowInvalid: true,
            presents: "self-signed",
            host: "localhost",
            server: .selfSigned,
            refusal: .nothingPinned
        ),
    ]

    /// Cases that AFNetworking does not test, or treats otherwise (F38).
    static let ours: [TrustRow] = [
        TrustRow(
            name: "F38: a genuine certificate appended proves nothing",
            mode: .publicKey,
            pins: ["leaf"],
            allowInvalid: true,
            presents: "attacker-chain",
            host: "localhost",
            server: .attacker,
            refusal: .pin(.publicKey)
        ),
        TrustRow(
            name: "F38: nor to an authority that is trusted",
            mode: .publicKey,
            pins: ["leaf"],
            presents: "attacker-chain",
            anchors: ["root", "attacker-root"],
            host: "localhost",
            server: .attacker,
            refusal: .pin(.publicKey)
        ),
        TrustRow(
            name: "F38: nor as a certificate",
            mode: .certificate,
            pins: ["leaf"],
            allowInvalid: true,
            presents: "attacker-chain",
            anchors: ["root", "attacker-root"],
            host: "localhost",
            server: .attacker,
            refusal: .pin(.certificate)
        ),
        TrustRow(
            name: "F38: the host counts when invalid certificates are allowed",
            mode: .publicKey,
            pins: ["wrong-host"],
            allowInvalid: true,
            presents: "wrong-host-chain",
            host: "localhost",
            server: .wrongHost,
            refusal: .host
        ),
        TrustRow(
            name: "an intermediate's key is not the leaf's when invalid certificates are allowed",
            mode: .publicKey,
            pins: ["intermediate2"],
            allowInvalid: true,
            host: "localhost",
            server: good,
            refusal: .pin(.publicKey)
        ),
        TrustRow(
            name: "a key outlives its certificate",
            mode: .publicKey,
            pins: ["leaf"],
            presents: "renewed-chain",
            host: "localhost",
            server: .renewed
        ),
        TrustRow(
            name: "a certificate does not outlive itself",
            mode: .certificate,
            pins: ["leaf"],
            presents: "renewed-chain",
            host: "localhost",
            server: .renewed,
            refusal: .pin(.certificate)
        ),
        TrustRow(
            name: "expired",
            presents: "expired-chain",
            host: "localhost",
            server: .expired,
            refusal: .chain(.expired)
        ),
        TrustRow(
            name: "expired, with a pinned key",
            mode: .publicKey,
            pins: ["expired"],
            presents: "expired-chain",
            host: "localhost",
            server: .expired,
            refusal: .chain(.expired)
        ),
        TrustRow(
            name: "expired, with a pinned key, and allowed",
            mode: .publicKey,
            pins: ["expired"],
            allowInvalid: true,
            presents: "expired-chain",
            host: "localhost",
            server: .expired
        ),
        TrustRow(
            name: "expired, and pinned as a certificate",
            mode: .certificate,
            pins: ["expired"],
            allowInvalid: true,
            presents: "expired-chain",
            host: "localhost",
            server: .expired,
            refusal: .chain(.expired)
        ),
        TrustRow(
            name: "not yet valid",
            presents: "not-yet-valid-chain",
            host: "localhost",
            server: .notYetValid,
            refusal: .chain(.notYetValid)
        ),
        TrustRow(
            name: "an unknown authority",
            presents: "other-leaf-chain",
            host: "localhost",
            server: .other,
            refusal: .chain(.unknownAuthority)
        ),
        TrustRow(
            name: "intermediates are missing",
            presents: "leaf",
            host: "localhost",
            server: .leafOnly,
            refusal: .chain(.unknownAuthority)
        ),
        TrustRow(
            name: "intermediates are missing, and the leaf is pinned",
            mode: .certificate,
            pins: ["leaf"],
            allowInvalid: true,
            presents: "leaf",
            host: "localhost",
            server: .leafOnly
        ),
        TrustRow(
            name: "self-signed and pinned",
            mode: .certificate,
            pins: ["self-signed"],
            allowInvalid: true,
            presents: "self-signed",
            anchors: [],
            host: "localhost",
            server: .selfSigned
        ),
        TrustRow(
            name: "for clients only",
            presents: "no-server-auth-chain",
            host: "localhost",
            server: .noServerAuth,
            refusal: .chain(.other(code: 26, sentence: "unsuitable certificate purpose"))
        ),
        TrustRow(name: "an address", host: "127.0.0.1"),
        TrustRow(name: "an address of version 6", host: "[::1]"),
        TrustRow(name: "another address", host: "127.0.0.2", refusal: .host),
        TrustRow(
            name: "a name where there is an address",
            presents: "ip-only-chain",
            host: "localhost",
            refusal: .host
        ),
        TrustRow(
            name: "a name where there is an address, live",
            presents: "ip-only-chain",
            host: "localhost",
            server: .ipOnly,
            refusal: .host
        ),
        TrustRow(name: "the root's dot", host: "localhost."),
        TrustRow(name: "a wildcard", presents: "wildcard-chain", host: "www.example.test"),
        TrustRow(
            name: "a wildcard, live",
            presents: "wildcard-chain",
            host: "www.wild.localhost",
            server: .wildcard
        ),
        TrustRow(
            name: "a wildcard is one label",
            presents: "wildcard-chain",
            host: "a.b.example.test",
            refusal: .host
        ),
        TrustRow(
            name: "a wildcard is a label",
            presents: "wildcard-chain",
            host: "example.test",
            refusal: .host
        ),
        TrustRow(name: "no host is named nothing", host: "", refusal: .host),
    ]

    /// Certificates that name no host in a subjectAltName.
    static let withoutAlternativeNames: [TrustRow] = [
        TrustRow(
            name: "a common name",
            presents: "cn-only-chain",
            host: "localhost",
            server: .cnOnly,
            refusal: .noSubjectAlternativeName
        ),
        TrustRow(
            name: "a common name, for an address",
            presents: "cn-only-chain",
            host: "127.0.0.1",
            refusal: .noSubjectAlternativeName
        ),
        TrustRow(
            name: "a common name, and it is another one",
            presents: "cn-only-chain",
            host: "foobar.com",
            refusal: .noSubjectAlternativeName
        ),
        TrustRow(
            name: "a common name of an unknown authority",
            presents: "cn-only-chain",
            anchors: ["other-root"],
            host: "localhost",
            server: .cnOnly,
            refusal: .chain(.unknownAuthority)
        ),
        TrustRow(
            name: "a common name, and names are not compared",
            validatesDomainName: false,
            presents: "cn-only-chain",
            host: "localhost",
            server: .cnOnly
        ),
        TrustRow(
            name: "a common name, with a pinned key",
            mode: .publicKey,
            pins: ["cn-only"],
            presents: "cn-only-chain",
            host: "localhost",
            server: .cnOnly,
            refusal: .noSubjectAlternativeName
        ),
        TrustRow(
            name: "a common name, with a pinned key, and allowed",
            mode: .publicKey,
            pins: ["cn-only"],
            allowInvalid: true,
            presents: "cn-only-chain",
            host: "localhost",
            server: .cnOnly
        ),
        TrustRow(
            name: "a common name, pinned, and allowed",
            mode: .certificate,
            pins: ["cn-only"],
            allowInvalid: true,
            presents: "cn-only-chain",
            host: "localhost",
            server: .cnOnly
        ),
        TrustRow(
            name: "another common name, pinned, and allowed",
            mode: .publicKey,
            pins: ["self-signed-cn"],
            allowInvalid: true,
            presents: "self-signed-cn",
            host: "localhost",
            refusal: .host
        ),
        TrustRow(
            name: "a common name beside an address, pinned, and allowed",
            mode: .publicKey,
            pins: ["ip-only"],
            allowInvalid: true,
            presents: "ip-only-chain",
            host: "localhost",
            server: .ipOnly,
            refusal: .host
        ),
    ]

    static let all = byDefault + pinned + names + invalidAllowed + ours + withoutAlternativeNames
    static let live = all.filter { $0.server != nil }
}
