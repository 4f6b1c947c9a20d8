import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The questions that validate a stored response (RFC 9111 §4.3.1), and their answers (§4.3.4, §4.3.5).
@Suite struct CacheValidationTests {
    private static let modified = CacheScenario.date(-1000)

    struct Question: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fields: HeaderFields
        var asked: HeaderFields = [:]
        /// `nil`: no question, the request is sent as it is.
        let sent: HeaderFields?

        init(_ name: String, _ fields: HeaderFields, asked: HeaderFields = [:], sends sent: HeaderFields?) {
            testDescription = name
            self.fields = fields
            self.asked = asked
            self.sent = sent
        }
    }

    static let questions = [
        Question("a tag", ["ETag": "\"v1\""], sends: ["If-None-Match": "\"v1\""]),
        Question("a weak tag", ["ETag": "W/\"v1\""], sends: ["If-None-Match": "W/\"v1\""]),
        Question("a date", ["Last-Modified": modified], sends: ["If-Modified-Since": modified]),
        Question(
            "both",
            ["ETag": "\"v1\"", "Last-Modified": modified],
            sends: ["If-None-Match": "\"v1\"", "If-Modified-Since": modified]
        ),
        Question(
            "a date as it came",
            ["Last-Modified": "tue, 01 SEP 2026 00:00:00 gmt"],
            sends: ["If-Modified-Since": "tue, 01 SEP 2026 00:00:00 gmt"]
        ),
        Question("no validator", [:], sends: nil),
        Question("a tag without quotes", ["ETag": "v1"], sends: nil),
        Question("two tags that differ", ["ETag": "\"v1\"", "ETag": "\"v2\""], sends: nil),
        Question("a date that is none", ["Last-Modified": "yesterday"], sends: nil),
        Question(
            "with the request's fields",
            ["ETag": "\"v1\"", "Vary": "Foo"],
            asked: ["Foo": "1", "Bar": "2"],
            sends: ["Foo": "1", "Bar": "2", "If-None-Match": "\"v1\""]
        ),
        Question(
            "the client's tag is ours",
            ["ETag": "\"v1\""],
            asked: ["If-None-Match": "\"v0\", W/\"v1\""],
            sends: ["If-None-Match": "\"v1\""]
        ),
        Question(
            "the client's tag is another",
            ["ETag": "\"v1\""],
            asked: ["If-None-Match": "\"v0\""],
            sends: nil
        ),
        Question(
            "the client has any",
            ["ETag": "\"v1\""],
            asked: ["If-None-Match": "*"],
            sends: ["If-None-Match": "\"v1\""]
        ),
        Question(
            "the client's date is ours",
            ["Last-Modified": modified],
            asked: ["If-Modified-Since": modified],
            sends: ["If-Modified-Since": modified]
        ),
        Question(
            "the client's date is older",
            ["Last-Modified": modified],
            asked: ["If-Modified-Since": CacheScenario.date(-2000)],
            sends: nil
        ),
        Question(
            "a range, and a tag",
            ["ETag": "\"v1\"", "Last-Modified": modified],
            asked: ["Range": "bytes=0-1"],
            sends: ["Range": "bytes=0-1", "If-None-Match": "\"v1\""]
        ),
    ]

    @Test("§4.3.1", arguments: questions)
    func question(row: Question) throws {
        var fields = row.fields
        fields["Cache-Control"] = "max-age=0"
        let request = CacheScenario.request(row.asked)
        var whole = request
        whole.fields["Range"] = nil
        let stored = try #require(CacheScenario.stored(fields, for: whole))
        let answer = CachePolicy.answer(to: request, from: [stored], now: CacheScenario.start)
        #expect(answer.fields == row.sent)
        #expect(answer.summary == (row.sent == nil ? "fetch" : "validate"))
    }

    @Test func aRevalidatingPolicyAsksIntermediateCaches() throws {
        let stored = try #require(CacheScenario.stored(["Cache-Control": "max-age=60", "ETag": "\"v1\""]))
        let request = CacheScenario.request(policy: .reloadRevalidatingCacheData)
        let answer = CachePolicy.answer(to: request, from: [stored], now: CacheScenario.start)
        #expect(answer.fields == ["Cache-Control": "max-age=0", "If-None-Match": "\"v1\""])
    }

    static let outgoing: [(URLRequest.CachePolicy, HeaderFields, HeaderFields)] = [
        (.useProtocolCachePolicy, ["A": "1"], ["A": "1"]),
        (.reloadIgnoringLocalCacheData, [:], [:]),
        (.reloadIgnoringLocalAndRemoteCacheData, [:], ["Cache-Control": "no-cache", "Pragma": "no-cache"]),
        (.reloadIgnoringLocalAndRemoteCacheData, ["Cache-Control": "x"], ["Cache-Control": "x"]),
        (
            .reloadIgnoringLocalAndRemoteCacheData, ["Pragma": "x"],
            ["Pragma": "x", "Cache-Control": "no-cache"]
        ),
        (.returnCacheDataElseLoad, [:], [:]),
        (.reloadRevalidatingCacheData, [:], ["Cache-Control": "max-age=0"]),
    ]

    @Test(arguments: outgoing)
    func fieldsOfAPolicy(row: (policy: URLRequest.CachePolicy, fields: HeaderFields, sent: HeaderFields)) {
        #expect(CacheScenario.request(row.fields, policy: row.policy).fieldsToSend == row.sent)
    }

    @Test func theBackgroundRequestHasOurOwnConditions() throws {
        // RFC 5861 §3: the client's condition and range have had their answer.
        let stored = try #require(
            CacheScenario.stored(["Cache-Control": "max-age=0, stale-while-revalidate=60", "ETag": "\"v1\""])
        )
        let request = CacheScenario.request([
            "Range": "bytes=0-1", "If-Range": "\"v1\"", "If-None-Match": "\"v0\"", "A": "1",
        ])
        let answer = CachePolicy.answer(to: request, from: [stored], now: CacheScenario.start)
        #expect(answer.reply?.revalidation == ["A": "1", "If-None-Match": "\"v1\""])
        #expect(answer.reply?.head.status == 206)
    }

    // MARK: - 304

    struct Confirmation: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let stored: HeaderFields
        let confirming: HeaderFields
        let isSame: Bool

        init(_ name: String, _ stored: HeaderFields, _ confirming: HeaderFields, _ isSame: Bool) {
            testDescription = name
            self.stored = stored
            self.confirming = confirming
            self.isSame = isSame
        }
    }

    static let confirmations = [
        Confirmation("the tag", ["ETag": "\"v1\""], ["ETag": "\"v1\""], true),
        Confirmation("another tag", ["ETag": "\"v1\""], ["ETag": "\"v2\""], false),
        Confirmation(
            "another tag, the same date",
            ["ETag": "\"v1\"", "Last-Modified": modified],
            ["ETag": "\"v2\"", "Last-Modified": modified],
            false
        ),
        Confirmation("a tag that has become weak", ["ETag": "\"v1\""], ["ETag": "W/\"v1\""], true),
        Confirmation("no tag", ["ETag": "\"v1\""], [:], true),
        Confirmation(
            "no tag, another date",
            ["ETag": "\"v1\"", "Last-Modified": modified],
            ["Last-Modified": CacheScenario.date(-5)],
            true
        ),
        Confirmation("a tag that is none", ["ETag": "\"v1\""], ["ETag": "v1"], false),
        Confirmation("the same that is no tag", ["ETag": "v1"], ["ETag": "v1"], true),
        Confirmation("the same, weak with a small w", ["ETag": "w/\"v1\""], ["ETag": "w/\"v1\""], true),
        Confirmation("another that is no tag", ["ETag": "v1"], ["ETag": "v2"], false),
        Confirmation("one that has come to be a tag", ["ETag": "v1"], ["ETag": "\"v1\""], false),
        Confirmation("the same and another, no tags", ["ETag": "v"], ["ETag": "v", "ETag": "w"], false),
        Confirmation("octets that were not UTF-8", ["ETag": "\u{FFFD}"], ["ETag": "\u{FFFD}"], false),
        Confirmation("letters that Unicode takes for equal", ["ETag": "\u{E9}"], ["ETag": "e\u{301}"], false),
        Confirmation("two tags", ["ETag": "\"v1\""], ["ETag": "\"v1\"", "ETag": "\"v2\""], false),
        Confirmation("the date", ["Last-Modified": modified], ["Last-Modified": modified], true),
        Confirmation(
            "another date",
            ["Last-Modified": modified],
            ["Last-Modified": CacheScenario.date(-5)],
            false
        ),
        Confirmation("no date", ["Last-Modified": modified], [:], true),
        Confirmation(
            "a new tag, the same date",
            ["Last-Modified": modified],
            ["ETag": "\"v1\"", "Last-Modified": modified],
            true
        ),
        Confirmation("a new tag, no date", ["Last-Modified": modified], ["ETag": "\"v1\""], false),
    ]

    @Test("§4.3.4: which 304 confirms which stored response", arguments: confirmations)
    func confirmation(row: Confirmation) throws {
        let stored = try #require(CacheScenario.stored(row.stored))
        #expect(Self.freshened([stored], by: row.confirming).count == (row.isSame ? 1 : 0))
    }

    private static func freshened(
        _ stored: [CachedHead],
        asked: Int = 0,
        by fields: HeaderFields,
        status: Int = 304,
        request: CacheRequest = CacheScenario.request()
    ) -> [(index: Int, head: CachedHead)] {
        CachePolicy.freshened(
            stored,
            asked: asked,
            by: CacheScenario.head(fields, status: status),
            for: request,
            requestTime: CacheScenario.start + 100,
            responseTime: CacheScenario.start + 101
        )
    }

    @Test func fieldsOfA304ReplaceTheStoredOnes() throws {
        // RFC 9111 §3.2.
        let stored = try #require(
            CacheScenario.stored([
                "ETag": "\"v1\"", "Cache-Control": "max-age=1", "A": "old", "B": "kept", "a": "old too",
                "Content-Length": "10", "Content-Encoding": "gzip", "Content-Type": "text/plain", "Age": "9",
                "Set-Cookie": "a=b",
            ])
        )
        let head = try #require(
            Self.freshened(
                [stored],
                by: [
                    "ETag": "\"v1\"", "Cache-Control": "max-age=60", "a": "new", "A": "newer", "C": "added",
                    "Content-Length": "0", "Content-Encoding": "br", "Content-Range": "bytes 0-1/2",
                    "Content-Type": "text/html", "Connection": "D", "D": "hop", "Set-Cookie": "a=c",
                ]
            ).first?.head
        )
        #expect(head.fields["Cache-Control"] == "max-age=60")
        #expect(head.fields.values(for: "A") == ["new", "newer"])
        #expect(head.fields["B"] == "kept")
        #expect(head.fields["C"] == "added")
        #expect(head.fields["Content-Type"] == "text/html")
        #expect(head.fields["Set-Cookie"] == "a=c")
        #expect(head.fields["Content-Length"] == "10")
        #expect(head.fields["Content-Encoding"] == "gzip")
        #expect(head.fields["Content-Range"] == nil)
        #expect(head.fields["D"] == nil && head.fields["Connection"] == nil)
        #expect(head.fields["Age"] == nil)
        #expect(head.fields["Date"] == CacheScenario.date(101))
        #expect(head.head.status == 200 && head.length == stored.length)
        let reply = CachePolicy.reply(
            head,
            to: CacheScenario.request(),
            now: CacheScenario.start + 101,
            source: .validated
        )
        #expect(reply.head.fields["Age"] == nil)
        let answer = CachePolicy.answer(
            to: CacheScenario.request(),
            from: [head],
            now: CacheScenario.start + 159
        )
        #expect(answer.reply?.source == .cache)
    }

    @Test func anAgeOfTheConfirmationCounts() throws {
        let stored = try #require(CacheScenario.stored(["ETag": "\"v1\""]))
        let fields: HeaderFields = [
            "Age": "50", "Cache-Control": "max-age=60", "Date": CacheScenario.date(51),
        ]
        let head = try #require(Self.freshened([stored], by: fields).first?.head)
        let (policy, request) = (CachePolicy.self, CacheScenario.request())
        let reply = policy.reply(head, to: request, now: CacheScenario.start + 101, source: .validated)
        #expect(reply.head.fields["Age"] == "51")
        #expect(
            policy.answer(to: request, from: [head], now: CacheScenario.start + 110).summary == "validate"
        )
    }

    @Test func a304FreshensAllThatHaveItsStrongTagAndAnswerTheRequest() throws {
        // RFC 9111 §4.3.4.
        let request = CacheScenario.request(["Foo": "1"])
        func stored(_ foo: String, _ tag: String) throws -> CachedHead {
            try #require(
                CacheScenario.stored(["Vary": "Foo", "ETag": tag], for: CacheScenario.request(["Foo": foo]))
            )
        }
        var other = try stored("1", "\"v1\"")
        other.identity = "another user"
        let all = [
            try stored("2", "\"v1\""), try stored("1", "\"v1\""), try stored("3", "\"v3\""),
            try stored("1", "\"v1\""), other,
        ]
        // The fourth answers the request, too; the first and the last are another variant and another user's.
        #expect(
            Self.freshened(all, asked: 1, by: ["ETag": "\"v1\""], request: request).map(\.index) == [1, 3]
        )
        #expect(Self.freshened(all, asked: 1, by: ["ETag": "W/\"v1\""], request: request).map(\.index) == [1])
        #expect(Self.freshened(all, asked: 1, by: ["ETag": "\"v3\""], request: request).isEmpty)
    }

    @Test func confirmationEndsAnInvalidation() throws {
        var stored = try #require(CacheScenario.stored(["ETag": "\"v1\"", "Cache-Control": "max-age=60"]))
        stored.isInvalidated = true
        #expect(Self.freshened([stored], by: [:]).first?.head.isInvalidated == false)
    }

    @Test func nothingElseFreshens() throws {
        let stored = try #require(CacheScenario.stored(["ETag": "\"v1\""]))
        #expect(Self.freshened([stored], by: [:], status: 200).isEmpty)
        #expect(Self.freshened([stored], asked: 1, by: [:]).isEmpty)
        #expect(Self.freshened([], by: [:]).isEmpty)
    }

    @Test func aConfirmationWithNoStoreEndsTheUse() throws {
        // RFC 9111 §5.2.2.5: this once, and never again.
        let stored = try #require(CacheScenario.stored(["ETag": "\"v1\"", "Cache-Control": "max-age=60"]))
        let head = try #require(Self.freshened([stored], by: ["Cache-Control": "no-store"]).first?.head)
        let answer = CachePolicy.answer(to: CacheScenario.request(), from: [head], now: CacheScenario.start)
        #expect(answer.summary == "fetch")
    }

    @Test func aConfirmationMayNameOtherFieldsInVary() throws {
        let request = CacheScenario.request(["Foo": "1", "Bar": "2"])
        let stored = try #require(CacheScenario.stored(["Vary": "Foo", "ETag": "\"v1\""], for: request))
        let fields: HeaderFields = ["Vary": "Bar"]
        let head = try #require(Self.freshened([stored], by: fields, request: request).first?.head)
        #expect(head.selecting == ["bar": "2"])
    }

    // MARK: - HEAD

    static let heads = [
        Confirmation("the same validators", ["ETag": "\"v1\""], ["ETag": "\"v1\""], true),
        Confirmation("another tag", ["ETag": "\"v1\""], ["ETag": "\"v2\""], false),
        Confirmation("the same that is no tag", ["ETag": "v1"], ["ETag": "v1"], true),
        Confirmation("another that is no tag", ["ETag": "v1"], ["ETag": "v2"], false),
        Confirmation("a tag that is new", [:], ["ETag": "\"v1\""], false),
        Confirmation(
            "another date",
            ["Last-Modified": modified],
            ["Last-Modified": CacheScenario.date(-5)],
            false
        ),
        Confirmation("the same length", [:], ["Content-Length": "10"], true),
        Confirmation("another length", [:], ["Content-Length": "11"], false),
        Confirmation(
            "a length of another coding",
            [:],
            ["Content-Length": "11", "Content-Encoding": "gzip"],
            true
        ),
        Confirmation("nothing", [:], [:], true),
    ]

    @Test("§4.3.5: a HEAD updates or invalidates", arguments: heads)
    func head(row: Confirmation) throws {
        let stored = try #require(CacheScenario.stored(row.stored))
        var fields = row.confirming
        fields["Cache-Control"] = "max-age=600"
        fields["A"] = "new"
        let result = Self.updated([stored], byHEAD: fields)
        #expect(result.invalidated == (row.isSame ? [] : [0]))
        #expect(result.updated.first?.1.fields["A"] == (row.isSame ? "new" : nil))
        guard let head = result.updated.first?.1 else { return }
        let answer = CachePolicy.answer(
            to: CacheScenario.request(),
            from: [head],
            now: CacheScenario.start + 600
        )
        #expect(answer.summary == "serve fresh")
    }

    private static func updated(
        _ stored: [CachedHead],
        byHEAD fields: HeaderFields,
        status: Int = 200,
        request: CacheRequest = CacheScenario.request(method: "HEAD")
    ) -> (updated: [(Int, CachedHead)], invalidated: [Int]) {
        CachePolicy.updated(
            stored,
            byHEAD: CacheScenario.head(fields, status: status),
            for: request,
            requestTime: CacheScenario.start + 100,
            responseTime: CacheScenario.start + 101
        )
    }

    @Test(arguments: [(404, true), (410, true), (403, false), (405, false), (500, false), (304, false)])
    func headThatFails(row: (status: Int, invalidates: Bool)) throws {
        let stored = try #require(CacheScenario.stored([:]))
        let result = Self.updated([stored], byHEAD: [:], status: row.status)
        #expect(result.updated.isEmpty)
        #expect(result.invalidated == (row.invalidates ? [0] : []))
    }

    @Test func aHeadConcernsOnlyTheVariantThatItAsksFor() throws {
        let one = try #require(
            CacheScenario.stored(["Vary": "Foo"], for: CacheScenario.request(["Foo": "1"]))
        )
        let two = try #require(
            CacheScenario.stored(["Vary": "Foo"], for: CacheScenario.request(["Foo": "2"]))
        )
        let request = CacheScenario.request(["Foo": "2"], method: "HEAD")
        #expect(Self.updated([one, two], byHEAD: ["ETag": "\"v9\""], request: request).invalidated == [1])
        #expect(
            Self.updated([one, two], byHEAD: [:], request: CacheScenario.request(["Foo": "2"])).updated
                .isEmpty
        )
    }

    /// Of bytes that are not the server's: a later `Date`, of a 304, would make a weak one strong.
    @Test(arguments: ["Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 2099 00:00:00 GMT"])
    func otherBytesHaveNoDateHoweverItsAgeIs(date: String) throws {
        var stored = try #require(
            CacheScenario.stored(["Last-Modified": date, "Content-Length": "4"], length: 4)
        )
        stored.holdOtherBytes()
        #expect(stored.head.fields["Last-Modified"] == nil)
    }
}
