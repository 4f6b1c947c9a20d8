import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Each row is a response of the start with a tag, a request some seconds later, and what becomes of it.
@Suite struct CacheAnswerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let control: String
        let asked: HeaderFields
        let after: Double
        let policy: URLRequest.CachePolicy
        let answer: String

        init(
            _ name: String,
            _ control: String,
            _ asked: HeaderFields = [:],
            after: Double,
            _ answer: String,
            policy: URLRequest.CachePolicy = .useProtocolCachePolicy
        ) {
            testDescription = name
            self.control = control
            self.asked = asked
            self.after = after
            self.answer = answer
            self.policy = policy
        }
    }

    private static func wants(_ directives: String) -> HeaderFields { ["Cache-Control": directives] }

    static let responseDirectives = [
        Row("§4 fresh", "max-age=60", after: 30, "serve fresh"),
        Row("§4 stale", "max-age=60", after: 60, "validate"),
        Row("§5.2.2.4 no-cache", "max-age=60, no-cache", after: 0, "validate"),
        Row("§5.2.2.4 in any case", "max-age=60, No-CaChE", after: 0, "validate"),
        Row("§5.2.2.4 no-cache=\"x\"", "max-age=60, no-cache=\"x\"", after: 0, "serve fresh"),
        Row("§5.2.2.4 no-cache=\"\"", "max-age=60, no-cache=\"\"", after: 0, "validate"),
        Row("§5.2.2.2 must-revalidate, fresh", "max-age=60, must-revalidate", after: 30, "serve fresh"),
        Row("§5.2.2.2 must-revalidate, stale", "max-age=60, must-revalidate", after: 60, "validate"),
        Row(
            "§5.2.2.8 proxy-revalidate is for others",
            "max-age=60, proxy-revalidate, stale-while-revalidate=60",
            after: 70,
            "serve stale and revalidate"
        ),
        Row("RFC 5861 §3 fresh", "max-age=60, stale-while-revalidate=60", after: 30, "serve fresh"),
        Row(
            "RFC 5861 §3 in the window",
            "max-age=60, stale-while-revalidate=60",
            after: 119,
            "serve stale and revalidate"
        ),
        Row("RFC 5861 §3 behind it", "max-age=60, stale-while-revalidate=60", after: 120, "validate"),
        Row("RFC 5861 §3 without a number", "max-age=60, stale-while-revalidate", after: 60, "validate"),
        Row(
            "RFC 5861 §3 must-revalidate is stricter",
            "max-age=60, stale-while-revalidate=60, must-revalidate",
            after: 70,
            "validate"
        ),
        Row(
            "RFC 5861 §3 no-cache is stricter",
            "max-age=60, stale-while-revalidate=60, no-cache",
            after: 70,
            "validate"
        ),
        Row(
            "RFC 5861 §4 stale-if-error is for errors",
            "max-age=60, stale-if-error=60",
            after: 70,
            "validate"
        ),
        Row("RFC 8246 §2 stale", "max-age=60, immutable", after: 60, "validate"),
    ]

    @Test("directives of the response", arguments: responseDirectives)
    func byResponse(row: Row) throws {
        try check(row)
    }

    static let requestDirectives = [
        Row("§5.2.1.1 max-age, younger", "max-age=60", wants("max-age=30"), after: 30, "serve fresh"),
        Row("§5.2.1.1 max-age, older", "max-age=60", wants("max-age=30"), after: 31, "validate"),
        Row("§5.2.1.1 max-age=0", "max-age=60", wants("max-age=0"), after: 0, "validate"),
        Row("§5.2.1.1 max-age that is none", "max-age=60", wants("max-age=x"), after: 0, "validate"),
        Row(
            "§5.2.1.1 max-age, longer than the response's",
            "max-age=60",
            wants("max-age=90"),
            after: 60,
            "validate"
        ),
        Row(
            "§5.2.1.1 max-age wants nothing stale",
            "max-age=60, stale-while-revalidate=60",
            wants("max-age=90"),
            after: 60,
            "validate"
        ),
        Row("§5.2.1.2 max-stale", "max-age=60", wants("max-stale"), after: 9999, "serve stale"),
        Row("§5.2.1.2 max-stale=30", "max-age=60", wants("max-stale=30"), after: 90, "serve stale"),
        Row("§5.2.1.2 max-stale=30, older", "max-age=60", wants("max-stale=30"), after: 91, "validate"),
        Row("§5.2.1.2 max-stale that is none", "max-age=60", wants("max-stale=x"), after: 60, "validate"),
        Row(
            "§5.2.1.2 max-stale, and a limit",
            "max-age=60",
            wants("max-stale, max-stale=30"),
            after: 91,
            "validate"
        ),
        Row(
            "§5.2.1.2 max-stale of what is fresh",
            "max-age=60",
            wants("max-stale"),
            after: 30,
            "serve fresh"
        ),
        Row(
            "§5.2.1.2 max-stale and max-age",
            "max-age=60",
            wants("max-stale=60, max-age=90"),
            after: 80,
            "serve stale"
        ),
        Row(
            "§5.2.2.2 not with must-revalidate",
            "max-age=60, must-revalidate",
            wants("max-stale"),
            after: 61,
            "validate"
        ),
        Row("§5.2.2.4 not with no-cache", "max-age=60, no-cache", wants("max-stale"), after: 61, "validate"),
        Row("§5.2.1.3 min-fresh, so fresh", "max-age=60", wants("min-fresh=30"), after: 30, "serve fresh"),
        Row("§5.2.1.3 min-fresh, less", "max-age=60", wants("min-fresh=30"), after: 31, "validate"),
        Row("§5.2.1.3 min-fresh that is none", "max-age=60", wants("min-fresh"), after: 0, "validate"),
        Row(
            "§5.2.1.3 min-fresh wants nothing stale",
            "max-age=60, stale-while-revalidate=60",
            wants("min-fresh=0"),
            after: 61,
            "validate"
        ),
        Row("§5.2.1.4 no-cache", "max-age=60", wants("no-cache"), after: 0, "validate"),
        Row("§5.2.1.5 no-store passes by", "max-age=60", wants("no-store"), after: 0, "fetch"),
        Row(
            "§5.2.1.7 only-if-cached, fresh",
            "max-age=60",
            wants("only-if-cached"),
            after: 30,
            "serve fresh"
        ),
        Row(
            "§5.2.1.7 only-if-cached, stale",
            "max-age=60",
            wants("only-if-cached"),
            after: 60,
            "unavailable"
        ),
        Row(
            "§5.2.1.7 only-if-cached, max-stale",
            "max-age=60",
            wants("only-if-cached, max-stale"),
            after: 60,
            "serve stale"
        ),
        Row(
            "§5.2.1.7 without asking in the background",
            "max-age=60, stale-while-revalidate=60",
            wants("only-if-cached"),
            after: 60,
            "serve stale"
        ),
        Row(
            "§5.2.1.7 only-if-cached, no-cache",
            "max-age=60",
            wants("only-if-cached, no-cache"),
            after: 0,
            "unavailable"
        ),
        Row("§5.4 Pragma", "max-age=60", ["Pragma": "x, No-Cache"], after: 0, "validate"),
        Row("§5.4 another Pragma", "max-age=60", ["Pragma": "x"], after: 0, "serve fresh"),
        Row(
            "§5.4 Pragma beside Cache-Control",
            "max-age=60",
            ["Pragma": "no-cache", "Cache-Control": "max-age=30"],
            after: 0,
            "serve fresh"
        ),
        Row(
            "RFC 8246 §2 who names a limit gets it",
            "max-age=60, immutable",
            wants("max-age=0"),
            after: 0,
            "validate"
        ),
        Row("RFC 8246 §2 a forced reload", "max-age=60, immutable", wants("no-cache"), after: 0, "validate"),
        Row(
            "RFC 9110 §13.1.1 If-Match is the server's",
            "max-age=60",
            ["If-Match": "\"v1\""],
            after: 0,
            "fetch"
        ),
        Row(
            "RFC 9110 §13.1.4 If-Unmodified-Since, too",
            "max-age=60",
            ["If-Unmodified-Since": CacheScenario.date(0)],
            after: 0,
            "fetch"
        ),
        Row(
            "RFC 9110 §7.3 cookies of the request are no matter",
            "max-age=60",
            ["Cookie": "a=b"],
            after: 30,
            "serve fresh"
        ),
    ]

    @Test("directives and fields of the request", arguments: requestDirectives)
    func byRequest(row: Row) throws {
        try check(row)
    }

    static let policies = [
        Row("by the protocol", "max-age=60", after: 30, "serve fresh", policy: .useProtocolCachePolicy),
        Row(
            "ignoring the local data",
            "max-age=60",
            after: 30,
            "fetch",
            policy: .reloadIgnoringLocalCacheData
        ),
        Row(
            "ignoring all data",
            "max-age=60",
            after: 30,
            "fetch",
            policy: .reloadIgnoringLocalAndRemoteCacheData
        ),
        Row(
            "stored, else load: fresh",
            "max-age=60",
            after: 30,
            "serve fresh",
            policy: .returnCacheDataElseLoad
        ),
        Row(
            "stored, else load: stale",
            "max-age=60",
            after: 1e6,
            "serve stale",
            policy: .returnCacheDataElseLoad
        ),
        Row(
            "stored, else load: fresh, but no-cache",
            "max-age=60, no-cache",
            after: 0,
            "serve stale",
            policy: .returnCacheDataElseLoad
        ),
        Row(
            "stored, else load: no-cache",
            "no-cache",
            after: 0,
            "serve stale",
            policy: .returnCacheDataElseLoad
        ),
        Row(
            "stored, else load: no-cache asked",
            "max-age=60",
            wants("no-cache"),
            after: 0,
            "serve fresh",
            policy: .returnCacheDataElseLoad
        ),
        Row(
            "stored, do not load: stale",
            "max-age=60",
            after: 60,
            "serve stale",
            policy: .returnCacheDataDontLoad
        ),
        Row(
            "stored, do not load: no-store asked",
            "max-age=60",
            wants("no-store"),
            after: 60,
            "unavailable",
            policy: .returnCacheDataDontLoad
        ),
        Row("revalidating: fresh", "max-age=60", after: 30, "validate", policy: .reloadRevalidatingCacheData),
        Row(
            "revalidating: immutable (RFC 8246 §2)",
            "max-age=60, immutable",
            after: 30,
            "serve fresh",
            policy: .reloadRevalidatingCacheData
        ),
        Row(
            "revalidating: immutable, stale",
            "max-age=60, immutable",
            after: 60,
            "validate",
            policy: .reloadRevalidatingCacheData
        ),
        Row(
            "revalidating: immutable, no-cache",
            "max-age=60, immutable, no-cache",
            after: 0,
            "validate",
            policy: .reloadRevalidatingCacheData
        ),
        Row(
            "revalidating: stale-while-revalidate",
            "max-age=60, stale-while-revalidate=60",
            after: 70,
            "validate",
            policy: .reloadRevalidatingCacheData
        ),
    ]

    @Test("the policies of URLRequest", arguments: policies)
    func byPolicy(row: Row) throws {
        try check(row)
    }

    static let nothingStored: [(URLRequest.CachePolicy, HeaderFields, String)] = [
        (.useProtocolCachePolicy, [:], "fetch"),
        (.useProtocolCachePolicy, wants("only-if-cached"), "unavailable"),
        (.reloadIgnoringLocalCacheData, [:], "fetch"),
        (.reloadIgnoringLocalAndRemoteCacheData, [:], "fetch"),
        (.returnCacheDataElseLoad, [:], "fetch"),
        (.returnCacheDataDontLoad, [:], "unavailable"),
        (.reloadRevalidatingCacheData, [:], "fetch"),
    ]

    @Test(arguments: nothingStored)
    func withNothingStored(row: (policy: URLRequest.CachePolicy, asked: HeaderFields, answer: String)) {
        let request = CacheScenario.request(row.asked, policy: row.policy)
        #expect(CachePolicy.answer(to: request, from: [], now: 0).summary == row.answer)
    }

    private func check(_ row: Row) throws {
        let stored = try #require(CacheScenario.stored(["Cache-Control": row.control, "ETag": "\"v1\""]))
        let answer = CachePolicy.answer(
            to: CacheScenario.request(row.asked, policy: row.policy),
            from: [stored],
            now: CacheScenario.start + row.after
        )
        #expect(answer.summary == row.answer)
    }
}
