import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct SharedPartsTests {
    @Test func aURLIsParsedOnce() throws {
        var parts = SharedParts()
        let found = ["a", "b", "a", "a"].compactMap { parts.url("http://h/" + $0) }
        #expect(found.map(\.text) == ["http://h/a", "http://h/b", "http://h/a", "http://h/a"])
        try #require(found.count == 4)
        #expect(found[0] !== found[1])
        #expect(found[0] === found[2])
        #expect(found[0] === found[3])
        #expect(parts.urlCount == 2)
    }

    @Test func noMoreThanAFewAreKept() {
        var parts = SharedParts()
        for number in 0..<3 * SharedParts.urlLimit { _ = parts.url("http://h/\(number)") }
        #expect(parts.urlCount <= SharedParts.urlLimit)
        let long = parts.url("http://h/" + String(repeating: "a", count: SharedParts.longestURL))
        #expect(long == nil)
    }

    @Test func fieldsAreSharedWithTheNext() throws {
        var parts = SharedParts()
        let first = try parts.fields(["A: 1", "B: 2"])
        let second = try parts.fields(["A: 1", "B: 2"])
        let other = try parts.fields(["A: 1"])
        #expect(second === first)
        #expect(first.lines == ["A: 1", "B: 2"])
        #expect(other.lines == ["A: 1"])
    }

    @Test(arguments: [("A: \u{212A}", "A: K"), ("A: K", "A: \u{212A}"), ("A: \u{e9}", "A: e\u{301}")])
    func fieldsOfOtherOctetsAreOthers(one: String, other: String) throws {
        var parts = SharedParts()
        let first = try parts.fields([one])
        #expect(try parts.fields([other]) !== first)
    }

    @Test(arguments: ["Authorization: Basic YTpi", "cookie: a=b", "X-Api-Key: c", "X-Auth-Token: d"])
    func aSecretGoesWithItsTransfer(line: String) throws {
        var parts = SharedParts()
        weak var list: HeaderList?
        do { list = try parts.fields(["Accept: */*", line]) }
        #expect(list == nil)
    }
}
