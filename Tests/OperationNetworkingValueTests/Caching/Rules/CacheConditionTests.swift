import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The client's own conditions, answered from what is stored (RFC 9111 §4.3.2), and the URLs that an unsafe
/// method invalidates (§4.4).
@Suite struct CacheConditionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let stored: HeaderFields
        let condition: HeaderFields
        let status: Int

        init(_ name: String, _ stored: HeaderFields, _ condition: HeaderFields, _ status: Int) {
            testDescription = name
            self.stored = stored
            self.condition = condition
            self.status = status
        }
    }

    private static func date(_ seconds: Double) -> String { CacheScenario.date(seconds) }
    private static let tagged: HeaderFields = ["ETag": "\"v1\""]
    private static let dated: HeaderFields = ["Last-Modified": date(-100)]

    static let rows = [
        Row("the tag", tagged, ["If-None-Match": "\"v1\""], 304),
        Row("the tag, weak", tagged, ["If-None-Match": "W/\"v1\""], 304),
        Row("a weak tag", ["ETag": "W/\"v1\""], ["If-None-Match": "W/\"v1\""], 304),
        Row("another", tagged, ["If-None-Match": "\"v2\""], 200),
        Row("the first of three", tagged, ["If-None-Match": "\"v1\", \"v2\", \"v3\""], 304),
        Row(
            "the last of three, of several lines",
            tagged,
            ["If-None-Match": "\"v3\",\"v2\"", "If-None-Match": "\"v1\""],
            304
        ),
        Row("a tag with a comma", ["ETag": "\"v,1\""], ["If-None-Match": "\"v\", \"v,1\""], 304),
        Row("a tag with a backslash", ["ETag": "\"v\\\""], ["If-None-Match": "\"v\\\", \"v1\""], 304),
        Row("and one with a comma", ["ETag": "\"v,1\""], ["If-None-Match": "\"v\\\", \"v,1\""], 304),
        Row("a tag beyond ASCII", ["ETag": "\"v\u{e4}\""], ["If-None-Match": "\"v\u{e4}\""], 304),
        Row("any", tagged, ["If-None-Match": "*"], 304),
        Row("any, and no tag", [:], ["If-None-Match": "*"], 304),
        Row("no tag", [:], ["If-None-Match": "\"v1\""], 200),
        Row("without quotes", tagged, ["If-None-Match": "v1"], 200),
        Row("a small w", ["ETag": "W/\"v1\""], ["If-None-Match": "w/\"v1\""], 200),
        Row("nothing", tagged, ["If-None-Match": ""], 200),
        Row("the date", dated, ["If-Modified-Since": date(-100)], 304),
        Row("a later date", dated, ["If-Modified-Since": date(-50)], 304),
        Row("an earlier date", dated, ["If-Modified-Since": date(-101)], 200),
        Row("a date that is none", dated, ["If-Modified-Since": "yesterday"], 200),
        Row("two dates", dated, ["If-Modified-Since": date(0), "If-Modified-Since": date(0)], 200),
        Row("no Last-Modified: since Date", [:], ["If-Modified-Since": date(0)], 304),
        Row("no Last-Modified: before Date", [:], ["If-Modified-Since": date(-1)], 200),
        Row(
            "RFC 9110 §13.2.2 the tag goes before the date",
            ["ETag": "\"v1\"", "Last-Modified": date(-100)],
            ["If-None-Match": "\"v2\"", "If-Modified-Since": date(0)],
            200
        ),
        Row(
            "RFC 9110 §13.2.2 in both directions",
            ["ETag": "\"v1\"", "Last-Modified": date(-100)],
            ["If-None-Match": "\"v1\"", "If-Modified-Since": date(-200)],
            304
        ),
        Row(
            "RFC 9110 §13.2.2 a condition goes before a range",
            tagged,
            ["If-None-Match": "\"v1\"", "Range": "bytes=0-1"],
            304
        ),
        Row(
            "RFC 9110 §13.2.2 and then the range",
            tagged,
            ["If-None-Match": "\"v2\"", "Range": "bytes=0-1"],
            206
        ),
    ]

    @Test(arguments: rows)
    func condition(row: Row) throws {
        var fields = row.stored
        fields["Cache-Control"] = "max-age=60"
        let stored = try #require(CacheScenario.stored(fields))
        let answer = CachePolicy.answer(
            to: CacheScenario.request(row.condition),
            from: [stored],
            now: CacheScenario.start
        )
        #expect(answer.summary == "serve fresh")
        #expect(answer.reply?.head.status == row.status)
        #expect(answer.reply?.body.isEmpty == (row.status == 304))
    }

    @Test func a304HasTheRequiredFields() throws {
        // RFC 9110 §15.4.5.
        let stored = try #require(
            CacheScenario.stored([
                "Cache-Control": "max-age=60", "ETag": "\"v1\"", "Vary": "Foo", "Expires": "0",
                "Content-Location": "/x", "Content-Type": "text/plain", "Content-Length": "10", "X": "1",
            ])
        )
        let reply = CachePolicy.reply(
            stored,
            to: CacheScenario.request(["If-None-Match": "\"v1\""]),
            now: CacheScenario.start,
            source: .cache
        )
        let names = reply.head.fields.fields.map { $0.name }
        #expect(
            names == ["Cache-Control", "ETag", "Vary", "Expires", "Content-Location", "Date", "Age"]
        )
    }

    @Test func aConditionIsForSuccessfulResponses() throws {
        // RFC 9110 §13.2.1.
        let stored = try #require(
            CacheScenario.stored(["Cache-Control": "max-age=60", "ETag": "\"v1\""], status: 404)
        )
        let answer = CachePolicy.answer(
            to: CacheScenario.request(["If-None-Match": "\"v1\""]),
            from: [stored],
            now: CacheScenario.start
        )
        #expect(answer.reply?.head.status == 404)
    }

    @Test func afterValidationTheClientsConditionIsAnswered() throws {
        let stored = try #require(CacheScenario.stored(["Cache-Control": "max-age=0", "ETag": "\"v1\""]))
        let request = CacheScenario.request(["If-None-Match": "\"v1\""])
        let reply = CachePolicy.reply(stored, to: request, now: CacheScenario.start, source: .validated)
        #expect(reply.head.status == 304)
        #expect(reply.source == .validated)
    }

    // MARK: - Invalidation

    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let method: String
        var status = 200
        var fields: HeaderFields = [:]
        let paths: [String]
    }

    private static let here = "/thing"

    static let changes =
        ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "unknown", "get"].flatMap { method in
            [
                Change(testDescription: "\(method)", method: method, paths: [here]),
                Change(testDescription: "\(method), redirected", method: method, status: 303, paths: [here]),
                Change(testDescription: "\(method), refused", method: method, status: 403, paths: []),
                Change(testDescription: "\(method), failed", method: method, status: 500, paths: []),
            ]
        }
        + ["GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "SEARCH", "QUERY", "REPORT"].map { method in
            Change(testDescription: "\(method) is safe", method: method, paths: [])
        } + [
            Change(
                testDescription: "Location and Content-Location",
                method: "POST",
                fields: ["Location": "other#part", "Content-Location": "http://SERVER.test:80/third"],
                paths: [here, "/other", "/third"]
            ),
            Change(
                testDescription: "the same URL again",
                method: "PUT",
                fields: ["Location": "/thing", "Content-Location": ""],
                paths: [here]
            ),
            Change(
                testDescription: "another host, port or scheme",
                method: "POST",
                fields: [
                    "Location": "http://other.test/thing", "Content-Location": "http://server.test:81/x",
                ],
                paths: [here]
            ),
            Change(
                testDescription: "another scheme",
                method: "POST",
                fields: ["Location": "https://server.test/x", "Content-Location": "http://["],
                paths: [here]
            ),
        ]

    @Test("§4.4: unsafe methods that succeed, at their own origin", arguments: changes)
    func invalidation(row: Change) {
        let urls = CachePolicy.invalidated(
            by: CacheScenario.request(method: row.method),
            CacheScenario.head(row.fields, status: row.status)
        )
        #expect(urls == row.paths.map { "http://server.test" + $0 })
    }
}
