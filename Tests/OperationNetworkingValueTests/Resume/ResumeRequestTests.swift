import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct ResumeRequestTests {
    static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let later = "Sun, 06 Nov 1994 08:49:47 GMT"
    static let tagged: HeaderFields = ["ETag": "\"v1\"", "Content-Length": "10"]

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var partial: PartialContent?
        var method = "GET"
        var headers: [String: String] = [:]
        var body: Data?
        var overlap: Int64?
        let asks: ResumeRequest
    }

    static func partial(_ fields: HeaderFields, offset: Int64 = 4, isHTTP10: Bool = false) -> PartialContent {
        PartialContent(fields: fields, offset: offset, isHTTP10: isHTTP10)
    }

    static let rest = ResumeRequest.rest(from: 4, ifRange: "\"v1\"")

    static let rows = [
        Row(testDescription: "P1 nothing yet", asks: .whole),
        Row(testDescription: "P1, F6 no byte yet", partial: partial(tagged, offset: 0), asks: .whole),
        Row(testDescription: "P7 all of it", partial: partial(tagged, offset: 10), asks: .nothing),
        Row(testDescription: "P7 more than all of it", partial: partial(tagged, offset: 11), asks: .whole),
        Row(testDescription: "P8 strong tag", partial: partial(tagged), asks: rest),
        Row(testDescription: "P8 length unknown", partial: partial(["ETag": "\"v1\""]), asks: rest),
        Row(
            testDescription: "P9, F4 strong date",
            partial: partial(["Last-Modified": modified, "Date": later]),
            asks: .rest(from: 4, ifRange: modified)
        ),
        Row(
            testDescription: "P11 strong date, and anything selects",
            partial: partial(["Last-Modified": modified, "Date": later, "Vary": "Accept, *"]),
            asks: .whole
        ),
        Row(
            testDescription: "P8 strong tag, and anything selects",
            partial: partial(["ETag": "\"v1\"", "Vary": "*"]),
            asks: rest
        ),
        Row(
            testDescription: "P9 strong date, and fields select",
            partial: partial(["Last-Modified": modified, "Date": later, "Vary": "User-Agent, Accept"]),
            asks: .rest(from: 4, ifRange: modified)
        ),
        Row(testDescription: "P10, F4 weak tag", partial: partial(["ETag": "W/\"v1\""]), asks: .whole),
        Row(
            testDescription: "P10 weak tag and strong date",
            partial: partial(["ETag": "W/\"v1\"", "Last-Modified": modified, "Date": later]),
            asks: .whole
        ),
        Row(testDescription: "P11 weak date", partial: partial(["Last-Modified": modified]), asks: .whole),
        Row(testDescription: "P12 no validator", partial: partial(["Content-Length": "10"]), asks: .whole),
        Row(
            testDescription: "P10 opt-in, with a strong date",
            partial: partial([
                "ETag": "W/\"v1\"", "Last-Modified": modified, "Date": later, "Content-Length": "10",
            ]),
            overlap: 3,
            asks: .overlap(from: 1, to: 4, ifUnmodifiedSince: modified)
        ),
        Row(
            testDescription: "P11 opt-in",
            partial: partial(["Last-Modified": modified, "Content-Length": "10"]),
            overlap: 100,
            asks: .overlap(from: 0, to: 4, ifUnmodifiedSince: nil)
        ),
        Row(
            testDescription: "P12 opt-in",
            partial: partial(["Content-Length": "10"]),
            overlap: 1,
            asks: .overlap(from: 3, to: 4, ifUnmodifiedSince: nil)
        ),
        Row(
            testDescription: "P12 opt-in, length unknown",
            partial: partial(["Server": "s"]),
            overlap: 1,
            asks: .whole
        ),
        Row(testDescription: "P8 is not compared", partial: partial(tagged), overlap: 1, asks: rest),
        Row(
            testDescription: "P13 coded",
            partial: partial(["ETag": "\"v1\"", "Content-Encoding": "gzip"]),
            asks: .whole
        ),
        Row(
            testDescription: "P13 identity is no coding",
            partial: partial(["ETag": "\"v1\"", "Content-Encoding": "Identity"]),
            asks: rest
        ),
        Row(
            testDescription: "P14 no ranges",
            partial: partial(["ETag": "\"v1\"", "Accept-Ranges": "None"]),
            asks: .whole
        ),
        Row(testDescription: "P14 HTTP/1.0", partial: partial(tagged, isHTTP10: true), asks: .whole),
        Row(
            testDescription: "P14 HTTP/1.0 with ranges",
            partial: partial(["ETag": "\"v1\"", "Accept-Ranges": "bytes"], isHTTP10: true),
            asks: rest
        ),
        Row(testDescription: "P15, F8 POST", partial: partial(tagged), method: "POST", asks: .whole),
        Row(testDescription: "P15 HEAD", partial: partial(tagged), method: "HEAD", asks: .whole),
        Row(testDescription: "P15 GET with a body", partial: partial(tagged), body: Data([1]), asks: .whole),
        Row(
            testDescription: "a Range of the caller's",
            partial: partial(tagged),
            headers: ["range": "bytes=1-2"],
            asks: .ownRange(RangeRequest(fieldValue: "bytes=1-2"))
        ),
        Row(
            testDescription: "a Range of the caller's with HEAD",
            method: "head",
            headers: ["Range": "bytes=1-2"],
            asks: .ownRange(nil)
        ),
        Row(
            testDescription: "an If-Range of the caller's",
            partial: partial(tagged),
            headers: ["If-Range": "\"v0\""],
            asks: .whole
        ),
    ]

    @Test(arguments: rows)
    func asks(row: Row) throws {
        var request = URLRequest(url: try #require(URL(string: "http://example.com/")))
        request.httpMethod = row.method
        request.httpBody = row.body
        request.allHTTPHeaderFields = row.headers
        #expect(ResumeRequest(request, continuing: row.partial, comparing: row.overlap) == row.asks)
    }

    @Test("P18: one range, with its condition") func sendsTheRangeWithItsCondition() {
        #expect(
            Self.rest.fields == ["Accept-Encoding": "identity", "Range": "bytes=4-", "If-Range": "\"v1\""]
        )
        #expect(ResumeRequest.rest(from: 4, ifRange: nil).fields["If-Range"] == nil)
        #expect(ResumeRequest.whole.fields == ["Accept-Encoding": "identity"])
        #expect(ResumeRequest.ownRange(nil).fields.isEmpty)
        #expect(ResumeRequest.nothing.fields.isEmpty)
        #expect(ResumeRequest.wholeUntransformed.fields["Cache-Control"] == "no-transform")
        #expect(ResumeRequest.confirmation.method == "HEAD")
        #expect(ResumeRequest.whole.method == nil)
        let overlap = ResumeRequest.overlap(from: 1, to: 4, ifUnmodifiedSince: Self.modified)
        #expect(overlap.fields["Range"] == "bytes=1-")
        #expect(overlap.fields["If-Range"] == nil)
        #expect(overlap.fields["If-Unmodified-Since"] == Self.modified)
    }
}
