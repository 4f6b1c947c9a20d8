import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Each row is a response with a `Vary`, the fields of its request, those of another, and whether they match
/// (RFC 9111 §4.1).
@Suite struct CacheVaryTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let vary: String
        let first: HeaderFields
        let second: HeaderFields
        let isMatch: Bool
        let language: String?

        init(
            _ name: String,
            _ vary: String,
            _ first: HeaderFields,
            _ second: HeaderFields,
            _ isMatch: Bool,
            language: String? = nil
        ) {
            testDescription = name
            self.vary = vary
            self.first = first
            self.second = second
            self.isMatch = isMatch
            self.language = language
        }
    }

    static let rows = [
        Row("the same", "Foo", ["Foo": "1"], ["foo": "1"], true),
        Row("another value", "Foo", ["Foo": "1"], ["Foo": "2"], false),
        Row("a value in another case", "Foo", ["Foo": "a"], ["Foo": "A"], false),
        Row("a field that is new", "Foo", [:], ["Foo": "1"], false),
        Row("a field that is gone", "Foo", ["Foo": "1"], [:], false),
        Row("an empty field is a field", "Foo", ["Foo": ""], [:], false),
        Row("absent from both", "Foo", [:], [:], true),
        Row("a field that is not named", "Foo", ["Foo": "1", "Bar": "2"], ["Foo": "1", "Bar": "3"], true),
        Row("no Vary", "", ["Foo": "1"], ["Foo": "2"], true),
        Row("two", "Foo, Bar", ["Foo": "1", "Bar": "a"], ["Bar": "a", "Foo": "1"], true),
        Row(
            "two, one of them another",
            "Foo, Bar",
            ["Foo": "1", "Bar": "a"],
            ["Foo": "1", "Bar": "ab"],
            false
        ),
        Row("two, one of them gone", "Foo, Bar", ["Foo": "1", "Bar": "a"], ["Foo": "1"], false),
        Row("two, absent from both", "Foo,, bar,FOO", ["Foo": "1"], ["Foo": "1"], true),
        Row("lines and a list", "Foo", ["Foo": "1, 2"], ["Foo": "1", "Foo": "2"], true),
        Row("white space", "Foo", ["Foo": "1,2"], ["Foo": " 1 , 2\t"], true),
        Row("white space inside", "Foo", ["Foo": "a b"], ["Foo": "a  b"], false),
        Row("another order", "Foo", ["Foo": "1, 2"], ["Foo": "2, 1"], false),
        Row("a comma in a string", "Foo", ["Foo": "\"a, b\""], ["Foo": "\"a,b\""], false),
        Row("cookies", "Cookie", ["Cookie": "a=b; c=d"], ["Cookie": "a=b", "Cookie": "c=d"], true),
        Row("other cookies", "Cookie", ["Cookie": "a=b"], ["Cookie": "a=c"], false),
        Row(
            "languages: case",
            "Accept-Language",
            ["Accept-Language": "en, de"],
            ["Accept-Language": "eN, De"],
            true
        ),
        Row(
            "languages: space",
            "Accept-Language",
            ["Accept-Language": "en, de"],
            ["Accept-Language": " en ,   de"],
            true
        ),
        Row(
            "languages: weights",
            "accept-language",
            ["Accept-Language": "en;q=1.0, de;q=0.50"],
            ["Accept-Language": "en, de ; q=0.5"],
            true
        ),
        Row(
            "languages: other weights",
            "Accept-Language",
            ["Accept-Language": "en, de;q=0.5"],
            ["Accept-Language": "en, de;q=0.6"],
            false
        ),
        Row(
            "languages: order is preference",
            "Accept-Language",
            ["Accept-Language": "en, de"],
            ["Accept-Language": "de, en"],
            false
        ),
        Row(
            "languages: the one that is liked best",
            "Accept-Language",
            ["Accept-Language": "en, de"],
            ["Accept-Language": "fr;q=0.5, de;q=1.0"],
            true,
            language: "de"
        ),
        Row(
            "languages: in any case",
            "Accept-Language",
            ["Accept-Language": "en"],
            ["Accept-Language": "DE-at"],
            true,
            language: "de-AT"
        ),
        Row(
            "languages: one of two that are",
            "Accept-Language",
            ["Accept-Language": "en"],
            ["Accept-Language": "de, fr"],
            false,
            language: "de"
        ),
        Row(
            "languages: not the best",
            "Accept-Language",
            ["Accept-Language": "en"],
            ["Accept-Language": "fr, de;q=0.5"],
            false,
            language: "de"
        ),
        Row(
            "languages: refused",
            "Accept-Language",
            ["Accept-Language": "en"],
            ["Accept-Language": "de;q=0"],
            false,
            language: "de"
        ),
        Row(
            "languages: a response in two",
            "Accept-Language",
            ["Accept-Language": "en"],
            ["Accept-Language": "de"],
            false,
            language: "de, en"
        ),
        Row(
            "languages: none asked for",
            "Accept-Language",
            ["Accept-Language": "en"],
            [:],
            false,
            language: "en"
        ),
        Row(
            "languages: another field is another",
            "Accept-Language, Foo",
            ["Accept-Language": "en", "Foo": "1"],
            ["Accept-Language": "de", "Foo": "2"],
            false,
            language: "de"
        ),
        Row(
            "codings: order and case",
            "Accept-Encoding",
            ["Accept-Encoding": "gzip, br"],
            ["Accept-Encoding": "BR,GZIP;q=1"],
            true
        ),
        Row(
            "codings: x-gzip",
            "Accept-Encoding",
            ["Accept-Encoding": "gzip"],
            ["Accept-Encoding": "x-gzip"],
            true
        ),
        Row(
            "codings: one less",
            "Accept-Encoding",
            ["Accept-Encoding": "gzip, br"],
            ["Accept-Encoding": "gzip"],
            false
        ),
    ]

    @Test(arguments: rows)
    func matching(row: Row) throws {
        var fields: HeaderFields = ["Cache-Control": "max-age=60", "Vary": row.vary]
        fields["Content-Language"] = row.language
        let stored = try #require(CacheScenario.stored(fields, for: CacheScenario.request(row.first)))
        let answer = CachePolicy.answer(
            to: CacheScenario.request(row.second),
            from: [stored],
            now: CacheScenario.start
        )
        #expect(answer.summary == (row.isMatch ? "serve fresh" : "fetch"))
    }

    @Test func severalVariantsAreHeldAtOnce() throws {
        let policy = CachePolicy.self
        let fields: HeaderFields = ["Cache-Control": "max-age=60", "Vary": "Foo"]
        let one = CacheScenario.request(["Foo": "1"])
        let two = CacheScenario.request(["Foo": "2"])
        let first = try #require(CacheScenario.stored(fields, for: one))
        let second = try #require(CacheScenario.stored(fields, for: two))
        #expect(policy.replaced([first], by: second, for: two) == [])
        #expect(policy.replaced([first, second], by: second, for: two) == [1])
        for (index, request) in [one, two].enumerated() {
            guard
                case .serve(index, _) = policy.answer(
                    to: request,
                    from: [first, second],
                    now: CacheScenario.start
                )
            else {
                Issue.record("not the variant of its request")
                return
            }
        }
    }

    @Test func aNewResponseTakesThePlaceOfWhatItsRequestWouldHaveGot() throws {
        let policy = CachePolicy.self
        let request = CacheScenario.request(["Foo": "1"])
        let plain = try #require(CacheScenario.stored(["Cache-Control": "max-age=60"], for: request))
        let varying = try #require(CacheScenario.stored(["Vary": "Foo"], for: request))
        #expect(policy.replaced([plain], by: varying, for: request) == [0])
        var others = plain
        others.identity = "another"
        #expect(policy.replaced([others], by: varying, for: request) == [])
        #expect(policy.replaced([others], by: plain, for: request) == [])
        #expect(policy.replaced([plain], by: plain, for: request) == [0])
        var star = plain
        star.head.fields["Vary"] = "*"
        var forbidden = plain
        forbidden.head.fields["Cache-Control"] = "no-store"
        #expect(policy.replaced([star, forbidden], by: varying, for: request) == [0, 1])
    }

    /// The index has nothing of a session's secret.
    @Test func aCookieThatSelectsIsNotStoredAsItIs() throws {
        let request = CacheScenario.request(["Cookie": "session=secret"])
        let stored = try #require(CacheScenario.stored(["Vary": "Cookie"], for: request))
        #expect(stored.selecting.count == 1)
        #expect(!String(decoding: stored.encoded, as: UTF8.self).contains("secret"))
        #expect(CachePolicy.matches(stored, request))
        #expect(!CachePolicy.matches(stored, CacheScenario.request(["Cookie": "session=other"])))
    }

    @Test func onlyTheNormalizedFieldsThatVaryNamesAreStored() throws {
        let request = CacheScenario.request(["Foo": "1 , 2", "Secret": "x", "Accept-Language": "EN"])
        let stored = try #require(
            CacheScenario.stored(["Vary": "foo, Foo, accept-language, bar"], for: request)
        )
        #expect(stored.selecting == ["foo": "1,2", "accept-language": "en"])
    }

    @Test func aVaryOfManyNamesSuitsNothing() {
        let names = (0..<65).map { "f\($0)" }
        #expect(SelectingFields(vary: ["Vary": names.joined(separator: ",")]) == nil)
        #expect(SelectingFields(vary: ["Vary": names.dropLast().joined(separator: ",")])?.names.count == 64)
    }

    @Test func theAppsOwnSecretIsNotStoredWhereItSelects() throws {
        var request = CacheScenario.request(["X-Acme-Member": "alice"], identity: "digest")
        request.secretFields = ["x-acme-member"]
        let stored = try #require(CacheScenario.stored(["Vary": "X-Acme-Member"], for: request))
        #expect(stored.selecting.count == 1)
        #expect(!String(decoding: stored.encoded, as: UTF8.self).contains("alice"))
        #expect(CachePolicy.matches(stored, request))
        request.fields = ["X-Acme-Member": "bob"]
        #expect(!CachePolicy.matches(stored, request))
    }
}
