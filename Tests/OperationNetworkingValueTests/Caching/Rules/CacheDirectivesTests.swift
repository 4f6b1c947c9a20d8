import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// `Cache-Control` as it is written, and as it is not to be written (RFC 9111 §5.2).
@Suite struct CacheDirectivesTests {
    static let seconds: [(String, CacheDirectives.Seconds)] = [
        ("max-age=1", .exactly(1)),
        ("MAX-AGE=1", .exactly(1)),
        ("max-age=\"1\"", .exactly(1)),
        ("max-age=\"\\1\"", .exactly(1)),
        ("  max-age=1\t", .exactly(1)),
        (",,max-age=1,,", .exactly(1)),
        ("max-age=0", .exactly(0)),
        ("max-age=2147483648", .exactly(2_147_483_648)),
        ("max-age=2147483649", .exactly(2_147_483_648)),
        ("max-age=99999999999999999999999999", .exactly(2_147_483_648)),
        ("max-age=1, max-age=1", .exactly(1)),
        ("x=\"max-age=1\"", .absent),
        ("x=\"\\\", max-age=1\"", .absent),
        ("max-agent=1", .absent),
        ("", .absent),
        (",", .absent),
        ("max-age=1, max-age=2", .malformed),
        ("max-age=1, max-age", .malformed),
        ("max-age", .malformed),
        ("max-age=", .malformed),
        ("max-age=\"\"", .malformed),
        ("max-age=\"1", .malformed),
        ("max-age=1\"", .malformed),
        ("max-age=\"1\"2", .malformed),
        ("max-age=\"1\"\"2\"", .malformed),
        ("max-age=-1", .malformed),
        ("max-age=+1", .malformed),
        ("max-age=1.0", .malformed),
        ("max-age=1e3", .malformed),
        ("max-age=0x1", .malformed),
        ("max-age=1 2", .malformed),
        ("max-age =1", .malformed),
        ("max-age= 1", .malformed),
        ("max-age==1", .malformed),
        ("max-age=1; public", .malformed),
        ("public; max-age=1", .malformed),
        ("max-age=\u{0661}", .malformed),
    ]

    @Test(arguments: seconds)
    func numbersOfSeconds(row: (fieldValue: String, expected: CacheDirectives.Seconds)) {
        #expect(CacheDirectives(["Cache-Control": row.fieldValue]).seconds("max-age") == row.expected)
    }

    @Test(arguments: [
        "no-store", "No-Store", "x, no-store", "no-store=1", "no-store=\"\"", "no-store =1",
        "x=\"y, no-store",
        "no-store; max-age=60", "private; no-store", "max-age=0;no-store", "no-store ; x=1",
        "\"no-store\", no-store",
    ])
    func aRestrictionIsNeverLost(fieldValue: String) {
        #expect(CacheDirectives(["Cache-Control": fieldValue]).has("no-store"))
    }

    @Test(arguments: ["x=\"no-store\"", "x=\"a, no-store, b\"", "no-stored", "\"no-store\"", "no store"])
    func unknownDirectivesAreNotRestrictions(fieldValue: String) {
        #expect(!CacheDirectives(["Cache-Control": fieldValue]).has("no-store"))
    }

    @Test(arguments: ["public; x", "public =1", "x=\"y, public", "public=", "x, public="])
    func aPermissionIsWellFormed(fieldValue: String) {
        #expect(!CacheDirectives(["Cache-Control": fieldValue]).allows("public"))
    }

    @Test(arguments: ["public", "x, PUBLIC", "public=1", "public=\"1\""])
    func aPermissionIsGiven(fieldValue: String) {
        #expect(CacheDirectives(["Cache-Control": fieldValue]).allows("public"))
    }

    @Test func anOpenQuoteEndsWithItsLine() {
        let directives = CacheDirectives(["Cache-Control": "x=\"", "Cache-Control": "max-age=1"])
        #expect(directives.seconds("max-age") == .exactly(1))
    }

    static let names: [(String, Set<String>?)] = [
        ("no-cache=\"Set-Cookie\"", ["set-cookie"]),
        ("no-cache=\"a, b\"", ["a", "b"]),
        ("no-cache=a", ["a"]),
        ("no-cache=\"a\", no-cache=\"b\"", ["a", "b"]),
        ("no-cache", nil),
        ("no-cache=\"\"", nil),
        ("no-cache=\" , \"", nil),
        ("no-cache=\"a b\"", nil),
        ("no-cache=\"a\", no-cache", nil),
        ("no-cache=\"a", nil),
        ("max-age=1", nil),
    ]

    @Test("§5.2.2.4: a qualified no-cache; one that is malformed concerns all", arguments: names)
    func fieldNames(row: (fieldValue: String, expected: Set<String>?)) {
        #expect(CacheDirectives(["Cache-Control": row.fieldValue]).fieldNames("no-cache") == row.expected)
    }

    // MARK: - Many directives

