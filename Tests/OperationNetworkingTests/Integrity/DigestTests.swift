import Foundation
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite struct DigestTests {
    private static let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    // MARK: - Algorithms

    @Test(arguments: [
        ("md5", DigestAlgorithm.md5), ("MD5", .md5), ("sha1", .sha1), ("SHA-1", .sha1), ("sha256", .sha256),
        ("SHA256", .sha256), ("Sha-256", .sha256), ("sha512", .sha512), ("sha-512", .sha512),
    ])
    func anAlgorithmIsKnownByItsName(name: String, algorithm: DigestAlgorithm) {
        #expect(DigestAlgorithm(name: name) == algorithm)
    }

    @Test(arguments: [
        "", "sha", "md-5", "sha2", "sha--256", "sha_256", " sha256", "sha-384", "ſha256", "sha256\u{301}",
    ])
    func anUnknownNameIsNotAnAlgorithm(name: String) {
        #expect(DigestAlgorithm(name: name) == nil)
    }

    @Test func aLengthNamesAnAlgorithm() {
        #expect(
            DigestAlgorithm.allCases.map { DigestAlgorithm(hexCount: $0.byteCount * 2) } == [
                .md5, .sha1, .sha256, .sha512,
            ]
        )
        #expect(DigestAlgorithm(hexCount: 0) == nil)
        #expect(DigestAlgorithm(hexCount: 33) == nil)
        #expect(DigestAlgorithm(hexCount: 96) == nil)
    }

    // MARK: - Texts

    @Test(arguments: ["sha256:", "SHA256:", "sha-256=", "Sha-256:", "sha256=", ""])
    func everyFormatOfADigestIsParsed(prefix: String) throws {
        let digest = try FileDigest(.sha256, hex: Self.hello)
        #expect(try FileDigest(text: prefix + Self.hello) == digest)
        #expect(try FileDigest(text: prefix + Self.hello.uppercased()) == digest)
        #expect(digest.description == "sha256:" + Self.hello)
    }

    @Test(arguments: DigestAlgorithm.allCases)
    func aDigestIsParsedFromAllOfItsFormats(algorithm: DigestAlgorithm) throws {
        let digest = try FileDigest.of(Data("hello".utf8), algorithm: algorithm)
        #expect(FileDigest(digest.description) == digest)
        #expect(try FileDigest(algorithm, hex: digest.hex) == digest)
        #expect(try FileDigest(algorithm, base64: digest.base64) == digest)
        #expect(try FileDigest(algorithm, bytes: digest.bytes) == digest)
        #expect(try FileDigest(text: digest.hex) == digest)
        let coded = try JSONEncoder().encode([digest])
        #expect(String(decoding: coded, as: UTF8.self) == "[\"\(digest.description)\"]")
        #expect(try JSONDecoder().decode([FileDigest].self, from: coded) == [digest])
    }

    @Test(arguments: [
        ("sha256:abcd", DigestError.wrongLength(.sha256, expected: 32, actual: 2)),
        ("md5=", .wrongLength(.md5, expected: 16, actual: 0)),
        ("", .unknownLength(0)),
        ("abcd", .unknownLength(4)),
        ("abc", .notHexadecimal("abc")),
        ("sha256:xyz", .notHexadecimal("xyz")),
        ("md5:0123456789abcdef0123456789abcde", .notHexadecimal("0123456789abcdef0123456789abcde")),
        ("md5: 0123456789abcdef0123456789abcdef", .notHexadecimal(" 0123456789abcdef0123456789abcdef")),
        ("md5:0123456789abcdef0123456789abcdeｆ", .notHexadecimal("0123456789abcdef0123456789abcdeｆ")),
        ("whirlpool:abcd", .unknownAlgorithm("whirlpool")),
        (":abcd", .unknownAlgorithm("")),
    ])
    func anInvalidDigestIsAnError(text: String, error: DigestError) {
        #expect(throws: error) { try FileDigest(text: text) }
        #expect(FileDigest(text) == nil)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([FileDigest].self, from: JSONEncoder().encode([text]))
        }
    }

    @Test func errorsAreSentences() {
        #expect(
            DigestError.wrongLength(.md5, expected: 16, actual: 2).localizedDescription
                == "A md5 digest has 16 bytes, but this one has 2."
        )
        #expect(
            DigestError.notBase64("?").localizedDescription == "Expected a digest in base64, not \"?\"."
        )
    }

    // MARK: - Computing

    @Test(
        "RFC 9530 appendix D: the digests of its example",
        arguments: [
            (DigestAlgorithm.md5, "Sd/dVLAcvNLSq16eXua5uQ=="),
            (.sha1, "07CavjDP4u3/TungoUHJO/Wzr4c="),
            (.sha256, "X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="),
            (
                .sha512,
                "WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew=="
            ),
        ]
    )
    func theDigestsOfTheStandard(algorithm: DigestAlgorithm, base64: String) throws {
        let digest = try FileDigest.of(Data(#"{"hello": "world"}"#.utf8), algorithm: algorithm)
        #expect(digest.base64 == base64)
    }

    @Test(
        "the digests of files are those of coreutils",
        arguments: [0, 1, 63, 64, 262_143, 262_144, 262_145, 3_000_000]
    )
    func theDigestsOfFilesAreThoseOfCoreutils(length: Int) throws {
        let directory = try TemporaryDirectory()
        let content = PatternBody(seed: UInt64(length), length: length).data
        try content.write(to: directory.file())
        for algorithm in DigestAlgorithm.allCases {
            let printed = try ChecksumProgram.run("\(algorithm.rawValue)sum", ["file"], in: directory.url)
            let digest = try FileDigest.of(file: directory.file(), algorithm: algorithm)
            #expect(String(decoding: printed, as: UTF8.self) == "\(digest.hex)  file\n")
            #expect(try FileDigest.of(content, algorithm: algorithm) == digest)
        }
    }

    @Test func aPartOfSomeDataHasTheDigestOfThatPart() throws {
        let whole = Data("xxhelloxx".utf8)
        #expect(try FileDigest.of(whole.dropFirst(2).dropLast(2), algorithm: .sha256).hex == Self.hello)
    }

    @Test func aFileThatCannotBeReadIsAnErrorThatNamesIt() throws {
        let directory = try TemporaryDirectory()
        let missing = try #require(throws: CocoaError.self) {
            try FileDigest.of(file: directory.file("missing"), algorithm: .md5)
        }
        #expect(missing.code == .fileReadNoSuchFile)
        #expect(missing.filePath == directory.file("missing").path)
        let noFile = try #require(throws: CocoaError.self) {
            try FileDigest.of(file: directory.url, algorithm: .md5)
        }
        #expect(noFile.code == .fileReadUnknown)
    }
}
