import FoundationNetworking
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Each row is a response of the start, a failure some seconds later, and whether the response is served all
/// the same (RFC 9111 §4.2.4, RFC 5861 §4).
@Suite struct CacheFailureTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let control: String
        let asked: HeaderFields
        let policy: URLRequest.CachePolicy
        let failure: CacheFailure
        let after: Double
        let isServed: Bool

        init(
            _ name: String,
            _ control: String,
            asked: String? = nil,
            policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
            _ failure: CacheFailure,
            after: Double,
            _ isServed: Bool
        ) {
            testDescription = name
            self.control = control
            self.asked = asked.map { ["Cache-Control": $0] } ?? [:]
            self.policy = policy
            self.failure = failure
            self.after = after
            self.isServed = isServed
        }
    }

    private static let week: Double = 7 * 86_400
    private static let graceful = "max-age=60, stale-if-error=60"

    static let rows = [
        Row("§4.2.4 unreachable", "max-age=60", .unreachable, after: 61, true),
        Row("§4.2.4 unreachable, a week stale", "max-age=60", .unreachable, after: 60 + week, true),
        Row("§4.2.4 unreachable, longer", "max-age=60", .unreachable, after: 61 + week, false),
        Row("§4.2.4 an answer is an answer", "max-age=60", .status(503), after: 61, false),
        Row("§5.2.2.2 must-revalidate", "max-age=60, must-revalidate", .unreachable, after: 61, false),
        Row("§5.2.2.2 beside stale-if-error", graceful + ", must-revalidate", .status(503), after: 61, false),
        Row("§5.2.2.4 no-cache", "max-age=60, no-cache", .unreachable, after: 61, false),
        Row("§5.2.2.4 no-cache=\"x\"", "max-age=60, no-cache=\"x\"", .unreachable, after: 61, true),
        Row(
            "§5.2.2.8 proxy-revalidate is for others",
            "max-age=60, proxy-revalidate",
            .unreachable,
            after: 61,
            true
        ),
        Row("RFC 5861 §4 500", graceful, .status(500), after: 120, true),
        Row("RFC 5861 §4 502", graceful, .status(502), after: 120, true),
        Row("RFC 5861 §4 503", graceful, .status(503), after: 120, true),
        Row("RFC 5861 §4 504", graceful, .status(504), after: 120, true),
        Row("RFC 5861 §4 behind the window", graceful, .status(503), after: 121, false),
        Row("RFC 5861 §4 501", graceful, .status(501), after: 61, false),
        Row("RFC 5861 §4 404", graceful, .status(404), after: 61, false),
        Row(
            "RFC 5861 §4 a window that is none",
            "max-age=60, stale-if-error",
            .status(503),
            after: 61,
            false
        ),
        Row(
            "RFC 5861 §4 the request's",
            "max-age=60",
            asked: "stale-if-error=60",
            .status(503),
            after: 120,
            true
        ),
        Row(
            "RFC 5861 §4 the longer of both",
            graceful,
            asked: "stale-if-error=600",
            .status(503),
            after: 300,
            true
        ),
        Row("§5.2.1.4 no-cache asked", graceful, asked: "no-cache", .unreachable, after: 61, false),
        Row(
            "§5.2.1.4 no-cache and stale-if-error asked",
            "max-age=60",
            asked: "no-cache, stale-if-error=60",
            .unreachable,
            after: 61,
            true
        ),
        Row("§5.2.1.1 max-age asked", graceful, asked: "max-age=30", .unreachable, after: 61, false),
        Row("§5.2.1.3 min-fresh asked", graceful, asked: "min-fresh=0", .unreachable, after: 61, false),
        Row("§5.2.1.5 no-store asked", graceful, asked: "no-store", .unreachable, after: 61, false),
        Row("revalidating", graceful, policy: .reloadRevalidatingCacheData, .unreachable, after: 61, false),
        Row("ignoring", graceful, policy: .reloadIgnoringLocalCacheData, .unreachable, after: 61, false),
        Row(
            "ignoring all",
            graceful,
            policy: .reloadIgnoringLocalAndRemoteCacheData,
            .unreachable,
            after: 61,
            false
        ),
    ]

    @Test(arguments: rows)
    func failure(row: Row) throws {
        let stored = try #require(CacheScenario.stored(["Cache-Control": row.control]))
        let reply = CachePolicy.staleReply(
            stored,
            to: CacheScenario.request(row.asked, policy: row.policy),
            now: CacheScenario.start + row.after,
            after: row.failure
        )
        #expect((reply != nil) == row.isServed)
        #expect(reply.map { $0.source == .stale } ?? true)
    }

    @Test func whatWouldNotAnswerTheRequestIsNotServedForIt() throws {
        let fields: HeaderFields = ["Vary": "Foo", "ETag": "\"v1\""]
        let stored = try #require(CacheScenario.stored(fields, for: CacheScenario.request(["Foo": "1"])))
        func isServed(_ candidate: CachedHead, _ request: CacheRequest) -> Bool {
            CachePolicy.staleReply(candidate, to: request, now: CacheScenario.start, after: .unreachable)
                != nil
        }
        let same: HeaderFields = ["Foo": "1"]
        #expect(isServed(stored, CacheScenario.request(same)))
        #expect(!isServed(stored, CacheScenario.request(["Foo": "2"])))
        #expect(!isServed(stored, CacheScenario.request(same, method: "POST")))
        #expect(!isServed(stored, CacheScenario.request(same, identity: "another")))
        var invalidated = stored
        invalidated.isInvalidated = true
        #expect(!isServed(invalidated, CacheScenario.request(same)))
    }

    @Test func ofSeveralTheMostRecentIsServed() throws {
        let old = try #require(
            CacheScenario.stored(["Cache-Control": "max-age=0", "Date": CacheScenario.date(-20)])
        )
        let new = try #require(CacheScenario.stored(["Cache-Control": "max-age=0"]))
        let forbidden = try #require(
            CacheScenario.stored(["Cache-Control": "no-cache", "Date": CacheScenario.date(5)])
        )
        func index(_ candidates: [CachedHead]) -> Int? {
            CachePolicy.staleReply(
                from: candidates,
                to: CacheScenario.request(),
                now: CacheScenario.start,
                after: .unreachable
            )?.index
        }
        #expect(index([old, new, forbidden]) == 1)
        #expect(index([new, forbidden, old]) == 0)
        #expect(index([forbidden]) == nil)
        #expect(index([]) == nil)
    }

    private static let retried: [(HeaderFields, URLRequest.CachePolicy, Set<Int>, String)] = [
        ([:], .useProtocolCachePolicy, [], "serve fresh"),
        ([:], .useProtocolCachePolicy, [502, 503], "fetch"),
        ([:], .useProtocolCachePolicy, [502], "serve fresh"),
        (["ETag": "\"v1\""], .useProtocolCachePolicy, [503], "validate"),
        (["ETag": "\"v1\""], .returnCacheDataElseLoad, [503], "validate"),
        (["ETag": "\"v1\""], .returnCacheDataElseLoad, [502], "serve fresh"),
    ]

    @Test(arguments: retried)
    func aRetriedRequestIsValidated(
        row: (fields: HeaderFields, policy: URLRequest.CachePolicy, retried: Set<Int>, answer: String)
    ) throws {
        var fields = row.fields
        fields["Cache-Control"] = "max-age=60, immutable, stale-if-error=60"
        let stored = try #require(CacheScenario.stored(fields, status: 503))
        var request = CacheScenario.request(policy: row.policy)
        request.retriedStatuses = row.retried
        let policy = CachePolicy.self
        #expect(policy.answer(to: request, from: [stored], now: CacheScenario.start).summary == row.answer)
        let stale = policy.staleReply(stored, to: request, now: CacheScenario.start + 90, after: .unreachable)
        #expect((stale == nil) == row.retried.contains(503))
    }

    /// Only a server that is not there, or is there no more, lets a stale response answer (RFC 9111 §4.2.4).
    @Test func anUntrustedServerCountsAsReachable() {
        let losses: Set<Int32> = [5, 6, 7, 16, 28, 52, 55, 56, 92]
        for code in 1..<CurlError.codeCount {
            let error = TransferError.curl(CurlError(code: code))
            #expect(error.isUnreachable == losses.contains(code), "\(code)")
        }
        let alert = CurlError(code: 56, message: "OpenSSL SSL_read: tlsv13 alert certificate required")
        #expect(!TransferError.curl(alert).isUnreachable)
        // A name is no alert.
        for code: Int32 in [5, 6, 7, 28] {
            let error = CurlError(code: code, message: "Could not resolve host: alerts.example.com")
            #expect(TransferError.curl(error).isUnreachable)
        }
        #expect(TransferError.idle(seconds: 1).isUnreachable && TransferError.truncatedHead.isUnreachable)
        #expect(TransferError.slowHead(seconds: 1).isUnreachable)
        #expect(!TransferError.refused.isUnreachable && !TransferError.endlessAnswer.isUnreachable)
    }
}
