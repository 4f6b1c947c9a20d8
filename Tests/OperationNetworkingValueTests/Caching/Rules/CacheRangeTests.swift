import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Ranges of stored responses, and successes that are not the whole.
@Suite struct CacheRangeTests {
    private static let fresh: HeaderFields = ["Cache-Control": "max-age=60", "ETag": "\"v1\""]

    private static func adding(_ fields: HeaderFields) -> HeaderFields {
        var all = fresh
        for field in fields.fields { all[field.name] = field.value }
        return all
    }

    // MARK: - Ranges of what is stored

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let asked: HeaderFields
        let status: Int?
        let contentRange: String?

        init(_ range: String, _ status: Int?, _ contentRange: String? = nil, ifRange: String? = nil) {
            testDescription = ifRange.map { "\(range) if \($0)" } ?? range
            var asked: HeaderFields = ["Range": range]
            asked["If-Range"] = ifRange
            self.asked = asked
            self.status = status
            self.contentRange = contentRange
        }
    }

    static let ofTheWhole = [
        Row("bytes=0-1", 206, "bytes 0-1/10"),
        Row("bytes=1-", 206, "bytes 1-9/10"),
        Row("bytes=-1", 206, "bytes 9-9/10"),
        Row("bytes=-99", 206, "bytes 0-9/10"),
        Row("bytes=0-99", 206, "bytes 0-9/10"),
        Row("BYTES=9-9", 206, "bytes 9-9/10"),
        Row("bytes=0-9223372036854775807", 206, "bytes 0-9/10"),
        Row("bytes=0-99999999999999999999", 206, "bytes 0-9/10"),
        Row("bytes=10-", 416, "bytes */10"),
        Row("bytes=10-20", 416, "bytes */10"),
        Row("bytes=-0", 416, "bytes */10"),
        Row("bytes=0-1, 3-4", nil),
        Row("bytes=2-1", nil),
        Row("bytes=", nil),
        Row("lines=0-1", nil),
        Row("bytes=0-1", 206, "bytes 0-1/10", ifRange: "\"v1\""),
        Row("bytes=0-1", 200, nil, ifRange: "\"v2\""),
        Row("bytes=0-1", 200, nil, ifRange: "W/\"v1\""),
        Row("bytes=0-1", 200, nil, ifRange: CacheScenario.date(0)),
    ]

    @Test("§3.3: ranges are cut from a complete response", arguments: ofTheWhole)
    func rangeOfTheWhole(row: Row) throws {
        try check(row, of: try #require(CacheScenario.stored(Self.fresh)))
    }

    private func check(_ row: Row, of stored: CachedHead) throws {
        let answer = CachePolicy.answer(
            to: CacheScenario.request(row.asked),
            from: [stored],
            now: CacheScenario.start
        )
        guard let status = row.status else {
            #expect(answer.summary == "fetch")
            return
        }
        let reply = try #require(answer.reply)
        #expect(answer.summary == "serve fresh")
        #expect(reply.head.status == status)
        #expect(reply.head.fields["Content-Range"] == row.contentRange)
        if let text = row.contentRange, let bytes = try ContentRange(fieldValue: text).bytes {
            #expect(reply.body == bytes)
            #expect(reply.head.fields.contentLength == bytes.upperBound - bytes.lowerBound)
        } else {
            #expect(reply.body == (status == 200 ? 0..<10 : 0..<0))
            #expect(reply.head.fields["Content-Length"] == (status == 200 ? "10" : "0"))
        }
    }

    @Test("RFC 9530 §2: a digest of the content is not one of a part of it") func digestOfAPart() throws {
        let fields = Self.adding(["Content-Digest": "d", "Content-MD5": "m", "Repr-Digest": "r"])
        let answer = CachePolicy.answer(
            to: CacheScenario.request(["Range": "bytes=0-1"]),
            from: [try #require(CacheScenario.stored(fields))],
            now: CacheScenario.start
        )
        let head = try #require(answer.reply?.head)
        #expect(head.status == 206 && head.fields["Repr-Digest"] == "r")
        #expect(head.fields["Content-Digest"] == nil && head.fields["Content-MD5"] == nil)
    }

    @Test func aRangeOfAnIndivisibleResponseIsIgnored() throws {
        // RFC 9110 §14.2: a range is for a 200.
        let stored = try #require(CacheScenario.stored(Self.fresh, status: 404))
        let request = CacheScenario.request(["Range": "bytes=0-1"])
        let answer = CachePolicy.answer(to: request, from: [stored], now: CacheScenario.start)
        #expect(answer.reply?.head.status == 404)
        #expect(answer.reply?.body == 0..<10)
    }

    @Test func aRangeOfADecodedBodyIsLeftToTheServer() throws {
        var request = CacheScenario.request()
        request.decodesContent = true
        let stored = try #require(
            CacheScenario.stored(Self.adding(["Content-Encoding": "gzip"]), for: request)
        )
        request.fields["Range"] = "bytes=0-1"
        let answer = CachePolicy.answer(to: request, from: [stored], now: CacheScenario.start)
        #expect(answer.summary == "fetch")
    }

    // MARK: - What is whole

    struct Success: Sendable, CustomTestStringConvertible {
        let asked: String?
        let status: Int
        let contentRange: String?
        let isStored: Bool

        var testDescription: String { "\(asked ?? "whole"): \(status) \(contentRange ?? "")" }

        init(_ asked: String?, _ status: Int, _ contentRange: String? = nil, isStored: Bool) {
            self.asked = asked
            self.status = status
            self.contentRange = contentRange
            self.isStored = isStored
        }
    }

    /// Bodies of ten bytes.
    static let successes = [
        Success(nil, 200, isStored: true),
        Success(nil, 200, "bytes 0-9/10", isStored: true),
        Success(nil, 200, "bytes 4-13/14", isStored: false),
        Success(nil, 200, "bytes 0-9/20", isStored: false),
        Success(nil, 200, "bytes 0-4/5", isStored: false),
        Success(nil, 200, "bytes */10", isStored: false),
        Success(nil, 200, "bytes 0-9", isStored: false),
        Success(nil, 203, "bytes 4-13/14", isStored: false),
        Success(nil, 206, "bytes 0-9/10", isStored: false),
        Success("bytes=0-9", 206, "bytes 0-9/10", isStored: false),
        Success("bytes=4-", 206, "bytes 4-13/14", isStored: false),
        // S28: nothing says whether these ten are the rest.
        Success("bytes=4-", 200, isStored: false),
        Success("bytes=0-9", 200, isStored: false),
        Success("bytes=-10", 200, isStored: false),
        Success("bytes=0-1, 4-9", 200, isStored: false),
        Success("lines=0-9", 200, isStored: false),
        Success("bytes=4-", 200, "bytes 4-13/14", isStored: false),
        Success("bytes=4-", 200, "bytes 0-9/10", isStored: true),
        Success("bytes=0-", 200, isStored: true),
        // What is no part of it.
        Success("bytes=4-", 404, isStored: true),
    ]

    @Test("S16, S28: only a certainly complete body is stored", arguments: successes)
    func successIsWhole(row: Success) {
        var asked = HeaderFields()
        asked["Range"] = row.asked
        var fields = Self.adding(["Content-Length": "10"])
        fields["Content-Range"] = row.contentRange
        let stored = CacheScenario.stored(fields, status: row.status, for: CacheScenario.request(asked))
        #expect((stored != nil) == row.isStored)
    }

    static let ends: [(length: String?, came: Int64, isWhole: Bool, isStored: Bool)] = [
        ("10", 10, true, true), ("10", 4, false, false), ("10", 4, true, false), ("10", 10, false, false),
        ("10", 11, true, false), ("10", 0, false, false), (nil, 10, true, true), (nil, 10, false, false),
        (nil, 0, true, true), ("10, 11", 10, true, true),
    ]

    @Test("S14, S25, S26: a truncated body is not stored", arguments: ends)
    func end(row: (length: String?, came: Int64, isWhole: Bool, isStored: Bool)) {
        var fields = Self.fresh
        fields["Content-Length"] = row.length
        let stored = CacheScenario.stored(fields, length: row.came, isWhole: row.isWhole)
        #expect(stored?.length == (row.isStored ? row.came : nil))
    }

    @Test func aBrokenBodyOfAnyKindIsNotKept() {
        #expect(CacheScenario.stored(Self.fresh, status: 404, length: 4, isWhole: false) == nil)
        var request = CacheScenario.request()
        request.decodesContent = true
        let coded = Self.adding(["Content-Encoding": "gzip", "Content-Length": "10"])
        #expect(CacheScenario.stored(coded, for: request, length: 4, isWhole: false) == nil)
        #expect(CacheScenario.stored(coded, for: request, length: 40, isWhole: true)?.length == 40)
    }
}
