import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The caller's own `Range`: what it asks for, and which 206 is an answer to it.
@Suite struct RangeRequestTests {
    @Test(
        arguments: [
            ("bytes=500-999", .bytes([.between(500, 999)])),
            ("bytes=0-0", .bytes([.between(0, 0)])),
            (" Bytes=9500-\t", .bytes([.from(9500)])),
            ("bytes=-500", .bytes([.last(500)])),
            ("bytes=-0", .bytes([.last(0)])),
            ("bytes=0-0, -1", .bytes([.between(0, 0), .last(1)])),
            ("bytes= 0-1 ,, 5- ,", .bytes([.between(0, 1), .from(5)])),
            ("bytes=007-008", .bytes([.between(7, 8)])),
            ("bytes=1-99999999999999999999", .bytes([.between(1, .max)])),
            ("bytes=99999999999999999999-", .bytes([.from(.max)])),
            ("bytes=-99999999999999999999", .bytes([.last(.max)])),
            ("items=0-4", .otherUnit("items")),
        ] as [(String, RangeRequest.Requested)]
    )
    func reads(fieldValue: String, requested: RangeRequest.Requested) {
        #expect(RangeRequest(fieldValue: fieldValue).requested == requested)
    }

    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=5-4", "bytes=a-b", "bytes=+1-2", "bytes=1-2-3",
        "bytes=1", "bytes=0x1-2", "bytes=1 - 2", "bytes=٠-١", "=0-1", "bytes 0-1",
    ])
    func ignoresOtherRanges(fieldValue: String) {
        #expect(RangeRequest(fieldValue: fieldValue).requested == .malformed)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let asked: String
        let received: String
        /// `nil`: it is not what was asked for.
        let bytes: Range<Int64>?

        init(_ asked: String, _ received: String, _ bytes: Range<Int64>?) {
            (self.asked, self.received, self.bytes) = (asked, received, bytes)
        }

        var testDescription: String { "\(asked): \(received)" }
    }

    static let rows = [
        Row("bytes=10-19", "bytes 10-19/100", 10..<20),
        Row("bytes=10-19", "bytes 10-19/*", 10..<20),
        Row("bytes=10-19", "bytes 10-14/15", 10..<15),
        Row("bytes=10-19", "bytes 10-14/100", nil),
        Row("bytes=10-19", "bytes 10-14/*", nil),
        Row("bytes=10-19", "bytes 10-20/100", nil),
        Row("bytes=10-19", "bytes 9-19/100", nil),
        Row("bytes=10-19", "bytes 11-19/100", nil),
        Row("bytes=10-19", "bytes 0-9/100", nil),
        Row("bytes=10-19", "bytes 0-9/10", nil),
        Row("bytes=10-19", "bytes */100", nil),
        Row("bytes=1-99999999999999999999", "bytes 1-9/10", 1..<10),
        Row("bytes=1-99999999999999999999", "bytes 1-9/*", nil),
        Row("bytes=10-", "bytes 10-99/100", 10..<100),
        Row("bytes=10-", "bytes 10-99/*", 10..<100),
        Row("bytes=10-", "bytes 10-98/100", nil),
        Row("bytes=10-", "bytes 11-99/100", nil),
        Row("bytes=10-", "bytes 0-99/100", nil),
        Row("bytes=99999999999999999999-", "bytes 0-99/100", nil),
        Row("bytes=-10", "bytes 90-99/100", 90..<100),
        Row("bytes=-10", "bytes 0-4/5", 0..<5),
        Row("bytes=-10", "bytes 0-9/100", nil),
        Row("bytes=-10", "bytes 91-99/100", nil),
        Row("bytes=-10", "bytes 90-99/*", nil),
        Row("bytes=-0", "bytes 0-9/10", nil),
        Row("bytes=-99999999999999999999", "bytes 0-9/10", 0..<10),
        // One part that has all of them, as RFC 9110 §15.3.7 allows.
        Row("bytes=0-9,20-29", "bytes 0-29/100", 0..<30),
        Row("bytes=20-29,0-9", "bytes 0-29/*", 0..<30),
        Row("bytes=0-9,200-299", "bytes 0-9/100", 0..<10),
        Row("bytes=0-9,-10", "bytes 0-99/100", 0..<100),
        Row("bytes=0-9,-10", "bytes 0-99/*", nil),
        Row("bytes=0-9,20-29", "bytes 0-9/100", nil),
        Row("bytes=0-9,20-29", "bytes 20-29/100", nil),
        Row("bytes=0-9,20-", "bytes 0-29/*", nil),
        Row("bytes=200-,300-", "bytes 0-9/10", nil),
        Row("bytes=5-4", "bytes 4-5/10", nil),
        Row("items=0-4", "bytes 0-4/10", nil),
    ]

    @Test(arguments: rows)
    func acceptsTheRequestedRange(row: Row) throws {
        let request = RangeRequest(fieldValue: row.asked)
        let fields: HeaderFields = ["Content-Range": row.received]
        for takesAnyPart in [true, false] {
            guard let bytes = row.bytes else {
                #expect(throws: ResumeError.rangeMismatch(requested: row.asked, received: row.received)) {
                    try request.part(in: fields, takesAnyPart: takesAnyPart)
                }
                continue
            }
            #expect(try request.part(in: fields, takesAnyPart: takesAnyPart) == bytes)
        }
    }

    @Test(arguments: [
        "", "items 10-19/100", "bytes 19-10/100", "bytes 10-19/19", "bytes 10-99999999999999999999/*",
    ])
    func reportsInvalidRanges(_ text: String) {
        #expect(throws: ResumeError.malformedContentRange(text)) {
            try RangeRequest(fieldValue: "bytes=10-19").part(in: ["Content-Range": text], takesAnyPart: true)
        }
    }

    @Test func aRangeIsNamedOnceAndHasItsLength() {
        let request = RangeRequest(fieldValue: "bytes=10-19")
        let once: HeaderFields = ["Content-Range": "bytes 10-19/100"]
        #expect(throws: ResumeError.malformedContentRange("")) {
            try request.part(in: [:], takesAnyPart: true)
        }
        #expect(throws: ResumeError.malformedContentRange("bytes 10-19/100, bytes 10-19/100")) {
            try request.part(in: once.adding("Content-Range", "bytes 10-19/100"), takesAnyPart: true)
        }
        #expect(throws: ResumeError.rangeLengthMismatch(range: 10, body: 13)) {
            try request.part(in: once.adding("Content-Length", "13"), takesAnyPart: true)
        }
    }

    @Test func otherRangesAreOnlyDeliveredToMemory() throws {
        let multipart: HeaderFields = ["Content-Type": "multipart/byteranges; boundary=b"]
        let several = RangeRequest(fieldValue: "bytes=0-9,20-29")
        #expect(try several.part(in: multipart, takesAnyPart: true) == nil)
        #expect(throws: ResumeError.severalParts(requested: "bytes=0-9,20-29")) {
            try several.part(in: multipart, takesAnyPart: false)
        }
        #expect(throws: ResumeError.severalParts(requested: "bytes=0-9")) {
            try RangeRequest(fieldValue: "bytes=0-9").part(in: multipart, takesAnyPart: true)
        }
        let items = RangeRequest(fieldValue: "items=0-9")
        #expect(try items.part(in: ["Content-Range": "Items 0-9/30"], takesAnyPart: true) == nil)
        #expect(throws: ResumeError.rangeMismatch(requested: "items=0-9", received: "items 0-9/30")) {
            try items.part(in: ["Content-Range": "items 0-9/30"], takesAnyPart: false)
        }
    }
}
