import Testing

@testable import OperationNetworking

/// Responses that are completed by range (RFC 9111 §3.3, §3.4).
@Suite struct CacheJoiningTests {
    /// The first four bytes of ten.
    private static func beginning(
        _ fields: HeaderFields = ["ETag": "\"v1\""],
        for request: CacheRequest = CacheScenario.request()
    ) throws -> CachedHead {
        var all = fields
        if all["Content-Length"] == nil { all["Content-Length"] = "10" }
        return try #require(CacheScenario.stored(all, for: request, length: 4, isWhole: false))
    }

    private static func answer(
        _ stored: [CachedHead],
        _ fields: HeaderFields = [:],
        method: String = "GET"
    ) -> CacheAnswer {
        let request = CacheScenario.request(fields, method: method)
        return CachePolicy().answer(to: request, from: stored, now: CacheScenario.start + 9999)
    }

    @Test func theRestIsAskedForIfItIsOfTheSameVersion() throws {
        let answer = Self.answer([try Self.beginning()], ["A": "1"])
        #expect(answer.summary == "complete 4..<10")
        #expect(answer.fields == ["A": "1", "Range": "bytes=4-", "If-Range": "\"v1\""])
    }

    @Test func aStrongDateNamesAVersion() throws {
        let date = CacheScenario.date(-60)
        let answer = Self.answer([try Self.beginning(["Last-Modified": date])])
        #expect(answer.fields == ["Range": "bytes=4-", "If-Range": date])
    }

    @Test func theLengthNeedNotBeKnown() throws {
        let stored = try #require(CacheScenario.stored(["ETag": "\"v1\""], length: 4, isWhole: false))
        #expect(Self.answer([stored]).summary == "complete 4..<\(Int64.max)")
    }

    static let others: [(HeaderFields, String)] = [
        (["Range": "bytes=0-"], "GET"), (["Range": "bytes=2-9"], "GET"), (["If-Range": "\"v1\""], "GET"),
        (["If-None-Match": "\"v1\""], "GET"), (["If-Modified-Since": "0"], "GET"), ([:], "HEAD"),
        (["Cache-Control": "no-store"], "GET"), (["If-Match": "\"v1\""], "GET"),
    ]

    @Test("a request of another kind is sent as it is", arguments: others)
    func otherRequests(row: (fields: HeaderFields, method: String)) throws {
        #expect(Self.answer([try Self.beginning()], row.fields, method: row.method).summary == "fetch")
    }

    @Test func onlyABeginningIsCompleted() throws {
        var stored = try Self.beginning()
        stored.body.range = 4..<8
        #expect(Self.answer([stored]).summary == "fetch")
        stored.body.range = 0..<10
        #expect(Self.answer([stored]).summary == "fetch")
        stored.body.range = 0..<0
        #expect(Self.answer([stored]).summary == "fetch")
    }

    @Test func aVariantOfAnotherRequestIsNotCompleted() throws {
        let stored = try Self.beginning(
            ["ETag": "\"v1\"", "Vary": "Foo"],
            for: CacheScenario.request(["Foo": "1"])
        )
        #expect(Self.answer([stored], ["Foo": "1"]).summary == "complete 4..<10")
        #expect(Self.answer([stored], ["Foo": "2"]).summary == "fetch")
    }

    /// The rest would be another asker's, and could not be joined.
    @Test func aBeginningOfAnotherAskerIsNotCompleted() throws {
        let stored = try Self.beginning(
            ["ETag": "\"v1\"", "Cache-Control": "public"],
            for: CacheScenario.request(authorization: "a")
        )
        func answer(to authorization: String) -> String {
            let request = CacheScenario.request(authorization: authorization)
            return CachePolicy().answer(to: request, from: [stored], now: CacheScenario.start).summary
        }
        #expect(answer(to: "a") == "complete 4..<10")
        #expect(answer(to: "b") == "fetch")
    }

    @Test func aCompleteResponseGoesBeforeABeginning() throws {
        let whole = try #require(CacheScenario.stored(["Cache-Control": "max-age=99999", "ETag": "\"v0\""]))
        #expect(Self.answer([try Self.beginning(), whole]).summary == "serve fresh")
    }

