import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Heads and requests that are put together at random, from what is right and what is not: nothing traps, and
/// what must never happen does not.
@Suite struct CacheRulesAttackTests {
    private static let numbers = [
        "0", "1", "60", "-1", "2147483647", "2147483648", "99999999999", "9223372036854775807",
        "9223372036854775808", "1.5", "", " ", "x", "\"60\"", "'60'", "+1", "0x10", "\u{0661}",
    ]
    private static let directives = [
        "max-age", "s-maxage", "no-store", "no-cache", "must-revalidate", "public", "private", "immutable",
        "stale-while-revalidate", "stale-if-error", "must-understand", "max-stale", "min-fresh",
        "only-if-cached", "no-transform", "x",
    ]
    private static let dates = [
        CacheScenario.date(0), CacheScenario.date(-100), CacheScenario.date(1e6), "0", "", "yesterday",
        "Fri, 31 Dec 9999 23:59:59 GMT", "Sat, 01 Jan 0000 00:00:00 GMT", "Thursday, 18-Aug-50 02:01:18 GMT",
        "Mon Aug  8 02:01:18 2050", "\u{fffd}",
    ]
    private static let tags = [
        "\"v1\"", "W/\"v1\"", "\"v2\"", "\"\"", "v1", "*", "\"", "\"a, \"v1\"", "", ",,",
    ]
    private static let ranges = [
        "bytes=0-1", "bytes=4-", "bytes=-5", "bytes=9-99", "bytes=10-", "bytes=-0", "bytes=0-0,2-3", "bytes=",
        "bytes=9223372036854775807-", "bytes=0-9223372036854775807", "bytes=-99999999999999999999", "x=1-2",
        "",
    ]
    private static let contentRanges = [
        "bytes 4-9/10", "bytes 0-9/10", "bytes 0-3/10", "bytes 4-9/*", "bytes */10", "bytes 9-4/10",
        "bytes 0-9223372036854775806/9223372036854775807", "bytes 0-9223372036854775807/*", "x 1-2/3", "",
    ]
    private static let lists = [
        "*", "Foo", "foo, bar", "Accept-Language", "accept-encoding,,", ",", "a b", "\"", "",
    ]
    private static let values = [
        "1", "1, 2", "", "en;q=0.5, de", "de;q=2", "gzip;q=0, *", ";;;", "\"a", "=,=;q=",
    ]
    private static let lengths = ["10", "6", "0", "-1", "10, 10", "10, 11", "99999999999999999999", "x", ""]

    private struct Source {
        var generator: SeededGenerator

        mutating func pick<Element>(_ elements: [Element]) -> Element {
            elements[Int.random(in: 0..<elements.count, using: &generator)]
        }

        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

        mutating func control() -> String {
            var members: [String] = []
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                let name = pick(CacheRulesAttackTests.directives)
                members.append(chance(60) ? name + "=" + pick(CacheRulesAttackTests.numbers) : name)
            }
            return members.joined(separator: chance(90) ? ", " : ",,\",")
        }

        mutating func fields(_ choices: [(String, [String])], percent: Int) -> HeaderFields {
            var fields = HeaderFields()
            for (name, values) in choices {
                while chance(percent) { fields.append(name: name, value: pick(values)) }
            }
            while chance(percent) { fields.append(name: "Cache-Control", value: control()) }
            return fields
        }

        mutating func head() -> ResponseHead {
            let fields = fields(
                [
                    ("Date", CacheRulesAttackTests.dates), ("Expires", CacheRulesAttackTests.dates),
                    ("Last-Modified", CacheRulesAttackTests.dates), ("Age", CacheRulesAttackTests.numbers),
                    ("ETag", CacheRulesAttackTests.tags), ("Vary", CacheRulesAttackTests.lists),
                    ("Content-Length", CacheRulesAttackTests.lengths),
                    ("Content-Range", CacheRulesAttackTests.contentRanges),
                    ("Content-Language", CacheRulesAttackTests.values),
                    ("Content-Encoding", ["gzip", "identity", ""]),
                    ("Connection", CacheRulesAttackTests.lists),
                    ("Location", ["/a", "http://[", "//x", ""]),
                    ("Content-Location", ["/thing", "", "http://["]),
                    ("Set-Cookie", ["a=b"]), ("Pragma", ["no-cache", "x"]),
                ],
                percent: 25
            )
            return CacheScenario.head(
                fields,
                status: pick([200, 200, 200, 206, 206, 304, 404, 301, 503, 599, 0, -1])
            )
        }

        mutating func request() -> CacheRequest {
            let fields = fields(
                [
                    ("Range", CacheRulesAttackTests.ranges), ("If-Range", CacheRulesAttackTests.tags),
                    ("If-None-Match", CacheRulesAttackTests.tags),
                    ("If-Modified-Since", CacheRulesAttackTests.dates), ("Foo", CacheRulesAttackTests.values),
                    ("Accept-Language", CacheRulesAttackTests.values),
                    ("Accept-Encoding", CacheRulesAttackTests.values), ("Pragma", ["no-cache"]),
                    ("If-Match", CacheRulesAttackTests.tags),
                ],
                percent: 12
            )
            var request = CacheScenario.request(
                fields,
                method: pick(["GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", ""]),
                policy: pick([
                    .useProtocolCachePolicy, .useProtocolCachePolicy, .reloadIgnoringLocalCacheData,
                    .reloadIgnoringLocalAndRemoteCacheData, .returnCacheDataElseLoad,
                    .returnCacheDataDontLoad,
                    .reloadRevalidatingCacheData,
                ]),
                identity: chance(80) ? nil : "digest"
            )
            request.decodesContent = chance(30)
            request.hasBody = chance(5)
            return request
        }

