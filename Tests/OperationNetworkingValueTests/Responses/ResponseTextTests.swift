import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct ResponseTextTests {
    @Test(
        arguments: [
            ("utf-8", [0xC3, 0xA9], "é"),
            ("iso-8859-1", [0xE9], "é"),
            ("ISO-8859-15", [0xA4], "€"),
            ("windows-1251", [0xE9], "й"),
            ("windows-1256", [0xC7], "ا"),
            ("koi8-r", [0xC9], "и"),
            ("koi8-u", [0xA4], "є"),
            ("iso-8859-5", [0xE9], "щ"),
            ("iso-8859-7", [0xE9], "ι"),
            ("gb2312", [0xC4, 0xE3], "你"),
            ("gbk", [0xC4, 0xE3], "你"),
            ("gb18030", [0xC4, 0xE3], "你"),
            ("big5", [0xA7, 0x41], "你"),
            ("euc-kr", [0xB0, 0xA1], "가"),
            ("shift_jis", [0x82, 0xA0], "あ"),
            ("windows-31j", [0x82, 0xA0], "あ"),
            ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x24, 0x22, 0x1B, 0x28, 0x42], "あ"),
            ("utf-16be", [0x00, 0xE9], "é"),
            ("utf-16le", [0xE9, 0x00], "é"),
            ("windows-874", [0xA1], "ก"),
            ("macintosh", [0x8E], "é"),
            // Read as the bigger set that is meant.
            ("gb2312", [0x81, 0x40], "丂"),
            ("gb2312", [0x94, 0x39, 0xDA, 0x33], "💩"),
            ("shift_jis", [0x87, 0x40], "①"),
            ("shift_jis", [0x5C, 0x7E], "\\~"),
            ("euc-jp", [0xAD, 0xA1], "①"),
            ("euc-jp", [0xA4, 0xA2, 0x5C], "あ\\"),
            ("ks_c_5601-1987", [0x81, 0x41], "갂"),
            ("big5", [0x87, 0x40], "䏰"),
            ("tis-620", [0x80], "€"),
            // Not read as a windows code page.
            ("iso-8859-1", [0x80], "\u{80}"),
            ("iso-8859-9", [0x80], "\u{80}"),
            // Sets that only iconv(3) knows.
            ("ibm037", [0xC1], "A"),
            ("cp437", [0x82], "é"),
            ("ISO_8859-1:1987", [0xE9], "é"),
            ("utf-7", [0x2B, 0x41, 0x4F, 0x6B, 0x2D], "é"),
            // Byte order marks.
            ("utf-8", [0xEF, 0xBB, 0xBF, 0x61], "a"),
            ("utf-16", [0xFF, 0xFE, 0x61, 0x00], "a"),
            ("utf-16", [0xFE, 0xFF, 0x00, 0x61], "a"),
            ("utf-16", [0x00, 0x61], "a"),
            ("utf-16le", [0xFF, 0xFE, 0x61, 0x00], "a"),
            ("utf-32", [0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0], "a"),
            ("utf-32", [0, 0, 0, 0x61], "a"),
        ] as [(String, [UInt8], String)]
    )
    func decodes(charset: String, octets: [UInt8], text: String) throws {
        let response = try exampleResponse(200, "text/plain; charset=\(charset)")
        #expect(ResponseText(data: Data(octets), response: ReceivedResponse(response)).string == text)
    }

    @Test(arguments: [
        nil, "text/plain", "text/plain; charset=x-unheard-of", "text/plain; charset=",
        "text/plain; charset=utf-8//TRANSLIT", "text/plain; charset=\"\\\"\"",
        "text/plain; charset=hz-gb-2312",
    ])
    func isUTF8WhenTheResponseDoesNotSay(contentType: String?) throws {
        let response = ReceivedResponse(try exampleResponse(200, contentType))
        let text = ResponseText(data: Data("é".utf8), response: response)
        #expect(text.encoding == .utf8)
        #expect(text.string == "é")
    }

    @Test(
        "The encoding is the one that the response names",
        arguments: [
            ("O1-11", "text/plain", String.Encoding.utf8),  // 2.x changed this from ISO-8859-1
            ("O1-12", "text/plain; charset=Shift_JIS", .shiftJIS),
            ("O1-13", "text/plain; charset=invalid", .utf8),
            ("O1-14", "text/plain; charset=UTF-8", .utf8),
            ("EUC-JP", "text/plain; charset=EUC-JP", .japaneseEUC),
            ("without a number", "text/plain; charset=ibm037", .utf8),
        ]
    )
    func encoding(id: String, contentType: String, encoding: String.Encoding) throws {
        let response = try exampleResponse(200, contentType)
        #expect(ResponseText(data: nil, response: ReceivedResponse(response)).encoding == encoding)
    }

    @Test(
        "Text that is invalid in its character set, or ends within a character, is nil",
        arguments: [
            ("utf-8", [0xC3]), ("us-ascii", [0x80]), ("utf-16", [0x00]),
            ("utf-16", [0xD8, 0x00, 0x00, 0x61]),
            ("utf-16le", [0x61, 0x00, 0x00]), ("utf-32", [0, 0x11, 0, 0]), ("utf-32", [0, 0, 0]),
            ("shift_jis", [0x82]), ("gb2312", [0xFF]), ("windows-1252", [0x81]),
        ] as [(String, [UInt8])]
    )
    func isNil(charset: String, octets: [UInt8]) throws {
        let response = try exampleResponse(200, "text/plain; charset=\(charset)")
        #expect(ResponseText(data: Data(octets), response: ReceivedResponse(response)).string == nil)
    }

    @Test func isNilWithoutABodyAndForBytesThatAreNotText() {
        #expect(ResponseText(data: nil, response: nil).string == nil)
        #expect(ResponseText(data: Data([0xFF]), response: nil).string == nil)
        #expect(ResponseText(data: Data(), response: nil).string == "")
    }

    @Test(arguments: [
        ("text/html", "text/html", nil),
        ("Text/HTML ; Charset=\"ISO-8859-1\"", "text/html", "ISO-8859-1"),
        ("text/html;charset=a;charset=b", "text/html", "a"),
        ("text/html; x=\"; charset=no\"; charset=yes", "text/html", "yes"),
        ("text/html; x=\"\\\"; charset=no\"; charset=yes", "text/html", "yes"),
        ("text/html; charset=\"a\\-b\"", "text/html", "a-b"),
        ("text/html;;charset", "text/html", nil),
        // Of a field that was sent several times, the last type that is one counts.
        ("application/json, image/tiff", "image/tiff", nil),
        ("text/html; charset=a, text/plain", "text/plain", nil),
        ("text/html; charset=a, */*, nothing, ", "text/html", "a"),
        ("text/html; x=\", image/png; charset=no\"; charset=yes", "text/html", "yes"),
    ])
    func readsAContentType(fieldValue: String, essence: String, charset: String?) {
        let type = MediaType(fieldValue: fieldValue)
        #expect(type?.essence == essence)
        #expect(type?.charset == charset)
    }

    @Test(arguments: ["", " ", ";charset=utf-8"])
    func refusesAContentTypeWithoutAType(fieldValue: String) {
        #expect(MediaType(fieldValue: fieldValue) == nil)
    }
}
