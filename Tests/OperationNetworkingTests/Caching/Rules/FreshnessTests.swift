import Foundation
import Testing

@testable import OperationNetworking

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

    private func check(_ row: Row) throws {
        let stored = try #require(CacheScenario.stored(row.fields, status: row.status))
        let answer = CachePolicy().answer(
            to: CacheScenario.request(),
            from: [stored],
            now: CacheScenario.start + row.after
        )
        #expect(answer.summary == row.answer)
    }
}
