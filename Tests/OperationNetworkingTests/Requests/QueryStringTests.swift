import Foundation
import Testing

@testable import OperationNetworking

@Suite struct QueryStringTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let parameters: [String: any Sendable]
        let pairs: String

        init(_ name: String, _ parameters: [String: any Sendable], _ pairs: String) {
            testDescription = name
            self.parameters = parameters
            self.pairs = pairs
        }
    }

    static let rows = [
        Row("one pair", ["key": "value"], "key=value"),
        Row("nothing", [:], ""),
        Row("keys are sorted", ["b": 1, "a": 2, "C": 3, "a1": 4], "C=3&a=2&a1=4&b=1"),
        Row(
            "keys are sorted by UTF-16 code units",
            ["\u{FF21}": 1, "\u{1F600}": 2],
            "\u{1F600}=2&\u{FF21}=1"
        ),
        Row("a dictionary in brackets", ["k": ["b": 1, "a": 2]], "k[a]=2&k[b]=1"),
        Row("dictionaries in one another", ["k": ["a": ["b": 1]]], "k[a][b]=1"),
        Row("an array in its order", ["k": [2, 1]], "k[]=2&k[]=1"),
        Row("an array of dictionaries", ["k": [["x": 1], ["x": 2]]], "k[][x]=1&k[][x]=2"),
        Row("an array in an array", ["k": [[1], [2]]], "k[][]=1&k[][]=2"),
        Row("a set repeats its key", ["k": Set(["b", "a"])], "k=a&k=b"),
        Row("empty collections", ["a": [Int](), "b": [String: Int](), "c": Set<Int>()], ""),
        Row("null is a key alone", ["k": NSNull()], "k"),
        Row("nil is a key alone", ["k": Int?.none as any Sendable], "k"),
        Row("an optional is its value", ["k": Int??.some(5) as any Sendable], "k=5"),
        Row("nil in an array", ["k": [1, nil] as [Int?]], "k[]=1&k[]"),
        Row("an empty value keeps its =", ["k": ""], "k="),
        Row("Bool is 1 or 0", ["a": true, "b": false], "a=1&b=0"),
        Row(
            "integers",
            ["a": Int8(-1), "b": UInt64.max, "c": Int64.min],
            "a=-1&b=\(UInt64.max)&c=\(Int64.min)"
        ),
        Row("a whole number has no fraction", ["a": 1.0, "b": Float(2), "c": -0.5], "a=1&b=2&c=-0.5"),
        Row("NSNumber", ["a": NSNumber(value: 1 << 60), "b": NSNumber(value: true)], "a=\(1 << 60)&b=1"),
        Row("keys of any type", ["k": [2: "x", 10: "y"]], "k[10]=y&k[2]=x"),
        Row("a URL is its description", ["k": URL(string: "http://h/") as any Sendable], "k=http://h/"),
    ]

    @Test(arguments: rows)
    func ordersAndNamesPairs(row: Row) {
        let query = QueryString(row.parameters)
        let text = query.pairs.map { pair in pair.value.map { "\(pair.name)=\($0)" } ?? pair.name }
        #expect(text.joined(separator: "&") == row.pairs)
        #expect(QueryString(untyped: row.parameters) == query)
    }

    @Test(arguments: [
        ("HRS-04", " :#[]@!$&'()*+,;=/?", "%20%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D/?"),
        ("HRS-05", "%20%21", "%2520%2521"),
        ("HRS-11", "👴🏿👷🏻👮🏽", "%F0%9F%91%B4%F0%9F%8F%BF%F0%9F%91%B7%F0%9F%8F%BB%F0%9F%91%AE%F0%9F%8F%BD"),
        ("HRS-11 flag", "🇩🇪", "%F0%9F%87%A9%F0%9F%87%AA"),
        ("unreserved", "AZaz09-._~", "AZaz09-._~"),
        ("others", "\"<>\\^`{|}\u{0}\n\u{7F}", "%22%3C%3E%5C%5E%60%7B%7C%7D%00%0A%7F"),
        ("Latin", "é", "%C3%A9"),
    ])
    func escapes(id: String, text: String, escaped: String) {
        #expect(QueryString.escape(text) == escaped)
        #expect(QueryString(["k": text]).description == "k=\(escaped)")
    }

    @Test("HRS-11: emoji longer than AFNetworking's batches of 50 units are escaped whole")
    func escapesLongEmoji() {
        let family = "👨‍👩‍👧‍👦"
        let text = String(repeating: family, count: 100)
        #expect(QueryString.escape(text) == String(repeating: QueryString.escape(family), count: 100))
        #expect(QueryString.escape(text).removingPercentEncoding == text)
    }

    @Test func escapesBracketsInNames() {
        #expect(QueryString(["k": ["a b": [1]]]).description == "k%5Ba%20b%5D%5B%5D=1")
    }

    @Test func refusesWhatIsNoDictionary() {
        #expect(QueryString(untyped: [1]) == nil)
        #expect(QueryString(untyped: "text") == nil)
    }
}