        mutating func time() -> Double {
            CacheScenario.start + pick([0, 0, 0.5, 1, 30, 59, 61, 7200, 1e9, -30, -1e9, 1e18])
        }
    }

    @Test(arguments: 0..<6)
    func nothingTrapsAndNoPartIsTakenForTheWhole(seed: UInt64) throws {
        var source = Source(generator: SeededGenerator(seed: seed &* 7919 &+ 9111))
        let policy = CachePolicy.self
        var held: [CachedHead] = []
        for _ in 0..<1000 {
            let (request, head, now) = (source.request(), source.head(), source.time())
            let (one, other) = (source.time(), source.time())
            _ = policy.invalidated(by: request, head)
            if let stored = policy.stored(head, for: request, requestTime: one, responseTime: other) {
                let end = source.chance(80) ? stored.length : source.pick([0, 1, 4, 6, 10, 11])
                if let ended = stored.ended(at: end, isWhole: source.chance(70)) {
                    check(ended)
                    let replaced = policy.replaced(held, by: ended, for: request)
                    for index in replaced.reversed() { held.remove(at: index) }
                    held.append(ended)
                    if held.count > 6 { held.removeFirst() }
                }
            }
            let answer = policy.answer(to: request, from: held, now: now)
            check(answer, of: request, from: held)
            let asked = Int.random(in: -1...held.count, using: &source.generator)
            for (index, head) in policy.freshened(
                held,
                asked: asked,
                by: head,
                for: request,
                requestTime: one,
                responseTime: other
            ) {
                check(head)
                held[index] = head
            }
            let update = policy.updated(
                held,
                byHEAD: head,
                for: request,
                requestTime: one,
                responseTime: other
            )
            for (index, head) in update.updated { held[index] = head }
            for index in update.invalidated { held[index].isInvalidated = true }
            for candidate in held {
                let failure: CacheFailure = source.chance(50) ? .unreachable : .status(head.status)
                if let reply = policy.staleReply(candidate, to: request, now: now, after: failure) {
                    check(reply, of: candidate, for: request)
                }
                check(
                    policy.reply(candidate, to: request, now: now, source: .validated),
                    of: candidate,
                    for: request
                )
            }
        }
    }

    private func check(_ head: CachedHead) {
        #expect(CachedHead(encoded: head.encoded) == head)
        for name in ["Connection", "Transfer-Encoding"] { #expect(head.fields[name] == nil) }
        #expect(head.head.status != 206 && head.length >= 0)
    }

    private func check(_ answer: CacheAnswer, of request: CacheRequest, from held: [CachedHead]) {
        switch answer {
        case .fetch, .unavailable:
            break
        case .serve(let index, let reply):
            #expect(request.isReadOnly)
            #expect(!held[index].directives.has("no-store") || held[index].directives.has("must-understand"))
            check(reply, of: held[index], for: request)
        case .validate(_, let fields):
            #expect(fields["If-None-Match"] != nil || fields["If-Modified-Since"] != nil)
        }
    }

    private func check(_ reply: CacheReply, of head: CachedHead, for request: CacheRequest) {
        #expect(reply.body.isEmpty || 0 <= reply.body.lowerBound && reply.body.upperBound <= head.length)
        #expect(reply.head.fields.values(for: "Age").count <= 1)
        if [304, 416].contains(reply.head.status) || request.method == "HEAD" { #expect(reply.body.isEmpty) }
        guard !reply.body.isEmpty, reply.head.status != 206 else { return }
        #expect(reply.body == 0..<head.length)
    }

    // MARK: - Made on purpose

    /// The limit is far more than linear time takes, on a busy machine, too.
    @Test(.timeLimit(.minutes(1))) func manyFieldsTakeLinearTime() throws {
        // 5000 fields are what libcurl lets pass.
        var fields: HeaderFields = ["ETag": "\"v1\"", "Cache-Control": "max-age=0"]
        for index in 0..<5000 { fields.append(name: "f\(index)", value: "1") }
        fields.append(name: "Connection", value: (0..<5000).map { "f\($0)" }.joined(separator: ","))
        let stored = try #require(CacheScenario.stored(fields))
        #expect(stored.fields.count == 3)
        _ = CachePolicy.freshened(
            [stored],
            asked: 0,
            by: CacheScenario.head(fields, status: 304),
            for: CacheScenario.request(),
            requestTime: 0,
            responseTime: 0
        )
    }

    @Test func aServerCannotHideNoStoreBehindConnection() {
        let fields: HeaderFields = ["Connection": "Cache-Control, Vary", "Cache-Control": "no-store"]
        #expect(CacheScenario.stored(fields) == nil)
    }

    @Test func aServerCannotAnswerForAnotherURLByPost() {
        let fields: HeaderFields = ["Cache-Control": "max-age=60", "Content-Location": "//other.test/thing"]
        #expect(CacheScenario.stored(fields, for: CacheScenario.request(method: "POST")) == nil)
    }
}
