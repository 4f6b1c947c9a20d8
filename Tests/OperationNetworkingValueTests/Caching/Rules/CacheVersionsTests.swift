import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Several versions under one key, clocks that are wrong, and validators that prove nothing.
@Suite struct CacheVersionsTests {
    private static func answer(
        _ stored: [CachedHead],
        after seconds: Double = 0,
        _ fields: HeaderFields = [:]
    ) -> CacheAnswer {
        CachePolicy.answer(
            to: CacheScenario.request(fields),
            from: stored,
            now: CacheScenario.start + seconds
        )
    }

    // MARK: - Answers to equal requests

    private static func whole(_ date: Double = 0) throws -> CachedHead {
        try #require(
            CacheScenario.stored([
                "ETag": "\"v1\"", "Cache-Control": "max-age=60", "Date": CacheScenario.date(date),
            ])
        )
    }

    @Test func aResponseReplacesThoseToEqualRequests() throws {
        let (old, new) = (try Self.whole(-10), try Self.whole())
        #expect(new.overtakes(old) && new.overtakes(new) && !old.overtakes(new))
        let others: [(inout CachedHead) -> Void] = [
            { $0.isDecoded = true }, { $0.identity = "another" }, { $0.selecting = ["Accept": "a"] },
            { $0.head.fields["Vary"] = "Accept" },
        ]
        for change in others {
            var other = old
            change(&other)
            #expect(!new.overtakes(other))
        }
    }

    // MARK: - Order

    @Test func aServerWithAFastClockMakesNothingNewer() throws {
        let ahead = try #require(
            CacheScenario.stored(
                ["ETag": "\"old\"", "Cache-Control": "max-age=60", "Date": CacheScenario.date(9e7)]
            )
        )
        var newer = try #require(
            CacheScenario.stored(
                ["ETag": "\"new\"", "Cache-Control": "max-age=60", "Date": CacheScenario.date(10)]
            )
        )
        newer.responseTime += 10
        for candidates in [[ahead, newer], [newer, ahead]] {
            #expect(Self.answer(candidates, after: 20).reply?.head.fields["ETag"] == "\"new\"")
        }
    }

    static let dates: [(HeaderFields, Bool)] = [
        (["Date": CacheScenario.date(0)], true),
        (["Date": CacheScenario.date(9e7)], true),
        (["Date": "Tue, 99 Sep 2026 00:00:00 GMT"], true),
        (["Date": "yesterday"], true),
        (["Date": CacheScenario.date(0), "Expires": "0"], false),
        (["Date": CacheScenario.date(0), "Expires": "-1"], false),
        (["Date": CacheScenario.date(-9e7)], false),
    ]

    @Test("§4.2.2: a heuristic needs a credible clock", arguments: dates)
    func heuristicLifetimes(row: (fields: HeaderFields, isFresh: Bool)) throws {
        var fields = row.fields
        // A tenth of it is a hundred seconds.
        fields["Last-Modified"] = CacheScenario.date(-1_000)
        let stored = try #require(CacheScenario.stored(fields))
        #expect((Self.answer([stored], after: 99).summary == "serve fresh") == row.isFresh)
        #expect(Self.answer([stored], after: 101).summary == "validate")
    }

    @Test func aFutureLastModifiedGivesNoHeuristic() throws {
        let stored = try #require(CacheScenario.stored(["Last-Modified": CacheScenario.date(1_000)]))
        #expect(Self.answer([stored]).summary == "validate")
    }

    static let years: [(text: String, now: Double, year: Double)] = [
        // 2026-09-01
        ("Saturday, 01-Jan-77 00:00:00 GMT", CacheScenario.start, 1977),
        ("Saturday, 01-Jan-00 00:00:00 GMT", CacheScenario.start, 2000),
        // 50 years and some months ahead.
        ("Friday, 31-Dec-76 00:00:00 GMT", CacheScenario.start, 1976),
        // 2095: the century ends within the 50 years.
        ("Saturday, 01-Jan-05 00:00:00 GMT", 3_944_678_400, 2105),
    ]

    @Test("RFC 9110 §5.6.7: years of two digits", arguments: years)
    func yearsOfTwoDigits(row: (text: String, now: Double, year: Double)) throws {
        let date = try #require(
            HTTPDate(fieldValue: row.text, now: Date(timeIntervalSince1970: row.now), isLenient: true)
        )
        let year = 1970 + (Double(date.secondsSince1970) + 86_400) / 31_556_952
        #expect(abs(year - row.year) < 1.02)
    }

    // MARK: - Validators that prove nothing

    private static let modified = CacheScenario.date(-3_600)

    @Test func aDateThatIsAddedHereProvesNothing() throws {
        let head = CacheScenario.head(["Last-Modified": Self.modified, "Content-Length": "10"])
        let stored = try #require(
            CachePolicy.stored(
                head,
                for: CacheScenario.request(),
                requestTime: CacheScenario.start,
                responseTime: CacheScenario.start
            )
        )
        #expect(stored.fields["Date"] != nil)
        #expect(stored.validator == .weak)
        #expect(stored.ended(at: 4, isWhole: false) == nil)
        #expect(stored.ended(at: 10, isWhole: true)?.validator == .weak)
    }

    /// The fields of what is stored, those of the 304, and whether the bytes are proven after it.
    static let confirmations: [(HeaderFields, HeaderFields, Bool)] = [
        (["ETag": "\"v1\""], ["ETag": "\"v1\""], true),
        (["ETag": "\"v1\""], [:], true),
        (["ETag": "W/\"v1\""], ["ETag": "\"v1\""], false),
        (["ETag": "\"v1\""], ["ETag": "W/\"v1\""], false),
        (["Last-Modified": modified], ["Last-Modified": modified], true),
        // The body came in the second of the change.
        (
            ["Last-Modified": CacheScenario.date(0)],
            ["Last-Modified": CacheScenario.date(0), "Date": CacheScenario.date(500)], false
        ),
        (["Last-Modified": modified], ["Last-Modified": modified, "ETag": "\"v1\""], false),
    ]

    @Test("a 304 does not make a validator strong", arguments: confirmations)
    func confirmed(row: (stored: HeaderFields, confirming: HeaderFields, isProven: Bool)) throws {
        let stored = try #require(CacheScenario.stored(row.stored))
        let fresh = CachePolicy.freshened(
            [stored],
            asked: 0,
            by: CacheScenario.head(row.confirming, status: 304),
            for: CacheScenario.request(),
            requestTime: CacheScenario.start + 500,
            responseTime: CacheScenario.start + 500
        )
        let head = try #require(fresh.first?.head)
        #expect((head.validator.ifRange != nil) == row.isProven)
        #expect(CachedHead(encoded: head.encoded)?.validator == head.validator)
    }
}
