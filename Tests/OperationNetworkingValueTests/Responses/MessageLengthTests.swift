import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// RFC 9112 §6.3, row by row.
@Suite(.timeLimit(.minutes(1)))
struct MessageLengthTests {
    private func head(_ status: Int, _ fields: HeaderFields, _ version: String = "HTTP/1.1") -> ResponseHead {
        ResponseHead(version: version, status: status, fields: fields)
    }

    private func length(
        _ fields: HeaderFields,
        method: String = "GET",
        status: Int = 200,
        version: String = "HTTP/1.1"
    ) throws -> MessageLength {
        try MessageLength(method: method, head: head(status, fields, version))
    }

    @Test(arguments: [
        ("HEAD", 200), ("GET", 100), ("GET", 103), ("GET", 204), ("GET", 304), ("POST", 204),
    ])
    func someResponsesNeverHaveABody(method: String, status: Int) throws {
        let lying: [HeaderFields] = [
            [:], ["Content-Length": "5"], ["Transfer-Encoding": "chunked"],
            ["Content-Length": "5", "Transfer-Encoding": "chunked"],
        ]
        for fields in lying {
            #expect(try length(fields, method: method, status: status) == MessageLength.none)
        }
    }

    @Test(arguments: [
        ("0", 0), ("5", 5), (" 5 ", 5), ("\t5", 5), ("005", 5), ("5, 5", 5), ("5,5,5", 5), ("5 ,\t5", 5),
        ("9223372036854775807", Int64.max),
    ])
    func aLengthIsANumberOrTheSameNumberAgain(value: String, count: Int64) throws {
        #expect(try length(["Content-Length": value]) == .exactly(count))
        #expect(try length(["Content-Length": value], version: "HTTP/2") == .exactly(count))
        #expect(try length(["Content-Length": value, "content-length": value]) == .exactly(count))
    }

    @Test(arguments: [
        "", " ", "abc", "-1", "+5", "5.0", "0x5", "5 5", "5x", "x5", "5;5", "5,", ",5", "5,,5", "1e3", "٣",
        "9223372036854775808", "99999999999999999999",
    ])
    func anythingElseIsMalformed(value: String) {
        #expect(throws: MessageLength.Failure.malformedLength(value)) {
            try length(["Content-Length": value])
        }
    }

    @Test(arguments: ["5, 6", "6,5", "5, 5, 6", "0,1"])
    func differentLengthsConflict(value: String) {
        #expect(throws: MessageLength.Failure.conflictingLengths(value)) {
            try length(["Content-Length": value])
        }
    }

    @Test func differentLengthsInTwoFieldsConflict() {
        #expect(throws: MessageLength.Failure.conflictingLengths("5, 6")) {
            try length(["Content-Length": "5", "content-length": "6"])
        }
    }

    @Test func aBadLengthIsBadEvenWhereThereIsNoBody() {
        #expect(throws: MessageLength.Failure.malformedLength("x")) {
            try length(["Content-Length": "x"], method: "HEAD")
        }
    }

    @Test(arguments: ["chunked", "Chunked", "CHUNKED"])
    func chunksDelimitTheBodyAndOverrideALength(value: String) throws {
        #expect(try length(["Transfer-Encoding": value]) == .delimited)
        #expect(try length(["Transfer-Encoding": value, "Content-Length": "5"]) == .delimited)
    }

    @Test(arguments: ["HTTP/1.1", "HTTP/1.0"])
    func withoutAnyFieldTheBodyLastsUntilTheConnectionCloses(version: String) throws {
        #expect(try length([:], version: version) == .untilClose)
        #expect(try length([:], status: 404, version: version) == .untilClose)
    }

    @Test func aStreamOfHTTP2SaysWhereItEnds() throws {
        #expect(try length([:], version: "HTTP/2") == .delimited)
    }

    /// libcurl undoes every coding it knows without being asked, and takes a stream that breaks off for a whole one.
    @Test(arguments: ["gzip, chunked", "gzip", "chunked, gzip", "xchunked", "chunked, chunked", "x", ""])
    func unrequestedTransferCodingsAreRefused(value: String) {
        #expect(throws: MessageLength.Failure.unknownTransferCoding(value)) {
            try length(["Transfer-Encoding": value])
        }
    }

    @Test func theIdentityTransferCodingIsNone() throws {
        #expect(try length(["Transfer-Encoding": "identity", "Content-Length": "5"]) == .exactly(5))
        #expect(try length(["Transfer-Encoding": "identity"]) == .untilClose)
    }

    @Test(arguments: [
        (MessageLength.none, true), (.exactly(0), true), (.exactly(65536), true), (.exactly(65537), false),
        (.exactly(.max), false), (.delimited, true), (.untilClose, false),
    ])
    func theHeadDecidesWhetherTheBodyIsWorthReceiving(length: MessageLength, isWorthIt: Bool) {
        #expect(UnusedBody.isWorthReceiving(length) == isWorthIt)
    }
}
