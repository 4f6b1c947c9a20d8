import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Each row is a response that came at the start, and the answer to the same request some seconds later
/// (RFC 9111 §4.2).
@Suite struct FreshnessTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fields: HeaderFields
        let after: Double
        let status: Int
        let answer: String

        init(
            _ name: String,
            _ fields: HeaderFields,
            after: Double,
            status: Int = 200,
            _ answer: String
        ) {
            testDescription = name
            self.fields = fields
            self.after = after
            self.status = status
            self.answer = answer
        }
    }

    private static func date(_ seconds: Double) -> String { CacheScenario.date(seconds) }

    static let explicit = [
        Row("§4.2.1 max-age", ["Cache-Control": "max-age=60"], after: 59, "serve fresh"),
        Row("§4.2 equal is not fresh", ["Cache-Control": "max-age=60"], after: 60, "fetch"),
        Row("§4.2.1 max-age=0", ["Cache-Control": "max-age=0"], after: 0, "fetch"),
        Row("§5.2 any case", ["Cache-Control": "Max-AGE=60"], after: 30, "serve fresh"),
        Row("§5.2 quoted", ["Cache-Control": "max-age=\"60\""], after: 30, "serve fresh"),
        Row(
            "§5.2.3 unknown directives",
            ["Cache-Control": "x, y=\"1, 2\", max-age=60"],
            after: 30,
            "serve fresh"
        ),
        Row("§1.2.2 2^31 - 1", ["Cache-Control": "max-age=2147483647"], after: 30, "serve fresh"),
        Row("§1.2.2 beyond 2^31", ["Cache-Control": "max-age=99999999999"], after: 30, "serve fresh"),
        Row(
            "§1.2.2 beyond 2^64",
            ["Cache-Control": "max-age=99999999999999999999"],
            after: 30,
            "serve fresh"
        ),
        Row("§1.2.2 leading zeros", ["Cache-Control": "max-age=0060"], after: 30, "serve fresh"),
        Row("§4.2.1 negative", ["Cache-Control": "max-age=-60"], after: 0, "fetch"),
        Row("§4.2.1 a fraction", ["Cache-Control": "max-age=60.5"], after: 0, "fetch"),
        Row("§4.2.1 letters behind", ["Cache-Control": "max-age=60s"], after: 0, "fetch"),
        Row("§4.2.1 letters before", ["Cache-Control": "max-age=a60"], after: 0, "fetch"),
        Row("§4.2.1 apostrophes", ["Cache-Control": "max-age='60'"], after: 0, "fetch"),
        Row("§4.2.1 no value", ["Cache-Control": "max-age"], after: 0, "fetch"),
        Row("§4.2.1 an empty value", ["Cache-Control": "max-age="], after: 0, "fetch"),
        Row("§4.2.1 a space before the sign", ["Cache-Control": "max-age =60"], after: 0, "fetch"),
        Row("§4.2.1 a space behind the sign", ["Cache-Control": "max-age= 60"], after: 0, "fetch"),
        Row("§4.2.1 twice the same", ["Cache-Control": "max-age=60, max-age=60"], after: 30, "serve fresh"),
        Row("§4.2.1 two that differ", ["Cache-Control": "max-age=60, max-age=90"], after: 0, "fetch"),
        Row(
            "§4.2.1 two lines that differ",
            ["Cache-Control": "max-age=60", "Cache-Control": "max-age=90"],
            after: 0,
            "fetch"
        ),
        Row(
            "§5.2 inside a string, before",
            ["Cache-Control": "x=\"max-age=60\", max-age=1"],
            after: 2,
            "fetch"
        ),
        Row(
            "§5.2 inside a string, behind",
            ["Cache-Control": "max-age=1, x=\"max-age=60\""],
            after: 2,
            "fetch"
        ),
        Row("§5.2 a string without end", ["Cache-Control": "x=\"y, max-age=60"], after: 0, "fetch"),
        Row(
            "§5.2.2.10 s-maxage is for others",
            ["Cache-Control": "s-maxage=60, max-age=1"],
            after: 2,
            "fetch"
        ),
        Row("§5.2.2.7 private is us", ["Cache-Control": "private, max-age=60"], after: 30, "serve fresh"),
        Row("§5.3 Expires", ["Expires": date(60)], after: 59, "serve fresh"),
        Row("§5.3 Expires over", ["Expires": date(60)], after: 60, "fetch"),
        Row("§5.3 Expires in the past", ["Expires": date(-60)], after: 0, "fetch"),
        Row(
            "§4.2.1 max-age before Expires",
            ["Cache-Control": "max-age=60", "Expires": date(-60)],
            after: 30,
            "serve fresh"
        ),
        Row(
            "§4.2.1 max-age=0 before Expires",
            ["Cache-Control": "max-age=0", "Expires": date(60)],
            after: 0,
            "fetch"
        ),
        Row(
            "§4.2.1 max-age before a broken Expires",
            ["Cache-Control": "max-age=60", "Expires": "0"],
            after: 30,
            "serve fresh"
        ),
        Row("§5.3 relative to Date", ["Date": date(400), "Expires": date(300)], after: 0, "fetch"),
        Row("§5.3 a Date that is none", ["Date": "foo", "Expires": date(60)], after: 30, "serve fresh"),
    ]

    @Test(arguments: explicit)
    func explicitLifetime(row: Row) throws {
        try check(row)
    }

    static let dates = [
        Row("IMF-fixdate", ["Expires": "Thu, 18 Aug 2050 02:01:18 GMT"], after: 60, "serve fresh"),
        Row("after 2^31 seconds", ["Expires": "Tue, 19 Jan 2038 14:14:08 GMT"], after: 60, "serve fresh"),
        Row("far ahead", ["Expires": "Sun, 21 Nov 2286 04:46:39 GMT"], after: 60, "serve fresh"),
        Row("the last year", ["Expires": "Fri, 31 Dec 9999 23:59:59 GMT"], after: 60, "serve fresh"),
        Row("RFC 850", ["Expires": "Thursday, 18-Aug-50 02:01:18 GMT"], after: 60, "serve fresh"),
        Row("RFC 850, of the last century", ["Expires": "Friday, 18-Aug-95 02:01:18 GMT"], after: 0, "fetch"),
        Row("asctime", ["Expires": "Mon Aug  8 02:01:18 2050"], after: 60, "serve fresh"),
        Row("another day of the week", ["Expires": "Thu Aug  8 02:01:18 2050"], after: 60, "serve fresh"),
        Row("a weekday in capitals", ["Expires": "THU, 18 Aug 2050 02:01:18 GMT"], after: 60, "serve fresh"),
        Row(
            "a month in small letters",
            ["Expires": "Thu, 18 aug 2050 02:01:18 GMT"],
            after: 60,
            "serve fresh"
        ),
        Row("a zone in mixed case", ["Expires": "Thu, 18 Aug 2050 02:01:18 gMT"], after: 60, "serve fresh"),
        Row("UTC", ["Expires": "Thu, 18 Aug 2050 02:01:18 UTC"], after: 0, "fetch"),
        Row("another zone", ["Expires": "Thu, 18 Aug 2050 02:01:18 AEST"], after: 0, "fetch"),
        Row("a year of two digits", ["Expires": "Thu, 18 Aug 50 02:01:18 GMT"], after: 0, "fetch"),
        Row("no comma", ["Expires": "Thu 18 Aug 2050 02:01:18 GMT"], after: 0, "fetch"),
        Row("two spaces", ["Expires": "Thu, 18  Aug  2050 02:01:18 GMT"], after: 0, "fetch"),
        Row("dashes", ["Expires": "Thu, 18-Aug-2050 02:01:18 GMT"], after: 0, "fetch"),
        Row("dots in the time", ["Expires": "Thu, 18 Aug 2050 02.01.18 GMT"], after: 0, "fetch"),
        Row("an hour of one digit", ["Expires": "Thu, 18 Aug 2050 2:01:18 GMT"], after: 0, "fetch"),
        Row("a day that is none", ["Expires": "Thu, 31 Feb 2050 02:01:18 GMT"], after: 0, "fetch"),
        Row("zero", ["Expires": "0"], after: 0, "fetch"),
        Row("nothing", ["Expires": ""], after: 0, "fetch"),
        Row("-1", ["Expires": "-1"], after: 0, "fetch"),
        Row("two that differ", ["Expires": date(60), "Expires": date(90)], after: 0, "fetch"),
        Row("two that are equal", ["Expires": date(60), "Expires": date(60)], after: 30, "serve fresh"),
    ]

    @Test("§4.2, §5.3: dates are parsed leniently in case only", arguments: dates)
    func expirationDate(row: Row) throws {
        try check(row)
    }

    private static let maxAge = "max-age=3600"

    static let ages = [
        Row("§4.2.3 Age counts", ["Cache-Control": maxAge, "Age": "7200"], after: 0, "fetch"),
        Row("§4.2.3 and goes on", ["Cache-Control": maxAge, "Age": "3590"], after: 9, "serve fresh"),
        Row("§4.2.3 to the end", ["Cache-Control": maxAge, "Age": "3590"], after: 10, "fetch"),
        Row("§4.2.3 an old Date counts", ["Cache-Control": maxAge, "Date": date(-3600)], after: 0, "fetch"),
        Row(
            "§4.2.3 the larger of both",
            ["Cache-Control": maxAge, "Date": date(-10), "Age": "3595"],
            after: 5,
            "fetch"
        ),
        Row(
            "§4.2.3 a server's clock ahead",
            ["Cache-Control": maxAge, "Date": date(7200)],
            after: 3599,
            "serve fresh"
        ),
        Row("§4.2.3 that adds nothing", ["Cache-Control": maxAge, "Date": date(7200)], after: 3600, "fetch"),
        Row(
            "§4.2.3 before Expires",
            ["Date": date(-10), "Expires": date(10), "Age": "25"],
            after: 0,
            "fetch"
        ),
        Row("§4.2.3 fast Date", ["Date": date(10), "Expires": date(20), "Age": "15"], after: 0, "fetch"),
        Row("§5.1 no number", ["Cache-Control": maxAge, "Age": "abc"], after: 60, "serve fresh"),
        Row("§5.1 negative", ["Cache-Control": maxAge, "Age": "-7200"], after: 60, "serve fresh"),
        Row("§5.1 a fraction", ["Cache-Control": maxAge, "Age": "7200.0"], after: 60, "serve fresh"),
        Row("§5.1 2^31 - 1", ["Cache-Control": maxAge, "Age": "2147483647"], after: 0, "fetch"),
        Row("§5.1 2^31", ["Cache-Control": maxAge, "Age": "2147483648"], after: 0, "fetch"),
        Row("§5.1 beyond 2^64", ["Cache-Control": maxAge, "Age": "99999999999999999999"], after: 0, "fetch"),
        Row("§5.1 the first of a list", ["Cache-Control": maxAge, "Age": "7200, 0"], after: 0, "fetch"),
        Row("§5.1 not the second", ["Cache-Control": maxAge, "Age": "0, 7200"], after: 60, "serve fresh"),
        Row("§5.1 the first line", ["Cache-Control": maxAge, "Age": "7200", "Age": "0"], after: 0, "fetch"),
        Row(
            "§5.1 not the second line",
            ["Cache-Control": maxAge, "Age": "0", "Age": "7200"],
            after: 60,
            "serve fresh"
        ),
        Row("§5.1 an empty one", ["Cache-Control": maxAge, "Age": ""], after: 60, "serve fresh"),
        Row("a step back of the clock", ["Cache-Control": maxAge], after: -60, "serve fresh"),
        Row("a long step back: the age is not known", ["Cache-Control": maxAge], after: -61, "fetch"),
    ]

    @Test("§4.2.3, §5.1: age", arguments: ages)
    func age(row: Row) throws {
        try check(row)
    }

    @Test func timeOnTheWayCountsFromTheRequest() throws {
        // RFC 9111 §4.2.3: response_delay.
        var stored = try #require(CacheScenario.stored(["Cache-Control": "max-age=60", "Age": "10"]))
        stored.requestTime -= 20
        #expect(Freshness(stored, now: CacheScenario.start).age == 30)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func anInvalidTimeMakesNoResponseFresh(now: Double) throws {
        let stored = try #require(CacheScenario.stored(["Cache-Control": "max-age=99999999999"]))
        let answer = CachePolicy.answer(to: CacheScenario.request(), from: [stored], now: now)
        #expect(answer.summary == "fetch")
    }

    static let guesses =
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map {
            Row("§4.2.2 \($0)", ["Last-Modified": date(-86_400)], after: 8639, status: $0, "serve fresh")
        }
        + [201, 202, 302, 303, 307, 400, 403, 500, 502, 503, 504, 599].map {
            Row(
                "§4.2.2 \($0) not",
                ["Last-Modified": date(-86_400), "Cache-Control": "private"],
                after: 0,
                status: $0,
                "validate"
            )
        } + [
            Row("§4.2.2 a tenth", ["Last-Modified": date(-86_400)], after: 8640, "validate"),
            Row("§4.2.2 at most a day", ["Last-Modified": date(-86_400 * 365)], after: 86_399, "serve fresh"),
            Row("§4.2.2 not longer", ["Last-Modified": date(-86_400 * 365)], after: 86_400, "validate"),
            Row("§4.2.2 changed just now", ["Last-Modified": date(0)], after: 0, "validate"),
            Row("§4.2.2 changed in the future", ["Last-Modified": date(60)], after: 0, "validate"),
            Row(
                "§4.2.2 public makes any status so",
                ["Last-Modified": date(-86_400), "Cache-Control": "public"],
                after: 60,
                status: 599,
                "serve fresh"
            ),
            Row("§4.2.2 nothing to guess from", [:], after: 0, "fetch"),
            Row("§4.2.2 a date that is none", ["Last-Modified": "yesterday"], after: 0, "fetch"),
            Row(
                "§4.2.2 not beside max-age",
                ["Last-Modified": date(-86_400), "Cache-Control": "max-age=1"],
                after: 1,
                "validate"
            ),
            Row(
                "§4.2.2 nor a broken one",
                ["Last-Modified": date(-86_400), "Cache-Control": "max-age=x"],
                after: 0,
                "validate"
            ),
            Row(
                "§4.2.2 nor a broken Expires",
                ["Last-Modified": date(-86_400), "Expires": "0"],
                after: 0,
                "validate"
            ),
            Row(
                "§5.4 Pragma: no guess",
                ["Last-Modified": date(-86_400), "Pragma": "no-cache"],
                after: 0,
                "validate"
            ),
            Row(
                "§5.4 Pragma beside max-age means nothing",
                ["Cache-Control": "max-age=60", "Pragma": "no-cache"],
                after: 30,
                "serve fresh"
            ),
            Row(
                "§4.2.2 s-maxage is no word to us",
                ["Last-Modified": date(-86_400), "Cache-Control": "s-maxage=1"],
                after: 60,
                "serve fresh"
            ),
        ]

    @Test("§4.2.2: a heuristic lifetime from the last change", arguments: guesses)
    func heuristicLifetime(row: Row) throws {
        try check(row)
    }

    @Test func limitsOfHeuristics() throws {
        for (modified, lifetime) in [(-1000.0, 100.0), (-864_000, 86_400), (-1e7, 86_400), (1000, 0)] {
            let stored = try #require(CacheScenario.stored(["Last-Modified": Self.date(modified)]))
            #expect(Freshness(stored, now: CacheScenario.start).lifetime == lifetime)
        }
    }

    private func check(_ row: Row) throws {
        let stored = try #require(
            CacheScenario.stored(row.fields, status: row.status, length: row.status == 204 ? 0 : 10)
        )
        let answer = CachePolicy.answer(
            to: CacheScenario.request(),
            from: [stored],
            now: CacheScenario.start + row.after
        )
        #expect(answer.summary == row.answer)
    }

    /// Nothing of an earlier head is left when it changes.
    @Test func aChangedHeadHasAnotherMeaning() throws {
        var stored = try #require(CacheScenario.stored(["Cache-Control": "max-age=60", "Vary": "Accept"]))
        let copy = stored
        #expect(stored.meaning.explicitLifetime == 60 && stored.meaning.selecting?.names == ["accept"])
        stored.head.fields["Cache-Control"] = "max-age=1"
        stored.head.fields["Vary"] = nil
        #expect(stored.meaning.explicitLifetime == 1 && stored.meaning.selecting?.names.isEmpty == true)
        #expect(copy.meaning.explicitLifetime == 60)
        stored.head.fields["Date"] = nil
        stored.responseTime = 12
        #expect(stored.time == 12)
        // It says nothing that the head does not say.
        var same = copy
        same.head.fields["Cache-Control"] = "max-age=60"
        #expect(same == copy && same.hashValue == copy.hashValue)
    }
}
