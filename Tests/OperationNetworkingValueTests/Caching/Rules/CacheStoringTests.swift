import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Each row is a response, and whether it is stored (RFC 9111 §3).
@Suite struct CacheStoringTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fields: HeaderFields
        var status = 200
        var method = "GET"
        var asked: HeaderFields = [:]
        let isStored: Bool

        init(
            _ name: String,
            _ fields: HeaderFields,
            _ isStored: Bool,
            status: Int = 200,
            method: String = "GET",
            asked: HeaderFields = [:]
        ) {
            testDescription = name
            self.fields = fields
            self.isStored = isStored
            self.status = status
            self.method = method
            self.asked = asked
        }
    }

    private static let fresh: HeaderFields = ["Cache-Control": "max-age=60"]

    private static func withDirectives(_ count: Int) -> HeaderFields {
        let others = String(repeating: ",x", count: count - 2)
        return ["Cache-Control": "max-age=60, must-understand\(others)"]
    }

    static let directives = [
        Row("§3 a 200 without a word", [:], true),
        Row("§5.2.2.5 no-store", ["Cache-Control": "no-store"], false),
        Row("§5.2.2.5 in any case", ["Cache-Control": "No-StOrE"], false),
        Row(
            "§5.2.2.5 beside max-age and Expires",
            ["Cache-Control": "max-age=60, no-store", "Expires": CacheScenario.date(60)],
            false
        ),
        Row(
            "§5.2.2.5 on a second line",
            ["Cache-Control": "max-age=60", "Cache-Control": "no-store"],
            false
        ),
        Row(
            "§5.2.2.5 perhaps, behind more directives than are read",
            withDirectives(257),
            false
        ),
        Row(
            "§3 as many directives as are read",
            withDirectives(256),
            true
        ),
        Row(
            "§5.2.2.3 must-understand of a status that is",
            ["Cache-Control": "max-age=60, no-store, must-understand"],
            true
        ),
        Row(
            "§5.2.2.3 of one that is not",
            ["Cache-Control": "max-age=60, no-store, must-understand"],
            false,
            status: 599
        ),
        Row(
            "§5.2.2.3 without no-store",
            ["Cache-Control": "max-age=60, must-understand"],
            false,
            status: 599
        ),
        Row("§5.2.2.4 no-cache", ["Cache-Control": "no-cache"], true),
        Row("§5.2.2.7 private", ["Cache-Control": "private"], true, status: 403),
        Row("§5.2.2.7 private=\"x\"", ["Cache-Control": "private=\"x\", max-age=60"], true),
        Row("§5.2.2.9 public", ["Cache-Control": "public"], true, status: 403),
        Row("§5.2.2.10 s-maxage is for shared caches", ["Cache-Control": "s-maxage=60"], false, status: 403),
        Row("§5.2.1.5 no-store of the request", fresh, false, asked: ["Cache-Control": "no-store"]),
        Row("§5.2.1.4 no-cache of the request", fresh, true, asked: ["Cache-Control": "no-cache"]),
        Row("§7.3 Set-Cookie", ["Cache-Control": "max-age=60", "Set-Cookie": "a=b"], true),
        Row("§4.1 Vary: *", ["Cache-Control": "max-age=60", "Vary": "*"], false),
        Row("§4.1 Vary: a, *", ["Cache-Control": "max-age=60", "Vary": "a, *"], false),
        Row("§4.1 Vary: *, a", ["Cache-Control": "max-age=60", "Vary": "*, a"], false),
        Row("§4.1 * on a second line", ["Cache-Control": "max-age=60", "Vary": "", "Vary": "*"], false),
        Row("§4.1 Vary with what is no name", ["Cache-Control": "max-age=60", "Vary": "a b"], false),
    ]

    @Test(arguments: directives)
    func byDirective(row: Row) {
        check(row)
    }

    static let methods = [
        Row("§3 HEAD has no body to keep", fresh, false, method: "HEAD"),
        Row("§3 PUT", fresh, false, method: "PUT"),
        Row("§3 OPTIONS", fresh, false, method: "OPTIONS"),
        Row("§3 a method in another case", fresh, false, method: "get"),
        Row("RFC 9110 §9.3.3 POST", fresh, false, method: "POST"),
        Row(
            "RFC 9110 §9.3.3 POST at this URL",
            ["Cache-Control": "max-age=60", "Content-Location": "/thing"],
            true,
            method: "POST"
        ),
        Row(
            "RFC 9110 §9.3.3 POST at another",
            ["Cache-Control": "max-age=60", "Content-Location": "/other"],
            false,
            method: "POST"
        ),
        Row(
            "RFC 9110 §9.3.3 POST without a lifetime",
            ["Content-Location": "/thing", "Cache-Control": "public"],
            false,
            method: "POST"
        ),
        Row(
            "RFC 9110 §9.3.3 POST that failed",
            ["Cache-Control": "max-age=60", "Content-Location": "/thing"],
            false,
            status: 500,
            method: "POST"
        ),
    ]

    @Test(arguments: methods)
    func byMethod(row: Row) {
        check(row)
    }

    static let statuses =
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map {
            Row("RFC 9110 §15.1 \($0)", [:], true, status: $0)
        }
        + [201, 202, 299, 302, 303, 307, 400, 403, 499, 500, 502, 503, 504, 599].flatMap {
            [
                Row("§3 \($0) without a word", ["Last-Modified": CacheScenario.date(-60)], false, status: $0),
                Row("§3 \($0) with max-age", fresh, true, status: $0),
                Row("§3 \($0) with Expires", ["Expires": "0"], true, status: $0),
            ]
        }
        + [100, 103, 199, 304, 401, 407, 408, 412, 416, 421, 425, 428, 429, 431, 511, 0, 99, 600, -1].map {
            Row("never \($0)", ["Cache-Control": "public, max-age=60"], false, status: $0)
        }

    @Test(arguments: statuses)
    func byStatus(row: Row) {
        check(row)
    }

    private func check(_ row: Row) {
        let request = CacheScenario.request(row.asked, method: row.method)
        let stored = CachePolicy.stored(
            CacheScenario.head(row.fields, status: row.status),
            for: request,
            requestTime: 0,
            responseTime: 0
        )
        #expect((stored != nil) == row.isStored)
    }

    // MARK: - Fields

    @Test func fieldsOfTheConnectionAreNotStored() throws {
        // RFC 9111 §3.1, RFC 9110 §7.6.1.
        let stored = try #require(
            CacheScenario.stored([
                "Connection": "a, close", "a": "1", "b": "2", "Keep-Alive": "x", "Proxy-Connection": "x",
                "Proxy-Authenticate": "x", "Proxy-Authentication-Info": "x", "Proxy-Authorization": "x",
                "TE": "x", "Trailer": "x", "Transfer-Encoding": "chunked", "Upgrade": "x",
                // Of one exchange: RFC 7616 §3.5.
                "Authentication-Info": "x", "Set-Cookie": "c=d",
                "Content-MD5": "x", "Clear-Site-Data": "x",
            ])
        )
        let names = stored.fields.fields.map { $0.name }
        #expect(names == ["b", "Set-Cookie", "Content-MD5", "Clear-Site-Data", "Date"])
    }

    @Test(arguments: ["Cache-Control", "Vary", "Expires", "Age", "Date", "ETag", "Last-Modified", "Pragma"])
    func connectionTakesNoFieldAwayThatLimitsTheUse(name: String) throws {
        let stored = try #require(CacheScenario.stored(["Connection": name, name: "x"]))
        #expect(stored.fields[name] == "x")
    }

    @Test func aResponseWithoutADateGetsOne() throws {
        // RFC 9110 §6.6.1.
        let stored = try #require(
            CachePolicy.stored(
                CacheScenario.head([:]),
                for: CacheScenario.request(),
                requestTime: CacheScenario.start,
                responseTime: CacheScenario.start + 1.5
            )
        )
        #expect(stored.fields["Date"] == CacheScenario.date(1))
    }

    @Test func aRequestWithABodyBypassesTheCache() throws {
        var request = CacheScenario.request()
        request.hasBody = true
        let head = CacheScenario.head(Self.fresh)
        #expect(CachePolicy.stored(head, for: request, requestTime: 0, responseTime: 0) == nil)
        let stored = try #require(CacheScenario.stored(Self.fresh))
        let answer = CachePolicy.answer(to: request, from: [stored], now: CacheScenario.start)
        #expect(answer.summary == "fetch")
    }

    @Test(arguments: [Double.nan, .infinity])
    func anInvalidTimeStoresNothing(time: Double) {
        let (policy, request, head) = (
            CachePolicy.self, CacheScenario.request(), CacheScenario.head(Self.fresh)
        )
        #expect(policy.stored(head, for: request, requestTime: time, responseTime: 0) == nil)
        #expect(policy.stored(head, for: request, requestTime: 0, responseTime: time) == nil)
    }

    // MARK: - Keys

    static let urls = [
        ("HTTP://Server.test:80/a#part", "http://server.test/a"),
        ("https://user:secret@server.test", "https://server.test/"),
        ("https://server.test:443/a?b=c", "https://server.test/a?b=c"),
        ("http://server.test:8080/a%2Fb", "http://server.test:8080/a%2Fb"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("http://server.test?b", "http://server.test/?b"),
    ]

    @Test("RFC 9110 §4.2.3: one resource has one key", arguments: urls)
    func key(row: (url: String, text: String)) throws {
        #expect(CacheScenario.request(url: row.url).key.url == row.text)
    }

    @Test func anotherQueryIsAnotherKey() {
        let one = CacheScenario.request(url: "http://server.test/a?b=1").key
        let other = CacheScenario.request(url: "http://server.test/a?b=2").key
        #expect(one != other)
        #expect(one != CacheKey(url: one.url, partition: "pinned"))
    }

    @Test func ticketsIdentifyNoUser() {
        let alice = Credential(user: "alice", password: "s3cret")
        func asked(_ credential: Credential?) -> CacheRequest {
            var request = TransferRequest.plain(URL(fileURLWithPath: "/"))
            request.credential = credential
            return CacheRequest(request)
        }
        let (one, other) = (asked(.systemTickets), asked(.systemTickets))
        #expect(one.identity != nil && one.identity != other.identity)
        #expect(one.sharing == nil && asked(alice).sharing != nil)
        #expect(!one.isIdentityKnown && asked(alice).isIdentityKnown && asked(nil).isIdentityKnown)
    }

    /// Another process, or a later kinit(1), may be another user.
    @Test(arguments: ["max-age=60", "max-age=60, private", "max-age=60, public"])
    func whatTicketsHaveOpenedIsNotStored(control: String) {
        var request = CacheScenario.request(identity: "tickets")
        request.isIdentityKnown = false
        #expect(CacheScenario.stored(["Cache-Control": control], for: request) == nil)
        request.isIdentityKnown = true
        #expect(CacheScenario.stored(["Cache-Control": control], for: request) != nil)
    }
}
