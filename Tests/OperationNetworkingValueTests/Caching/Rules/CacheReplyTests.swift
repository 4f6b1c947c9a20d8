import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The choice among stored responses, and the head that the client gets (RFC 9111 §4).
@Suite struct CacheReplyTests {
    // MARK: - Methods, and whose it is

    static let methods: [(String, String)] = [
        ("GET", "serve fresh"), ("HEAD", "serve fresh"), ("POST", "fetch"), ("PUT", "fetch"),
        ("DELETE", "fetch"), ("OPTIONS", "fetch"), ("M-SEARCH", "fetch"), ("get", "fetch"),
    ]

    @Test("§4: unsafe methods are written through", arguments: methods)
    func byMethod(row: (method: String, answer: String)) throws {
        let stored = try #require(CacheScenario.stored(["Cache-Control": "max-age=60"]))
        let request = CacheScenario.request(method: row.method)
        let answer = CachePolicy.answer(to: request, from: [stored], now: CacheScenario.start)
        #expect(answer.summary == row.answer)
    }

    @Test func aHeadIsAnsweredWithoutTheBody() throws {
        let stored = try #require(CacheScenario.stored(["Cache-Control": "max-age=60", "X": "1"]))
        let request = CacheScenario.request(method: "HEAD")
        let answer = CachePolicy.answer(to: request, from: [stored], now: CacheScenario.start + 5)
        #expect(answer.reply?.body == 0..<0)
        #expect(answer.reply?.head.fields["X"] == "1")
        #expect(answer.reply?.head.fields["Age"] == "5")
    }

    @Test func aRangeIsIgnoredForHEAD() throws {
        // RFC 9110 §14.2.
        let stored = try #require(CacheScenario.stored(["Cache-Control": "max-age=60"]))
        let request = CacheScenario.request(["Range": "bytes=0-1, 3-4"], method: "HEAD")
        let answer = CachePolicy.answer(to: request, from: [stored], now: CacheScenario.start)
        #expect(answer.reply?.head.status == 200)
    }

    @Test func anAnswerToAPostServesAGet() throws {
        // RFC 9110 §9.3.3.
        let post = CacheScenario.request(method: "POST")
        let fields: HeaderFields = ["Cache-Control": "max-age=60", "Content-Location": "/thing"]
        let stored = try #require(CacheScenario.stored(fields, for: post))
        let answer = CachePolicy.answer(
            to: CacheScenario.request(),
            from: [stored],
            now: CacheScenario.start + 30
        )
        #expect(answer.summary == "serve fresh")
    }

    static let identities: [(String, String?, String?, Bool)] = [
        ("max-age=60", nil, nil, true),
        ("max-age=60", "a", "a", true),
        ("max-age=60", "a", "b", false),
        ("max-age=60", "a", nil, false),
        ("max-age=60", nil, "a", false),
        ("max-age=60, public", "a", "b", false),
        ("max-age=60, public", "a", nil, false),
        ("max-age=60, public", nil, "a", false),
        ("max-age=60, s-maxage=60", "a", "b", false),
        ("max-age=60, must-revalidate", "a", "b", false),
    ]

