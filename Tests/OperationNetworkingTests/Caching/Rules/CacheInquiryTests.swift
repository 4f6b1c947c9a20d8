import Testing

@testable import OperationNetworking

/// The use of answers of the server, decided by their heads.
@Suite struct CacheInquiryTests {
    private static func use(
        of head: ResponseHead,
        for fields: HeaderFields = [:],
        _ purpose: CacheInquiry.Purpose = .fetch,
        _ candidates: [CachedHead] = []
    ) -> CacheInquiry.Use {
        let inquiry = CacheInquiry(
            purpose: purpose,
            request: CacheScenario.request(fields),
            candidates: candidates,
            policy: CachePolicy(),
            time: CacheScenario.start
        )
        return inquiry.use(of: head, now: CacheScenario.start)
    }

    private static func part(_ range: String) -> ResponseHead {
        CacheScenario.head(
            [
                "ETag": "\"v1\"", "Cache-Control": "max-age=60", "Content-Range": range,
                "Date": CacheScenario.date(0),
            ],
            status: 206
        )
    }

    // MARK: - Parts that were not asked for

    static let asked: [(asked: String?, sent: String, isStored: Bool)] = [
        ("bytes=4-9", "bytes 4-9/10", true),
        ("bytes=4-", "bytes 4-9/10", true),
        ("bytes=4-", "bytes 4-9/*", true),
        ("bytes=-6", "bytes 4-9/10", true),
        ("bytes=0-99", "bytes 0-9/10", true),
        // Less than was asked for is in its place all the same (RFC 9110 §15.3.7).
        ("bytes=4-9", "bytes 5-6/10", true),
        ("bytes=0-1, 4-5", "bytes 0-5/10", true),
        (nil, "bytes 4-9/10", false),
        (nil, "bytes 0-9/10", false),
        ("bytes=4-9", "bytes 0-3/10", false),
        ("bytes=4-5", "bytes 4-9/10", false),
        ("bytes=4-5", "bytes 4-9/*", false),
        ("bytes=5-", "bytes 4-9/10", false),
        ("bytes=-5", "bytes 4-9/10", false),
        ("bytes=-5", "bytes 5-9/*", false),
        ("bytes=10-", "bytes 4-9/10", false),
        ("bytes=0-1, 4-5", "bytes 0-6/10", false),
        ("lines=4-9", "bytes 4-9/10", false),
        ("bytes=9-4", "bytes 4-9/10", false),
        ("bytes=", "bytes 4-9/10", false),
    ]

    @Test("RFC 9110 §15.3.7: a part is stored if it was asked for", arguments: asked)
    func partsOfAnotherRange(row: (asked: String?, sent: String, isStored: Bool)) {
        var fields = HeaderFields()
        fields["Range"] = row.asked
        guard case .pass(let stored) = Self.use(of: Self.part(row.sent), for: fields) else {
            Issue.record("not passed on")
            return
        }
        #expect((stored != nil) == row.isStored)
    }

    @Test("and nothing that is stored is lengthened by one that was not", arguments: [nil, "bytes=0-3"])
    func partsThatLengthenNothing(asked: String?) throws {
        let beginning = try #require(
            CacheScenario.stored(["ETag": "\"v1\"", "Content-Length": "10"], length: 4, isWhole: false)
        )
        var fields = HeaderFields()
        fields["Range"] = asked
        let use = Self.use(of: Self.part("bytes 4-9/10"), for: fields, .fetch, [beginning])
        guard case .pass(nil) = use else {
            Issue.record("\(use)")
            return
        }
    }

    @Test func theRestThatTheCacheHasAskedForIsJoined() throws {
        let beginning = try #require(
            CacheScenario.stored(["ETag": "\"v1\"", "Content-Length": "10"], length: 4, isWhole: false)
        )
        guard case .join = Self.use(of: Self.part("bytes 4-9/10"), .complete(0), [beginning]) else {
            Issue.record("not joined")
            return
        }
    }

    @Test func aPartInAnswerToAValidationIsNotStored() throws {
        let whole = try #require(CacheScenario.stored(["ETag": "\"v1\""]))
        guard case .pass(nil) = Self.use(of: Self.part("bytes 0-9/10"), .validate(0), [whole]) else {
            Issue.record("not passed on")
            return
        }
    }
}
