import Foundation
import FoundationNetworking
import Glibc
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Which bytes count for which policy.
@Suite struct ServerVerificationTests {
    private static let insecure = SecurityPolicy(allowInvalidCertificates: true, validatesDomainName: false)
    private static let pins = ["a", "b", "c", "d", "e"].map { letter in
        try? PublicKeyPin(
            "sha256//"
                + Data(repeating: UInt8(ascii: letter.unicodeScalars.first ?? "x"), count: 32)
                .base64EncodedString()
        )
    }.compactMap { $0 }

    private func verification(
        _ address: String = "https://h/a",
        _ policy: SecurityPolicy = .default,
        _ anchors: TrustAnchors = .system,
        allowsDowngrade: Bool = false
    ) -> ServerVerification {
        ServerVerification(
            of: URL(string: address),
            by: policy,
            trusting: anchors,
            allowsDowngrade: allowsDowngrade
        )
    }

    @Test func theDefaultVerificationIsNotRecorded() {
        #expect(verification() == .standard && verification().note(besides: "https://h/a") == nil)
        #expect(verification("HTTPS://h/a") == .standard)
        let plain = verification("http://h/a", Self.insecure)
        #expect(plain == .anyServer && plain.note(besides: "http://h/a") == nil)
        #expect(plain.note(besides: "https://h/a") != nil)
        // Pins that no mode asks about.
        #expect(
            verification("https://h/a", SecurityPolicy(pinnedPublicKeys: Set(Self.pins))) == .standard
        )
    }

    /// The file of the system's authorities; libcurl may have a directory of them, or none.
    private static let authorities: String? =
        if case .places(let file, _) = CurlLibrary.authorities { file } else { nil }

    @Test(.enabled(if: Self.authorities != nil, "libcurl has no file of authorities."))
    func theSystemsOwnAuthoritiesAreUsualByAnyName() throws {
        let file = try #require(Self.authorities)
        let folder = try TemporaryDirectory()
        let link = folder.file("link.pem")
        #expect(symlink(file, link.path) == 0)
        #expect(verification("https://h/a", .default, .file(URL(fileURLWithPath: file))) == .standard)
        #expect(verification("https://h/a", .default, .file(link)) == .standard)
        let other = verification("https://h/a", .default, .file(folder.file("other.pem")))
        #expect(other != .standard)
        // Renewed by leading a link elsewhere.
        #expect(symlink(file + ".1", folder.file("other.pem").path) == 0)
        #expect(verification("https://h/a", .default, .file(folder.file("other.pem"))) == other)
    }

    @Test func whatDecidesAboutServersCounts() {
        let file = TrustAnchors.file(URL(fileURLWithPath: "/ca.pem"))
        let all = [
            verification("https://h/a", Self.insecure), verification(),
            verification("https://h/a", .default, file),
            verification("https://h/a", .default, .directory(URL(fileURLWithPath: "/ca.pem"))),
            verification("https://h/a", .default, .certificates([])),
            verification(allowsDowngrade: true),
            verification("https://h/a", SecurityPolicy(validatesDomainName: false)),
            verification("https://h/a", SecurityPolicy(allowInvalidCertificates: true)),
            verification(
                "https://h/a",
                SecurityPolicy(pinningMode: .publicKey, pinnedPublicKeys: Set(Self.pins))
            ),
            verification(
                "https://h/a",
                SecurityPolicy(pinningMode: .publicKey, pinnedPublicKeys: Set(Self.pins.dropLast()))
            ),
            verification("https://h/a", SecurityPolicy(pinningMode: .certificate)),
        ]
        #expect(Set(all).count == all.count)
        for (index, one) in all.enumerated() {
            for (number, other) in all.enumerated() {
                // The first accepts every server.
                #expect(one.accepts(other) == (index == 0 || index == number), "\(index), \(number)")
            }
        }
    }

    /// A set has another order in each process, and may have in each instance.
    @Test func theOrderOfPinsDoesNotCount() {
        var texts: Set<String> = []
        for capacity in [5, 50, 500, 5000] {
            var pins = Set<PublicKeyPin>(minimumCapacity: capacity)
            pins.formUnion(Self.pins)
            let policy = SecurityPolicy(pinningMode: .publicKey, pinnedPublicKeys: pins)
            texts.insert(verification("https://h/a", policy).text)
            texts.insert(
                verification(
                    "https://h/a",
                    SecurityPolicy(pinningMode: .publicKey, pinnedPublicKeys: pins)
                ).text
            )
        }
        #expect(texts == ["4323a89027a8591913f465a3c1d4ee6a5bca1b35ce4d8ff861046adbdb55834c"])
    }

    @Test func aPathCountsAndNotHowItIsWritten() {
        let one = verification("https://h/a", .default, .file(URL(fileURLWithPath: "/etc/ca.pem")))
        let other = verification(
            "https://h/a",
            .default,
            .file(URL(fileURLWithPath: "/etc/./x/../ca.pem"))
        )
        #expect(one == other)
    }

    @Test(
        arguments: [
            ([:], nil, nil), (["SSL_CERT_FILE": "/a.pem"], "/a.pem", nil),
            (["SSL_CERT_DIR": "/d"], nil, "/d"),
            (["SSL_CERT_FILE": "", "SSL_CERT_DIR": ""], nil, nil),
            (["SSL_CERT_FILE": "/a.pem", "SSL_CERT_DIR": "/d"], "/a.pem", "/d"),
        ] as [([String: String], String?, String?)]
    )
    func theEnvironmentNamesTheAuthorities(environment: [String: String], file: String?, directory: String?) {
        let places = AuthorityPlaces(environment: environment)
        #expect(places.file == file && places.directory == directory)
        #expect(places.isEmpty == (file == nil && directory == nil))
    }
}