    @Test func onlyStoredIsWantedAndOnlyABeginningThere() throws {
        #expect(
            Self.answer([try Self.beginning()], ["Cache-Control": "only-if-cached"]).summary == "unavailable"
        )
    }

    // MARK: - Joining

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let stored: HeaderFields
        let range: String
        let part: HeaderFields
        let result: String

        init(
            _ name: String,
            at range: String = "bytes 4-9/10",
            stored: HeaderFields = ["ETag": "\"v1\""],
            part: HeaderFields = ["ETag": "\"v1\""],
            _ result: String
        ) {
            testDescription = name
            self.stored = stored
            self.range = range
            self.part = part
            self.result = result
        }
    }

    private static let modified = CacheScenario.date(-60)

    static let rows = [
        Row("the rest", "append 0..<10"),
        Row("some of the rest", at: "bytes 4-6/10", "append 0..<7"),
        Row("the rest of what length, it does not say", at: "bytes 4-9/*", "append 0..<10"),
        Row(
            "by a strong date",
            stored: ["Last-Modified": modified],
            part: ["Last-Modified": modified],
            "append 0..<10"
        ),
        Row("of another tag", part: ["ETag": "\"v2\""], "replace"),
        Row("without a tag", part: [:], "replace"),
        Row("of a weak tag", part: ["ETag": "W/\"v1\""], "replace"),
        Row(
            "of another date",
            stored: ["Last-Modified": modified],
            part: ["Last-Modified": CacheScenario.date(-61)],
            "replace"
        ),
        Row("of another length", at: "bytes 4-10/11", "replace"),
        Row("of another coding", part: ["ETag": "\"v1\"", "Content-Encoding": "gzip"], "replace"),
        Row("of another variant", part: ["ETag": "\"v1\"", "Vary": "Foo"], "replace"),
        Row("behind a gap, and longer", at: "bytes 5-9/10", "replace"),
        Row("behind a gap, and shorter", at: "bytes 7-9/10", "refuse"),
        Row("of bytes that are held", at: "bytes 2-3/10", "refuse"),
        Row("of bytes that are held, and more", at: "bytes 2-9/10", "replace"),
    ]

    @Test("§3.4, RFC 9110 §15.3.7.3", arguments: rows)
    func joining(row: Row) throws {
        let asking = CacheScenario.request(["Foo": "1"])
        var fields = row.part
        fields["Content-Range"] = row.range
        fields["Date"] = CacheScenario.date(0)
        // As the head came, before its body.
        let part = CachePolicy().stored(
            CacheScenario.head(fields, status: 206),
            for: asking,
            requestTime: CacheScenario.start,
            responseTime: CacheScenario.start
        )
        let stored = try Self.beginning(row.stored)
        switch CachePolicy().joining(stored, try #require(part)) {
        case .append(let head): #expect("append \(head.body.range)" == row.result)
        case .replace: #expect(row.result == "replace")
        case .refuse: #expect(row.result == "refuse")
        }
    }

    @Test func theJoinedResponseIsCompleteAndHasTheNewFields() throws {
        let policy = CachePolicy()
        let stored = try Self.beginning([
            "ETag": "\"v1\"", "A": "old", "B": "kept", "Cache-Control": "max-age=1",
        ])
        let part = try #require(
            policy.stored(
                CacheScenario.head(
                    [
                        "ETag": "\"v1\"", "A": "new", "Content-Range": "bytes 4-9/10", "Content-Length": "6",
                        "Cache-Control": "max-age=60",
                    ],
                    status: 206
                ),
                for: CacheScenario.request(),
                requestTime: CacheScenario.start + 100,
                responseTime: CacheScenario.start + 100
            )
        )
        guard case .append(let joined) = policy.joining(stored, part) else {
            Issue.record("not appended")
            return
        }
        #expect(joined.ended(at: 8, isWhole: false)?.body.isComplete == false)
        let whole = try #require(joined.ended(at: 10, isWhole: true))
        #expect(whole.body == CachedExtent(range: 0..<10, completeLength: 10, isComplete: true))
        #expect(whole.head.status == 200)
        #expect(whole.fields["Content-Range"] == nil)
        #expect(whole.fields["Content-Length"] == "10")
        #expect(whole.fields["A"] == "new" && whole.fields["B"] == "kept")
        let answer = policy.answer(to: CacheScenario.request(), from: [whole], now: CacheScenario.start + 159)
        #expect(answer.summary == "serve fresh")
    }

    @Test func theEndOfAPartIsNotTheEndOfAWholeOfUnknownLength() throws {
        let policy = CachePolicy()
        let stored = try #require(CacheScenario.stored(["ETag": "\"v1\""], length: 4, isWhole: false))
        func join(_ range: String) throws -> CachedHead {
            let part = policy.stored(
                CacheScenario.head(["ETag": "\"v1\"", "Content-Range": range], status: 206),
                for: CacheScenario.request(),
                requestTime: CacheScenario.start,
                responseTime: CacheScenario.start
            )
            guard case .append(let joined) = policy.joining(stored, try #require(part)) else {
                throw ResumeError.malformedContentRange(range)
            }
            return try #require(joined.ended(at: 10, isWhole: true))
        }
        #expect(try !join("bytes 4-9/*").body.isComplete)
        #expect(try join("bytes 4-9/10").body.isComplete)
        let answer = policy.answer(
            to: CacheScenario.request(),
            from: [try join("bytes 4-9/*")],
            now: CacheScenario.start
        )
        #expect(answer.summary == "complete 10..<\(Int64.max)")
    }

    @Test(arguments: [("bytes 4-9/10", 6), ("bytes 10-19/*", 10), ("bytes 0-9/10", 10)])
    func aCompleteResponseIsNotJoined(row: (range: String, length: Int64)) throws {
        let whole = try #require(CacheScenario.stored(["ETag": "\"v1\""]))
        let part = try #require(
            CacheScenario.stored(
                ["ETag": "\"v1\"", "Content-Range": row.range],
                status: 206,
                length: row.length,
                isWhole: false
            )
        )
        guard case .refuse = CachePolicy().joining(whole, part) else {
            Issue.record("not refused")
            return
        }
        guard case .replace = CachePolicy().joining(part, whole) else {
            Issue.record("not replaced")
            return
        }
    }

    @Test func partsOfTwoUsersAreNotJoined() throws {
        var stored = try Self.beginning()
        stored.authorization = "another"
        let part = try #require(
            CacheScenario.stored(
                ["ETag": "\"v1\"", "Content-Range": "bytes 4-9/10"],
                status: 206,
                length: 6
            )
        )
        guard case .replace = CachePolicy().joining(stored, part) else {
            Issue.record("not replaced")
            return
        }
    }
}