    @Test(
        "a response is never used for another identity, unlike in a shared cache (§3.5)",
        arguments: identities
    )
    func byIdentity(row: (control: String, stored: String?, asking: String?, isUsed: Bool)) throws {
        let stored = try #require(
            CacheScenario.stored(
                ["Cache-Control": row.control],
                for: CacheScenario.request(identity: row.stored)
            )
        )
        let request = CacheScenario.request(identity: row.asking)
        let answer = CachePolicy.answer(to: request, from: [stored], now: CacheScenario.start)
        #expect(answer.summary == (row.isUsed ? "serve fresh" : "fetch"))
    }

    @Test func aCodingIsServedOnlyAsItIsHeld() throws {
        var decoding = CacheScenario.request()
        decoding.decodesContent = true
        let fields: HeaderFields = ["Cache-Control": "max-age=60", "Content-Encoding": "gzip"]
        let decoded = try #require(CacheScenario.stored(fields, for: decoding))
        let coded = try #require(CacheScenario.stored(fields))
        #expect(decoded.isDecoded)
        #expect(!coded.isDecoded)
        let policy = CachePolicy.self
        func answer(_ request: CacheRequest, _ stored: CachedHead) -> String {
            policy.answer(to: request, from: [stored], now: CacheScenario.start).summary
        }
        #expect(answer(decoding, decoded) == "serve fresh")
        #expect(answer(decoding, coded) == "fetch")
        #expect(answer(CacheScenario.request(), coded) == "serve fresh")
        #expect(answer(CacheScenario.request(), decoded) == "fetch")
        let plain = try #require(CacheScenario.stored(["Cache-Control": "max-age=60"]))
        #expect(answer(decoding, plain) == "serve fresh")
    }

    @Test func aResponseOfAnotherURLIsNotUsed() throws {
        let stored = try #require(CacheScenario.stored(["Cache-Control": "max-age=60"]))
        let request = CacheScenario.request(url: "http://server.test/other")
        #expect(
            CachePolicy.answer(to: request, from: [stored], now: CacheScenario.start).summary == "fetch"
        )
    }

    @Test func anInvalidatedResponseIsValidated() throws {
        // RFC 9111 §4.4: mandatory, whatever the request accepts.
        var stored = try #require(CacheScenario.stored(["Cache-Control": "max-age=60", "ETag": "\"v1\""]))
        stored.isInvalidated = true
        let request = CacheScenario.request(["Cache-Control": "max-stale"])
        let answer = CachePolicy.answer(to: request, from: [stored], now: CacheScenario.start)
        #expect(answer.summary == "validate")
    }

    @Test func theMostRecentResponseIsUsed() throws {
        // RFC 9111 §4, by Date.
        let old = try #require(
            CacheScenario.stored(["Cache-Control": "max-age=60", "Date": CacheScenario.date(-20), "X": "old"])
        )
        let new = try #require(CacheScenario.stored(["Cache-Control": "max-age=60", "X": "new"]))
        for candidates in [[old, new], [new, old]] {
            let answer = CachePolicy.answer(
                to: CacheScenario.request(),
                from: candidates,
                now: CacheScenario.start
            )
            #expect(answer.reply?.head.fields["X"] == "new")
        }
    }

    // MARK: - Replies

    @Test func ageReplacesWhatWasStored() throws {
        // RFC 9111 §4, §5.1.
        let stored = try #require(CacheScenario.stored(["Cache-Control": "max-age=600", "Age": "30, 1"]))
        let reply = CachePolicy.reply(
            stored,
            to: CacheScenario.request(),
            now: CacheScenario.start + 2.9,
            source: .cache
        )
        #expect(reply.head.fields.values(for: "Age") == ["32"])
        #expect(reply.head.fields["Date"] == CacheScenario.date(0))
    }

    @Test func fieldsOfAQualifiedNoCacheAreLeftOutUntilTheyAreValidated() throws {
        // RFC 9111 §5.2.2.4.
        let stored = try #require(
            CacheScenario.stored([
                "Cache-Control": "no-cache=\"A, set-cookie\"", "a": "1", "b": "2", "Set-Cookie": "c=d",
                "Cache-Control": "max-age=60",
            ])
        )
        let (policy, request) = (CachePolicy.self, CacheScenario.request())
        let fresh = policy.reply(stored, to: request, now: CacheScenario.start, source: .cache).head.fields
        #expect(fresh["a"] == nil && fresh["Set-Cookie"] == nil && fresh["b"] == "2")
        let validated = policy.reply(stored, to: request, now: CacheScenario.start, source: .validated).head
            .fields
        #expect(validated["a"] == "1" && validated["Set-Cookie"] == "c=d")
    }

    @Test func aStoredCookieIsInTheReply() throws {
        // RFC 9111 §7.3. It comes past no jar: see CacheReply.
        let stored = try #require(CacheScenario.stored(["Cache-Control": "max-age=60", "Set-Cookie": "a=b"]))
        let reply = CachePolicy.reply(
            stored,
            to: CacheScenario.request(),
            now: CacheScenario.start,
            source: .cache
        )
        #expect(reply.head.fields["Set-Cookie"] == "a=b")
    }

    @Test func aChunkedBodyIsServedWithItsLength() throws {
        let stored = try #require(
            CacheScenario.stored(["Cache-Control": "max-age=60", "Transfer-Encoding": "chunked"])
        )
        let reply = CachePolicy.reply(
            stored,
            to: CacheScenario.request(),
            now: CacheScenario.start,
            source: .cache
        )
        #expect(reply.head.fields["Content-Length"] == "10")
        #expect(reply.body == 0..<10)
    }

    // MARK: - Requests that share a transfer

    static let pairs: [(CacheRequest, CacheRequest, Bool)] = [
        (CacheScenario.request(), CacheScenario.request(), true),
        (CacheScenario.request(["A": "1"]), CacheScenario.request(["a": "1"]), true),
        (CacheScenario.request(["A": "1"]), CacheScenario.request(["A": "2"]), false),
        (
            CacheScenario.request(["traceparent": "1", "X-Request-Id": "1", "Idempotency-Key": "1"]),
            CacheScenario.request(["traceparent": "2", "X-Request-Id": "2"]), true
        ),
        (CacheScenario.request(), CacheScenario.request(url: "http://server.test/other"), false),
        (CacheScenario.request(), CacheScenario.request(identity: "a"), false),
        (CacheScenario.request(), CacheScenario.request(policy: .returnCacheDataElseLoad), false),
        (CacheScenario.request(), CacheScenario.request(method: "HEAD"), false),
        (CacheScenario.request(method: "HEAD"), CacheScenario.request(method: "HEAD"), false),
        (CacheScenario.request(method: "POST"), CacheScenario.request(method: "POST"), false),
        (CacheScenario.request(["Range": "bytes=0-1"]), CacheScenario.request(["Range": "bytes=0-1"]), false),
        (
            CacheScenario.request(["Cache-Control": "no-cache"]),
            CacheScenario.request(["Cache-Control": "no-cache"]), false
        ),
        (
            CacheScenario.request(["Cache-Control": "no-store"]),
            CacheScenario.request(["Cache-Control": "no-store"]), false
        ),
    ]

    @Test("§4: only equal requests are collapsed", arguments: pairs.indices)
    func sharing(index: Int) {
        let (one, other, isShared) = Self.pairs[index]
        #expect((one.sharing != nil && one.sharing == other.sharing) == isShared)
        #expect((other.sharing != nil && other.sharing == one.sharing) == isShared)
    }
}
