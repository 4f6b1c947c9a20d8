import Foundation
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct ResponseHeadReaderTests {
    private struct Read {
        var heads: [ResponseHead] = []
        var trailers = 0
        var malformation: String?
        var isInsideHead = false
    }

    private func read(_ lines: [String]) -> Read {
        read(lines.map { Array($0.utf8) })
    }

    private func read(_ lines: [[UInt8]]) -> Read {
        var reader = ResponseHeadReader()
        var result = Read()
        for line in lines {
            switch reader.read(line.span) {
            case .nothing: break
            case .head(let head): result.heads.append(head)
            case .trailer: result.trailers += 1
            }
        }
        result.malformation = reader.malformation
        result.isInsideHead = reader.isInsideHead
        return result
    }

    @Test func aHeadIsCompleteWithItsEmptyLine() throws {
        let read = read(["HTTP/1.1 200 OK\r\n", "ETag: \"v1\"\r\n", "Content-Length: 5\r\n", "\r\n"])
        let head = try #require(read.heads.first)
        #expect(head.version == "HTTP/1.1")
        #expect(head.status == 200)
        #expect(head.fields["etag"] == "\"v1\"")
        #expect(head.fields["content-length"] == "5")
        #expect(head.fields.count == 2)
        #expect(!read.isInsideHead)
    }

    /// A text that stands for other octets is no tag: sent back, it would be another one's.
    @Test(arguments: ["ETag", "etag"])
    func aTagThatIsNotUTF8IsIgnored(name: String) throws {
        let latin: [UInt8] = [0x22, 0xE9, 0x22]
        func head(_ value: [UInt8]) throws -> ResponseHead {
            let line = Array((name + ": ").utf8) + value + [13, 10]
            return try #require(read([Array("HTTP/1.1 200 OK\r\n".utf8), line, [13, 10]]).heads.first)
        }
        #expect(EntityValidator(try head(latin).fields) == .weak)
        #expect(EntityValidator(try head(Array("\"\u{e9}\"".utf8)).fields).ifRange == "\"\u{e9}\"")
        let folded = [Array((name + ":\r\n").utf8), [32] + latin + [13, 10], [13, 10]]
        let tag = try #require(read([Array("HTTP/1.1 200 OK\r\n".utf8)] + folded).heads.first).fields
        #expect(EntityValidator(tag) == .weak)
        let other = Array("X: ".utf8) + latin + [13, 10]
        let fields = try #require(read([Array("HTTP/1.1 200 OK\r\n".utf8), other, [13, 10]]).heads.first)
            .fields
        #expect(fields["X"] == "\"\u{e9}\"")
    }

    @Test(arguments: [
        (["HTTP/1.1 200 OK\r\n"], true), (["HTTP/1.1 200 OK\r\n", "A: b\r\n"], true), ([], false),
        (["HTTP/1.1 100 Continue\r\n", "\r\n"], false),
    ])
    func aHeadWithoutItsEmptyLineIsUnfinished(lines: [String], isInside: Bool) {
        #expect(read(lines).isInsideHead == isInside)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n", "HTTP/1.1", 200), ("HTTP/1.0 404\r\n", "HTTP/1.0", 404),
        ("HTTP/2 200 \r\n", "HTTP/2", 200), ("HTTP/1.1 500 A b  c\n", "HTTP/1.1", 500),
        ("HTTP/1.1  200 OK\r\n", "HTTP/1.1", 200), ("HTTP/1.1 abc\r\n", "HTTP/1.1", 0),
        ("HTTP/1.1\r\n", "HTTP/1.1", 0),
    ])
    func statusLines(line: String, version: String, status: Int) {
        let head = read([line, "\r\n"]).heads.first
        #expect(head?.version == version)
        #expect(head?.status == status)
    }

    @Test(arguments: [
        ("A: b\r\n", "b"), ("A:b\n", "b"), ("A:   b c \t\r\n", "b c"), ("A:\r\n", ""), ("A: \r\n", ""),
        ("a: b: c\r\n", "b: c"), ("A: \"x\"\r\n", "\"x\""),
    ])
    func fieldLines(line: String, value: String) {
        #expect(read(["HTTP/1.1 200 OK\r\n", line, "\r\n"]).heads.first?.fields["A"] == value)
    }

    @Test func repeatedFieldsStayApart() {
        let head = read(["HTTP/1.1 200 OK\r\n", "A: 1\r\n", "B: x\r\n", "a: 2\r\n", "\r\n"]).heads.first
        #expect(head?.fields.values(for: "A") == ["1", "2"])
    }

    @Test func aValueMayBeUTF8OrLatin1() {
        let start = Array("HTTP/1.1 200 OK\r\n".utf8)
        #expect(read([start, Array("A: é\r\n".utf8), [13, 10]]).heads.first?.fields["A"] == "é")
        #expect(
            read([start, Array("A: ".utf8) + [0xe9, 13, 10], [13, 10]]).heads.first?.fields["A"] == "é"
        )
    }

    /// An address is its octets (RFC 9110 §5.5).
    @Test(
        arguments: [
            ([0xE4], "/%E4x"), ([0xC3, 0xA4], "/%C3%A4x"), ([0xC3, 0xA4, 0x2F, 0xE4], "/%C3%A4/%E4x"),
            ([0x25, 0x45, 0x34, 0xE4], "/%E4%E4x"),
        ] as [([UInt8], String)]
    )
    func aLocationKeepsItsOctets(octets: [UInt8], path: String) throws {
        let current = try #require(URL(string: "http://h/a"))
        for name in ["Location", "content-location"] {
            let line = Array("\(name): /".utf8) + octets + Array("x\r\n".utf8)
            let head = read([Array("HTTP/1.1 302 Found\r\n".utf8), line, [13, 10]]).heads.first
            #expect(head?.location(name, from: current)?.url.absoluteString == "http://h" + path)
        }
    }

    @Test func aHostInLatin1IsItsText() throws {
        let line = Array("Location: http://b".utf8) + [0xFC] + Array("cher.example/".utf8) + [0xFC, 13, 10]
        let head = read([Array("HTTP/1.1 302 Found\r\n".utf8), line, [13, 10]]).heads.first
        let current = try #require(URL(string: "http://h/a"))
        #expect(head?.location(from: current)?.url.absoluteString == "http://xn--bcher-kva.example/%FC")
    }

    /// The network thread reads them, and compares each with all credentials of the storage.
    @Test func aHeadHasOnlySoManyChallenges() throws {
        var lines = [Array("HTTP/1.1 401 U\r\n".utf8), Array("WWW-Authenticate: Basic realm=a\r\n".utf8)]
        for number in 0..<5000 {
            lines.append(
                Array("WWW-Authenticate: Digest realm=\"".utf8) + [0xe9] + Array("\(number)\"\r\n".utf8)
            )
        }
        lines.append([13, 10])
        let offers = try #require(read(lines).heads.first).offers
        #expect(offers.count == AuthenticationOffer.maximumCount)
        #expect(offers.prefix(3).map(\.realm) == ["a", "é0", "é1"])
        #expect(offers.map(\.isLatin1) == [false] + Array(repeating: true, count: offers.count - 1))
        let one = Array(
            "WWW-Authenticate: \(Array(repeating: "Basic", count: 1000).joined(separator: ","))".utf8
        )
        #expect(try #require(read([lines[0], one, [13, 10]]).heads.first).offers.count == offers.count)
    }

    @Test(arguments: ["Content-Length : 3\r\n", ": 3\r\n", "no colon\r\n", "A b: c\r\n", "Ä: c\r\n"])
    func anInvalidNameIsMalformed(line: String) {
        #expect(read(["HTTP/1.1 200 OK\r\n", line, "\r\n"]).malformation != nil)
    }

    @Test func interimHeadsComeBeforeTheFinalOne() {
        let read = read([
            "HTTP/1.1 100 Continue\r\n", "\r\n", "HTTP/1.1 103 Early Hints\r\n", "Link: </a>\r\n", "\r\n",
            "HTTP/1.1 200 OK\r\n", "A: b\r\n", "\r\n",
        ])
        #expect(read.heads.map(\.status) == [100, 103, 200])
        #expect(read.heads.map(\.isInterim) == [true, true, false])
        #expect(read.heads.last?.fields["Link"] == nil)
    }

    @Test func linesAfterTheFinalHeadAreTrailers() {
        let read = read(["HTTP/1.1 200 OK\r\n", "\r\n", "Digest: x\r\n", "Content-Length: 9\r\n", "\r\n"])
        #expect(read.heads.count == 1)
        #expect(read.heads.first?.fields.isEmpty == true)
        #expect(read.trailers == 3)
        #expect(!read.isInsideHead)
    }

    @Test func aFoldedLineNeedsAFieldBeforeIt() {
        #expect(
            read(["HTTP/1.1 200 OK\r\n", " a\r\n", "\r\n"]).malformation
                == ResponseHeadReader.continuesNothing
        )
        let folded = read(["HTTP/1.1 200 OK\r\n", "A: b\r\n", " c\r\n", "\r\n"])
        #expect(folded.malformation == nil)
        #expect(folded.heads.first?.fields["A"] == "b c")
    }

    @Test func aFieldAndAllHeadsTogetherHaveALimit() {
        func excess(_ lengths: [Int]) -> HeadLimit? {
            var reader = ResponseHeadReader()
            for length in lengths { _ = reader.read([UInt8](repeating: 120, count: length).span) }
            return reader.excess
        }
        #expect(excess([102_400, 102_400, 102_400]) == nil)
        #expect(excess([15, 102_401]) == .field)
        #expect(excess([102_400, 102_400, 102_400, 1]) == .heads)
    }

    /// The errors of libcurl, before the final head and after it.
    @Test(
        arguments: [
            (27, "Out of memory", "field", nil),
            (100, "A value or data field grew larger than allowed", "field", nil),
            (100, "Too many response headers, 5000 is max", "fieldCount", "fieldCount"),
            (56, "Too large response headers: 308000 > 307200", "heads", "heads"),
            (56, "Out of memory in chunked-encoding", "trailer", "trailer"),
            (100, "Out of memory in chunked-encoding", "trailer", "trailer"),
            (43, "A libcurl function was given a bad argument", "malformed", "malformed"),
            (61, "Unsolicited Transfer-Encoding (gzip) found", "length", nil),
            (8, "Invalid Content-Length: value", "length", nil),
            (8, "Invalid status line", nil, nil),
            (56, "Connection reset by peer", nil, nil),
            (23, "Failure writing output to destination", nil, nil),
        ] as [(Int32, String, String?, String?)]
    )
    func libcurlsErrorsForHeads(code: Int32, message: String, insideHead: String?, afterHead: String?) {
        var reader = ResponseHeadReader()
        func meaning() -> String? {
            switch reader.failure(CurlError(code: code, message: message)) {
            case .headTooLong(let limit): "\(limit)"
            case .malformedHead: "malformed"
            case .length: "length"
            default: nil
            }
        }
        _ = reader.read(Array("HTTP/1.1 200 OK\r\n".utf8).span)
        #expect(meaning() == insideHead)
        _ = reader.read(Array("\r\n".utf8).span)
        #expect(meaning() == afterHead)
    }
}
