import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking

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
        ] as [(String, [UInt8], String)]
    )
    func decodes(charset: String, octets: [UInt8], text: String) throws {
        let response = try exampleResponse(200, "text/plain; charset=\(charset)")
        #expect(ResponseText(data: Data(octets), response: response).string == text)
    }

    @Test(arguments: [
        nil, "text/plain", "text/plain; charset=x-unheard-of", "text/plain; charset=", "a/b; charset=euc-jp",
    ])
    func isUTF8WhenTheResponseDoesNotSay(contentType: String?) throws {
        let text = ResponseText(data: Data("é".utf8), response: try exampleResponse(200, contentType))
        #expect(text.encoding == .utf8)
        #expect(text.string == "é")
    }

    @Test func isNilWithoutABodyAndForBytesThatAreNoText() {
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
