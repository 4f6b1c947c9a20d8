import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct ContentRangeTests {
    @Test(
        arguments: [
            ("bytes 500-999/1234", 500..<1000, 1234),
            ("bytes 500-999/*", 500..<1000, nil),
            ("bytes */1234", nil, 1234),
            ("bytes */0", nil, 0),
            ("bytes 0-0/1", 0..<1, 1),
            ("Bytes 0-0/1", 0..<1, 1),
            (" bytes 007-008/0010\t", 7..<9, 10),
            ("bytes 0-9223372036854775806/9223372036854775807", 0..<Int64.max, Int64.max),
            ("bytes 0-9223372036854775806/*", 0..<Int64.max, nil),
        ] as [(String, Range<Int64>?, Int64?)]
    )
    func reads(fieldValue: String, bytes: Range<Int64>?, total: Int64?) throws {
        let range = try ContentRange(fieldValue: fieldValue)
        #expect(range.bytes == bytes)
        #expect(range.total == total)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes */*", "bytes 5-4/10", "bytes 0-10/10", "bytes 0-9/0", "items 0-9/10",
        "bytes=0-9/10", "bytes  0-9/10", "bytes 0 - 9/10", "bytes 0-9 /10", "bytes 0-9/ 10", "bytes -9/10",
        "bytes 0-/10", "bytes 0--9/10", "bytes -1-9/10", "bytes +0-9/10", "bytes 0-9/+10", "bytes 0-9/10/11",
        "bytes 0-9", "bytes 0-9/", "bytes /10", "bytes 0x0-0x9/10", "bytes ٠-٩/10", "0-9/10",
        "bytes 0-9/9223372036854775808", "bytes 0-9223372036854775807/*", "bytes 0-99999999999999999999/*",
        "bytes 0-9/10, bytes 0-9/10",
    ])
    func refuses(fieldValue: String) {
        #expect(throws: ResumeError.malformedContentRange(fieldValue)) {
            try ContentRange(fieldValue: fieldValue)
        }
    }

    @Test(
        arguments: [
            (["Content-Length": "6"], 6),
            (["Content-Length": "6, 6"], 6),
            (["Content-Length": "9223372036854775807"], .max),
            ([:], nil),
            (["Content-Length": "x"], nil),
            (["Content-Length": "6", "content-length": "7"], nil),
            (["Content-Length": "6", "Transfer-Encoding": "chunked"], nil),
            (["Content-Length": "6", "Transfer-Encoding": "identity"], 6),
        ] as [(HeaderFields, Int64?)]
    )
    func readsTheContentLength(fields: HeaderFields, length: Int64?) {
        #expect(fields.contentLength == length)
    }

    @Test(arguments: [("gzip", true), ("identity", false), ("none", false), ("identity, br", true)])
    func distinguishesACodingFromIdentity(fieldValue: String, isCoding: Bool) {
        #expect(HeaderFields(["Content-Encoding": fieldValue]).hasContentCoding == isCoding)
    }
}
