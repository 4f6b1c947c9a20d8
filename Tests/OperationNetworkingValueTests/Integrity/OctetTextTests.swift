import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct OctetTextTests {
    @Test(
        "RFC 4648 section 10: its vectors",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ]
    )
    func theVectorsOfTheStandard(text: String, base64: String) {
        #expect([UInt8](base64: base64) == Array(text.utf8))
        // RFC 8941 §4.2.7: without its padding as well.
        #expect([UInt8](base64: base64.prefix { $0 != "=" }) == Array(text.utf8))
    }

    @Test("RFC 8941: padding bits are ignored", arguments: ["Zh==", "Zv", "Zm9="])
    func superfluousBitsAreIgnored(base64: String) {
        #expect([UInt8](base64: base64)?.first == UInt8(ascii: "f"))
    }

    @Test(arguments: [
        "A", "AAAAA", "=", "==", "====", "AA=", "AAA==", "AAAA=", "AAAA====", "AA=A", "=AAA", "AA AA", "AA\n",
        "-_AA",
        "AAA.", "ÄÄ", "Zg==Zg==",
    ])
    func whatIsNotBase64IsRefused(base64: String) {
        #expect([UInt8](base64: base64) == nil)
    }

    @Test func everyNumberOfOctetsSurvivesARoundTrip() {
        var random = SeededGenerator(seed: 4648)
        for count in 0..<200 {
            let octets = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            #expect([UInt8](hex: octets.hex) == octets)
            #expect([UInt8](hex: octets.hex.uppercased()) == octets)
            #expect([UInt8](base64: Data(octets).base64EncodedString()) == octets)
        }
    }

    @Test(arguments: ["0", "0g", "g0", "0x00", " 00", "00 ", "００", "0\u{301}0"])
    func whatIsNotHexadecimalIsRefused(text: String) {
        #expect([UInt8](hex: text) == nil)
    }
}
