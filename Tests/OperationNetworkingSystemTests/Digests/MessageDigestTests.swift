import Foundation
import Glibc
import OperationNetworkingSystem
import Testing

@Suite struct MessageDigestTests {
    private static let abc: [(MessageDigest.Algorithm, String)] = [
        (.md5, "900150983cd24fb0d6963f7d28e17f72"),
        (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (.sha512By256, "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            .sha512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
    ]

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    @Test("RFC 1321, RFC 3174 and RFC 6234: the digests of abc", arguments: abc)
    func theVectorsOfTheStandards(algorithm: MessageDigest.Algorithm, expected: String) throws {
        let digest = try MessageDigest(algorithm)
        digest.update(Array("abc".utf8).span)
        #expect(try hex(digest.finish()) == expected)
    }

    @Test(arguments: abc)
    func piecesMakeTheDigestOfTheWhole(algorithm: MessageDigest.Algorithm, expected: String) throws {
        let digest = try MessageDigest(algorithm)
        digest.update([UInt8]().span)
        for character in "abc".utf8 { digest.update([character].span) }
        #expect(try hex(digest.finish()) == expected)
    }

    @Test func nothingHasADigestToo() throws {
        #expect(try hex(MessageDigest(.md5).finish()) == "d41d8cd98f00b204e9800998ecf8427e")
    }

    @Test func aMillionTimesTheLetterA() throws {
        let digest = try MessageDigest(.sha256)
        digest.update([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000).span)
        #expect(
            try hex(digest.finish()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        )
    }

    @Test func whatOpenSSLsSettingsForbidIsAnError() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let directory = try TestDirectory()
            let settings = """
                openssl_conf = settings
                [settings]
                alg_section = algorithms
                [algorithms]
                default_properties = fips=yes

                """
            try settings.write(toFile: directory.file("openssl.cnf"), atomically: true, encoding: .utf8)
            setenv("OPENSSL_CONF", directory.file("openssl.cnf"), 1)
            do {
                _ = try MessageDigest(.md5)
                exit(2)
            } catch {
                guard "\(error)".contains("unsupported") else { exit(3) }
            }
        }
    }
}
