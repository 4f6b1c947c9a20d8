import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct DigestFieldsTests {
    private let one = Data(repeating: 1, count: 64)
    private let two = Data(repeating: 2, count: 64)

    private func base64(_ algorithm: DigestAlgorithm, _ data: Data) -> String {
        data.prefix(algorithm.byteCount).base64EncodedString()
    }

    private func digest(_ algorithm: DigestAlgorithm, _ data: Data) throws -> FileDigest {
        try FileDigest(algorithm, bytes: Array(data.prefix(algorithm.byteCount)))
    }

    private func digests(
        _ fields: HeaderFields,
        status: Int = 200,
        coding: DigestFields.ContentCoding = .none
    ) -> [FileDigest] {
        DigestFields(fields, status: status, coding: coding).digests
    }

    // MARK: - The examples of the standards

    @Test("RFC 9530 appendix B.1: the whole representation") func theWholeRepresentation() throws {
        let fields: HeaderFields = ["Repr-Digest": "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"]
        let expected = try FileDigest.of(Data("{\"hello\": \"world\"}\n".utf8), algorithm: .sha256)
        #expect(digests(fields) == [expected])
    }

    @Test("RFC 9530 appendix B.3: a part, and the digest of the whole") func aPartOfTheRepresentation() throws
    {
        let fields: HeaderFields = [
            "Content-Range": "bytes 10-18/19",
            "Content-Digest": "sha-256=:jjcgBDWNAtbYUXI37CVG3gRuGOAjaaDRGpIUFsdyepQ=:",
            "Repr-Digest": "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:",
        ]
        let whole = try FileDigest.of(Data("{\"hello\": \"world\"}\n".utf8), algorithm: .sha256)
        #expect(digests(fields, status: 206) == [whole])
        // The other digest is that of the part.
        let part = try FileDigest.of(Data("\"world\"}\n".utf8), algorithm: .sha256)
        #expect(part.base64 == "jjcgBDWNAtbYUXI37CVG3gRuGOAjaaDRGpIUFsdyepQ=")
    }

    @Test("RFC 9530 §2: several algorithms, in several lines") func severalAlgorithms() throws {
        let body = Data("{\"hello\": \"world\"}\n".utf8)
        let fields: HeaderFields = [
            "Content-Digest": "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:",
            "content-digest":
                "sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM"
                + "44T3qg==:",
        ]
        #expect(
            digests(fields) == [
                try FileDigest.of(body, algorithm: .sha512), try FileDigest.of(body, algorithm: .sha256),
            ]
        )
    }

    @Test("RFC 3230 §4.3.2: the instance, names in any case") func theOldField() throws {
        let fields: HeaderFields = [
            "Digest": "SHA=thvDyvhfIqlvFe+A9MYgxAfm1q5=,unixsum=30637 , MD5=HUXZLQLMuI/KZ5KDcJPcOA=="
        ]
        #expect(digests(fields).map(\.algorithm) == [.sha1, .md5])
        #expect(digests(["Digest": "sha-256=\(base64(.sha256, one))"]) == [try digest(.sha256, one)])
        #expect(digests(["Digest": "Sha-512=\(base64(.sha512, one))"]) == [try digest(.sha512, one)])
    }

    @Test("RFC 1864 §2: the body of the message") func theOldestField() throws {
        #expect(
            digests(["Content-MD5": "Q2hlY2sgSW50ZWdyaXR5IQ=="])
                == [try FileDigest(.md5, bytes: Array("Check Integrity!".utf8))]
        )
    }

    // MARK: - What counts when

    private var all: HeaderFields {
        [
            "Repr-Digest": "sha-512=:\(base64(.sha512, one)):",
            "Content-Digest": "sha-256=:\(base64(.sha256, one)):",
            "Digest": "SHA=\(base64(.sha1, one))",
            "Content-MD5": base64(.md5, one),
        ]
    }

    @Test(arguments: [
        (200, DigestFields.ContentCoding.none, [DigestAlgorithm.sha512, .sha256, .sha1, .md5]),
        (206, .none, [.sha512, .sha1]),
        (200, .kept, [.sha512, .sha256]),
        (206, .kept, [.sha512]),
        (200, .undone, []),
        (206, .undone, []),
        (203, .none, []),
        (204, .none, []),
        (304, .none, []),
        (404, .none, []),
        (416, .none, []),
        (500, .none, []),
    ])
    func statusAndCodingDecideWhichDigestCounts(
        status: Int,
        coding: DigestFields.ContentCoding,
        algorithms: [DigestAlgorithm]
    ) {
        #expect(digests(all, status: status, coding: coding).map(\.algorithm) == algorithms)
    }

    @Test func aHeadWithoutSuchFieldsNamesNone() {
        #expect(digests(["ETag": "\"a\"", "Want-Repr-Digest": "sha-256=1"]) == [])
    }

    // MARK: - Contradictions

    @Test func twoFieldsThatAgreeAreOneDigest() throws {
        let fields: HeaderFields = [
            "Repr-Digest": "sha-256=:\(base64(.sha256, one)):, sha-256=:\(base64(.sha256, one)):",
            "Content-Digest": "sha-256=:\(base64(.sha256, one)):",
            "Digest": "SHA-256=\(base64(.sha256, one))",
        ]
        #expect(digests(fields) == [try digest(.sha256, one)])
    }

    @Test func anAlgorithmWithTwoValuesIsIgnoredAndTheOthersCount() throws {
        let first = "sha-256=:\(base64(.sha256, one)):"
        let second = "sha-256=:\(base64(.sha256, two)):"
        let other = "md5=:\(base64(.md5, one)):"
        let contradictions: [HeaderFields] = [
            ["Repr-Digest": "\(first), \(other), \(second)"],
            ["Repr-Digest": first, "repr-digest": "\(second), \(other)"],
            ["Repr-Digest": first, "Content-Digest": "\(second), \(other)"],
            ["Repr-Digest": "\(first), \(other)", "Digest": "SHA-256=\(base64(.sha256, two))"],
        ]
        for fields in contradictions { #expect(digests(fields) == [try digest(.md5, one)]) }
    }

    @Test func theDigestOfAPartContradictsNobody() throws {
        let fields: HeaderFields = [
            "Repr-Digest": "md5=:\(base64(.md5, one)):", "Content-Digest": "md5=:\(base64(.md5, two)):",
            "Content-MD5": base64(.md5, two),
        ]
        #expect(digests(fields, status: 206) == [try digest(.md5, one)])
        #expect(digests(fields, status: 200) == [])
    }

    @Test func twoValuesOfContentMD5AreIgnored() {
        #expect(digests(["Content-MD5": base64(.md5, one), "content-md5": base64(.md5, two)]) == [])
    }

    // MARK: - Hostile fields

    @Test(arguments: [
        "", ",", "sha-256", "sha-256=", "sha-256=::", "sha-256=:AQ==:", "sha-256=1", "sha-256=?1",
        "sha-256=()",
        "SHA-256=:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=:",
        "sha256=:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=:",
        "sha-256=AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
        "sha-256=\"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\"",
        "sha-256=(:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=:)",
        "x;sha-256=:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=:",
        "sha-256=:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=:,",
        "sha-256=:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=:, B",
        "sha-384=:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=:", "\u{FFFD}",
    ])
    func aFieldThatSaysNothingIsIgnored(value: String) {
        for name in ["Repr-Digest", "Content-Digest"] { #expect(digests([name: value]) == []) }
        // Beside it, others count.
        #expect(digests(["Content-Digest": value, "Content-MD5": base64(.md5, one)]).count == 1)
    }

    @Test func parametersAndUnknownAlgorithmsDoNotMatter() throws {
        let value = "crc32c=:Q3lHIA==:, sha-256=:\(base64(.sha256, one)):;source=\"b,=:\";x, new=(1 2);y"
        #expect(digests(["Repr-Digest": value]) == [try digest(.sha256, one)])
    }

    @Test(arguments: [
        "", "=", "SHA-256", "SHA-256=", "SHA-256==", "SHA-256=AQ==", ",,,", "md5 = AQEBAQEBAQEBAQEBAQEBAQ==",
        "MD5=:AQEBAQEBAQEBAQEBAQEBAQ==:", "MD5=\"AQEBAQEBAQEBAQEBAQEBAQ==\"",
        "SHA-1=AQEBAQEBAQEBAQEBAQEBAQEBAQE=", "ä=ä",
        "id-sha-256=AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=", "\u{FFFD},\u{301}=\u{301}",
    ])
    func anElementOfTheOldFieldThatSaysNothingIsIgnored(value: String) throws {
        #expect(digests(["Digest": value]) == [])
        // The elements beside it count: this field is no structured one.
        #expect(digests(["Digest": "\(value), SHA=\(base64(.sha1, one))"]) == [try digest(.sha1, one)])
    }

    @Test(arguments: [
        "", "AQ==", "AQEBAQEBAQEBAQEBAQEBAQ==, AgICAgICAgICAgICAgICAg==", "0123456789abcdef0123456789abcdef",
        "ä",
    ])
    func aContentMD5ThatIsNoneIsIgnored(value: String) {
        #expect(digests(["Content-MD5": value]) == [])
    }

    @Test func recombinedFieldsNameOnlyTheirOwnDigests() throws {
        var random = SeededGenerator(seed: 9530)
        for _ in 0..<2000 {
            var values: [DigestAlgorithm: Set<Data>] = [:]
            var fields = HeaderFields()
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let algorithm = try #require(DigestAlgorithm.allCases.randomElement(using: &random))
                let data = Bool.random(using: &random) ? one : two
                values[algorithm, default: []].insert(data)
                let text = base64(algorithm, data)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: fields.append(name: "Repr-Digest", value: "\(algorithm.fieldKey)=:\(text):")
                case 1:
                    fields.append(name: "Content-Digest", value: "x=1;a, \(algorithm.fieldKey)=:\(text):;b")
                case 2:
                    fields.append(name: "Digest", value: "\(algorithm.fieldKey.uppercased())=\(text), x=y")
                default:
                    fields.append(name: "Digest", value: "unixsum=1,,\(algorithm.fieldKey)=\(text)")
                }
            }
            let expected = try values.filter { $0.value.count == 1 }.flatMap { algorithm, data in
                try data.map { try digest(algorithm, $0) }
            }
            #expect(Set(digests(fields)) == Set(expected), "\(fields.fields)")
        }
    }
}
