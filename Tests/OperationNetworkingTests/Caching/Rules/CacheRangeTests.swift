import Testing

@testable import OperationNetworking

/// Parts: of stored responses (RFC 9111 §3.3), of responses that broke off, and put together (§3.4).
@Suite struct CacheRangeTests {
    private static let fresh: HeaderFields = ["Cache-Control": "max-age=60", "ETag": "\"v1\""]

    private static func adding(_ fields: HeaderFields) -> HeaderFields {
        var all = fresh
        for field in fields.fields { all[field.name] = field.value }
        return all
    }

    /// Bytes 4 to 9 of ten, unless it says otherwise.
    private static func part(
        _ range: String = "bytes 4-9/10",
        _ fields: HeaderFields = fresh,
        length: Int64 = 6,
        isWhole: Bool = true
    ) -> CachedHead? {
        var all = fields
        all["Content-Range"] = range
        let request = CacheScenario.request(["Range": "bytes=4-"])
        return CacheScenario.stored(all, status: 206, for: request, length: length, isWhole: isWhole)
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

    static let ofAPart = [
        Row("bytes=4-9", 206, "bytes 4-9/10"),
        Row("bytes=6-8", 206, "bytes 6-8/10"),
        Row("bytes=6-", 206, "bytes 6-9/10"),
        Row("bytes=-1", 206, "bytes 9-9/10"),
        Row("bytes=-6", 206, "bytes 4-9/10"),
        Row("bytes=-7", nil),
        Row("bytes=3-5", nil),
        Row("bytes=0-", nil),
        Row("bytes=10-", nil),
        Row("bytes=6-8", 206, "bytes 6-8/10", ifRange: "\"v1\""),
        Row("bytes=6-8", nil, nil, ifRange: "\"v2\""),
    ]

    @Test("§3.3: and from a part, wholly within it", arguments: ofAPart)
    func rangeOfAPart(row: Row) throws {
        try check(row, of: try #require(Self.part()))
    }

    static let ofUnknownLength = [
        Row("bytes=4-9", 206, "bytes 4-9/*"),
        Row("bytes=5-6", 206, "bytes 5-6/*"),
        Row("bytes=5-10", nil),
        Row("bytes=5-", nil),
        Row("bytes=-1", nil),
    ]

    @Test("§3.3: without a length, only what names its end", arguments: ofUnknownLength)
    func rangeOfUnknownLength(row: Row) throws {
        try check(row, of: try #require(Self.part("bytes 4-9/*")))
    }

    private func check(_ row: Row, of stored: CachedHead) throws {
        let answer = CachePolicy().answer(
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

    static let digests: [(stored: CachedHead?, range: String, isOfTheSame: Bool)] = {
        let fields = adding(["Content-Digest": "d", "Content-MD5": "m", "Repr-Digest": "r"])
        let whole = CacheScenario.stored(fields)
        return [
            (whole, "bytes=0-1", false),
            (part("bytes 4-9/10", fields), "bytes=4-9", true),
            (part("bytes 4-9/10", fields), "bytes=6-8", false),
            (part("bytes 4-9/10", fields, length: 3, isWhole: false), "bytes=4-6", false),
        ]
    }()

    @Test("RFC 9530 §2: a digest of the content is not one of a part of it", arguments: digests)
    func digestOfAPart(row: (stored: CachedHead?, range: String, isOfTheSame: Bool)) throws {
        let answer = CachePolicy().answer(
            to: CacheScenario.request(["Range": row.range]),
            from: [try #require(row.stored)],
            now: CacheScenario.start
        )
        let head = try #require(answer.reply?.head)
        #expect(head.status == 206 && head.fields["Repr-Digest"] == "r")
        #expect(head.fields["Content-Digest"] == (row.isOfTheSame ? "d" : nil))
        #expect(head.fields["Content-MD5"] == (row.isOfTheSame ? "m" : nil))
    }

    @Test func aPartNeverAnswersForTheWhole() throws {
        let stored = try #require(Self.part())
        let policy = CachePolicy()
        for request in [CacheScenario.request(), CacheScenario.request(method: "HEAD")] {
            #expect(policy.answer(to: request, from: [stored], now: CacheScenario.start).summary == "fetch")
        }
        let reply = policy.reply(stored, to: CacheScenario.request(), now: CacheScenario.start, use: .fresh)
        #expect(reply.head.status == 206)
        #expect(reply.head.fields["Content-Range"] == "bytes 4-9/10")
    }

    @Test func aRangeOfWhatCannotBeDividedIsNoMatter() throws {
        // RFC 9110 §14.2: a range is for a 200.
        let stored = try #require(CacheScenario.stored(Self.fresh, status: 404))
        let request = CacheScenario.request(["Range": "bytes=0-1"])
        let answer = CachePolicy().answer(to: request, from: [stored], now: CacheScenario.start)
        #expect(answer.reply?.head.status == 404)
        #expect(answer.reply?.body == 0..<10)
    }

    @Test func aRangeOfADecodedBodyIsTheServers() throws {
        var request = CacheScenario.request()
        request.decodesContent = true
        let stored = try #require(
            CacheScenario.stored(Self.adding(["Content-Encoding": "gzip"]), for: request)
        )
        request.fields["Range"] = "bytes=0-1"
        let answer = CachePolicy().answer(to: request, from: [stored], now: CacheScenario.start)
        #expect(answer.summary == "fetch")
    }

    // MARK: - Parts that are stored

    static let parts: [(String, HeaderFields, CachedExtent?)] = [
        ("bytes 4-9/10", fresh, CachedExtent(range: 4..<10, completeLength: 10, isComplete: false)),
        ("bytes 4-9/*", fresh, CachedExtent(range: 4..<10, completeLength: nil, isComplete: false)),
        ("bytes 0-9/10", fresh, CachedExtent(range: 0..<10, completeLength: 10, isComplete: true)),
        ("bytes */10", fresh, nil),
        ("bytes 4-10/10", fresh, nil),
        ("bytes 9-4/10", fresh, nil),
        ("lines 4-9/10", fresh, nil),
        ("", fresh, nil),
        ("bytes 4-9/10", adding(["Content-Length": "5"]), nil),
        ("bytes 4-9/10", adding(["Content-Type": "multipart/byteranges; boundary=x"]), nil),
    ]

    @Test(arguments: parts)
    func extentOfAPart(row: (contentRange: String, fields: HeaderFields, extent: CachedExtent?)) {
        let length = row.extent?.count ?? 6
        #expect(Self.part(row.contentRange, row.fields, length: length)?.body == row.extent)
    }

    @Test func aPartOfAllBytesIsTheWhole() throws {
        let stored = try #require(Self.part("bytes 0-9/10", length: 10))
        #expect(stored.head.status == 200)
        #expect(stored.fields["Content-Range"] == nil)
        #expect(stored.fields["Content-Length"] == "10")
    }

    @Test func aPartOfACodingThatIsUndoneIsNotStored() {
        var request = CacheScenario.request(["Range": "bytes=4-"])
        request.decodesContent = true
        let fields = Self.adding(["Content-Range": "bytes 4-9/10", "Content-Encoding": "gzip"])
        #expect(CacheScenario.stored(fields, status: 206, for: request, length: 6) == nil)
    }

    @Test func aPartForAClientThatHasTheRestIsNotStored() {
        // RFC 9110 §15.3.7: it need not have all fields.
        let request = CacheScenario.request(["Range": "bytes=4-", "If-Range": "\"v1\""])
        let fields = Self.adding(["Content-Range": "bytes 4-9/10"])
        #expect(CacheScenario.stored(fields, status: 206, for: request, length: 6) == nil)
    }

    // MARK: - Ends

    struct End: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fields: HeaderFields
        let length: Int64
        let isWhole: Bool
        let extent: CachedExtent?

        init(_ name: String, _ fields: HeaderFields, _ length: Int64, whole: Bool, _ extent: CachedExtent?) {
            testDescription = name
            self.fields = fields
            self.length = length
            isWhole = whole
            self.extent = extent
        }
    }

    static let ends = [
        End(
            "all of ten",
            adding(["Content-Length": "10"]),
            10,
            whole: true,
            CachedExtent(range: 0..<10, completeLength: 10, isComplete: true)
        ),
        End(
            "four of ten",
            adding(["Content-Length": "10"]),
            4,
            whole: false,
            CachedExtent(range: 0..<4, completeLength: 10, isComplete: false)
        ),
        End(
            "four of ten, said to be all",
            adding(["Content-Length": "10"]),
            4,
            whole: true,
            CachedExtent(range: 0..<4, completeLength: 10, isComplete: false)
        ),
        End(
            "all of ten, but not the end",
            adding(["Content-Length": "10"]),
            10,
            whole: false,
            CachedExtent(range: 0..<10, completeLength: 10, isComplete: false)
        ),
        End("eleven of ten", adding(["Content-Length": "10"]), 11, whole: true, nil),
        End("none of ten", adding(["Content-Length": "10"]), 0, whole: false, nil),
        End(
            "chunks to the last",
            fresh,
            10,
            whole: true,
            CachedExtent(range: 0..<10, completeLength: 10, isComplete: true)
        ),
        End(
            "chunks that broke off",
            fresh,
            10,
            whole: false,
            CachedExtent(range: 0..<10, completeLength: nil, isComplete: false)
        ),
        End("an empty body", fresh, 0, whole: true, .empty),
        End("four of ten without a validator", ["Content-Length": "10"], 4, whole: false, nil),
        End(
            "four of ten with a weak tag",
            ["Content-Length": "10", "ETag": "W/\"v1\""],
            4,
            whole: false,
            nil
        ),
        End(
            "four of ten with a strong date",
            ["Content-Length": "10", "Last-Modified": CacheScenario.date(-60)],
            4,
            whole: false,
            CachedExtent(range: 0..<4, completeLength: 10, isComplete: false)
        ),
        End(
            "lengths that differ",
            adding(["Content-Length": "10, 11"]),
            10,
            whole: true,
            CachedExtent(range: 0..<10, completeLength: 10, isComplete: true)
        ),
    ]

    @Test("§3.3: a body that broke off is recorded as that, or not kept", arguments: ends)
    func end(row: End) throws {
        let stored = CacheScenario.stored(row.fields, length: row.length, isWhole: row.isWhole)
        #expect(stored?.body == row.extent)
    }

    @Test func aBrokenBodyThatCannotBeContinuedIsNotKept() {
        #expect(CacheScenario.stored(Self.fresh, status: 404, length: 4, isWhole: false) == nil)
        var request = CacheScenario.request()
        request.decodesContent = true
        let coded = Self.adding(["Content-Encoding": "gzip"])
        #expect(CacheScenario.stored(coded, for: request, length: 4, isWhole: false) == nil)
        #expect(CacheScenario.stored(coded, for: request, length: 4, isWhole: true)?.body.isComplete == true)
    }
}