    /// `maximumCount` members, and `text` as one of them.
    private static func many(_ text: String, separator: String = ",", more: Int = 0) -> String {
        let others = [String](repeating: "x", count: CacheDirectives.maximumCount - 1 + more)
        return ([text] + others).joined(separator: separator)
    }

    @Test(arguments: [many("max-age=1"), many("max-age=\"1\""), many("\"x;y\", max-age=1", more: -1)])
    func asManyAsAreReadMeanWhatTheySay(fieldValue: String) {
        let directives = CacheDirectives(["Cache-Control": fieldValue])
        #expect(directives.count == CacheDirectives.maximumCount)
        #expect(directives.seconds("max-age") == .exactly(1))
        #expect(!directives.has("no-store") && !directives.has("no-cache"))
    }

    static let tooMany: [HeaderFields] = [
        ["Cache-Control": many("max-age=1", more: 1)],
        ["Cache-Control": many("max-age=\"1\"", more: 1)],
        ["Cache-Control": many("public, must-understand, immutable", more: 1)],
        ["Cache-Control": many("no-cache=a", more: 45_000)],
        ["Cache-Control": many("max-age=1; public", separator: ";", more: 45_000)],
        ["Cache-Control": many("x=\"", more: 45_000)],
        ["Cache-Control": many("x=\"a, b\"", more: 45_000)],
        ["Cache-Control": many("max-age=1"), "Cache-Control": "must-understand"],
        ["Cache-Control": many("max-age=1"), "Cache-Control": "x=\"a, b\""],
    ]

    @Test(arguments: tooMany)
    func moreThanAreReadAllowNothing(fields: HeaderFields) {
        let directives = CacheDirectives(fields)
        for name in ["no-store", "no-cache", "must-revalidate", "private"] {
            #expect(directives.has(name), "\(name)")
        }
        for name in ["public", "s-maxage", "must-revalidate", "must-understand", "immutable", "private"] {
            #expect(!directives.allows(name), "\(name)")
        }
        #expect(directives.seconds("max-age") == .malformed)
        #expect(directives.seconds("stale-while-revalidate") == .absent)
        #expect(directives.fieldNames("no-cache") == nil)
        #expect(directives.count < 10)
    }

    @Test func moreFieldNamesThanAreReadConcernAll() {
        let names = (0..<CacheDirectives.maximumCount).map { "a\($0)" }.joined(separator: ",")
        let most = CacheDirectives(["Cache-Control": "no-cache=\"\(names)\""])
        #expect(most.fieldNames("no-cache")?.count == CacheDirectives.maximumCount)
        let more = CacheDirectives(["Cache-Control": "no-cache=\"\(names),b\""])
        #expect(more.has("no-cache") && more.fieldNames("no-cache") == nil)
    }

    @Test func aLimitLeavesOutTheRestOfAList() {
        #expect(FieldList("a,,b, c", limit: 2).members == ["a", "b"])
        #expect(FieldList("a, b", limit: 2).members == ["a", "b"])
        #expect(FieldList("a, \"b, c", limit: 2).members == ["a", "\"b"])
    }

    static let splits: [(String, [String], Bool)] = [
        ("a, b", ["a", "b"], false),
        ("a=\"b, c\",, d", ["a=\"b, c\"", "d"], false),
        ("a, \"b, c", ["a", "\"b", "c"], true),
        ("\"a\\\", b\", c", ["\"a\\\", b\"", "c"], false),
        ("\"a\\", ["\"a\\"], true),
        ("", [], false),
    ]

    @Test(arguments: splits)
    func membersOfLists(row: (fieldValue: String, members: [String], isBroken: Bool)) {
        let list = FieldList(row.fieldValue)
        #expect(list.members.map(String.init) == row.members)
        #expect(list.isBroken == row.isBroken)
    }

    @Test func aBackslashInATagIsACharacter() {
        #expect(FieldList("\"a\\\", \"b\"", escapes: false).members == ["\"a\\\"", "\"b\""])
    }

    /// A line end is no part of a plain list, and none of a member: the same text is read in the other way.
    @Test func plainListsAreReadAsAllOthers() {
        let members = [
            "max-age=60", "Max-Age=0060", "no-store", "No-Cache", "private", "x=\"a, b\"",
            "stale-while-revalidate=5",
            "max-age=", "=1", "", " ", "a b", "a;b", "public\t", "immutable", "a==b", "x=y=z", "\u{e4}", "\"",
            "s-maxage = 1", "must-revalidate",
        ]
        var generator = SeededGenerator(seed: 9111)
        for _ in 0..<2_000 {
            let chosen = (0..<Int.random(in: 0...4, using: &generator)).compactMap { _ in
                members.randomElement(using: &generator)
            }
            let text = chosen.joined(separator: [",", ", ", " ,\t"].randomElement(using: &generator) ?? ",")
            #expect(
                CacheDirectives(["Cache-Control": text]) == CacheDirectives(["Cache-Control": text + "\n"]),
                "\(text)"
            )
        }
    }
}
