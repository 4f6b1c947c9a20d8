import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

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
        Row(
            "NSNumber",
            ["a": NSNumber(value: 1 << 60), "b": NSNumber(value: true), "c": NSNumber(value: Int8(-3))],
            "a=\(1 << 60)&b=1&c=-3"
        ),
        Row(
            "NSNumber has the digits that it was made with",
            [
                "a": NSNumber(value: Float(0.1)), "b": NSNumber(value: Float(3)),
                "c": NSDecimalNumber(string: "12345678901234567890.125"), "d": NSDecimalNumber(string: "2"),
            ],
            "a=0.1&b=3&c=12345678901234567890.125&d=2"
        ),
        Row(
            "the last number that a Double counts",
            ["a": 0x1p53, "b": -0x1p53],
            "a=\(1 << 53)&b=-\(1 << 53)"
        ),
        Row("keys of any type", ["k": [2: "x", 10: "y"]], "k[10]=y&k[2]=x"),
        Row(
            "Foundation's collections",
            ["k": sendable(NSArray(array: [1.5, true, ["a": NSNull()]]))],
            "k[]=1.5&k[]=1&k[][a]"
        ),
        Row(
            "names that begin alike",
            ["key\u{0}": 1, "key": 2, "key10": 3, "key9": 4],
            "key=2&key\u{0}=1&key10=3&key9=4"
        ),
        Row(
            "names that differ behind the first octets",
            ["aaaaaaaaaaaab": 1, "aaaaaaaaaaaaac": 2, "b": 3, "": 4, "aaaaaaaaaaaaa": 5],
            "=4&aaaaaaaaaaaaa=5&aaaaaaaaaaaaac=2&aaaaaaaaaaaab=1&b=3"
        ),
        Row("a URL is its description", ["k": URL(string: "http://h/") as any Sendable], "k=http://h/"),
        Row("text of other types", ["a": "xyz".dropFirst(), "b": Character("c")], "a=yz&b=c"),
        Row("slices", ["a": [1, 2, 3].dropFirst(), "b": ContiguousArray([4])], "a[]=2&a[]=3&b[]=4"),
        Row("an enum is its raw value", ["a": Order.descending, "b": [Order.ascending]], "a=down&b[]=up"),
        Row("an object with a description of its own", ["k": Described()], "k=text"),
        Row("a dictionary's keys are text", ["k": [Order.ascending: 1]], "k[up]=1"),
        Row("a CGFloat is a number", ["a": CGFloat(0.1), "b": CGFloat(2)], "a=0.1&b=2"),
        Row(
            "a relative URL is the whole address",
            ["k": URL(string: "a", relativeTo: URL(string: "http://h/")) as any Sendable],
            "k=http://h/a"
        ),
        Row("a raw value comes before a description", ["k": Size.large], "k=3"),
        Row("what is encoded comes before a description", ["k": Point()], "k[x]=1"),
    ]

    private enum Order: String {
        case ascending = "up"
        case descending = "down"
    }

    private enum Size: Int, CustomStringConvertible {
        case large = 3
        var description: String { "a large one" }
    }

    private struct Point: Encodable, CustomStringConvertible {
        var x = 1
        var description: String { "(1)" }
    }

    private final class Described: NSObject, Sendable {
        override var description: String { "text" }
    }

    @Test(arguments: rows)
    func ordersAndNamesPairs(row: Row) throws {
        let query = try QueryString(row.parameters)
        let text = query.pairs.map { pair in pair.value.map { "\(pair.name)=\($0)" } ?? pair.name }
        #expect(text.joined(separator: "&") == row.pairs)
        #expect(try QueryString(untyped: row.parameters, arrayStyle: .brackets) == query)
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
    func escapes(id: String, text: String, escaped: String) throws {
        #expect(QueryString.escape(text) == escaped)
        #expect(try QueryString(["k": text]).description == "k=\(escaped)")
    }

    @Test("HRS-11: emoji longer than AFNetworking's batches of 50 units are escaped whole")
    func escapesLongEmoji() {
        let family = "👨‍👩‍👧‍👦"
        let text = String(repeating: family, count: 100)
        #expect(QueryString.escape(text) == String(repeating: QueryString.escape(family), count: 100))
        #expect(QueryString.escape(text).removingPercentEncoding == text)
    }

    @Test func escapesBracketsInNames() throws {
        #expect(try QueryString(["k": ["a b": [1]]]).description == "k%5Ba%20b%5D%5B%5D=1")
    }

    // MARK: - Array styles

    static let arrays: [String: any Sendable] = [
        "k": [1, 2], "m": [["a": [3, 4]], ["a": [5]]], "n": [[6], [7, 8]], "e": [Int](), "s": Set([9]),
        "t": ["a,b", "c d", nil] as [String?],
    ]

    @Test(arguments: [
        (
            QueryString.ArrayStyle.brackets,
            "k[]=1&k[]=2&m[][a][]=3&m[][a][]=4&m[][a][]=5&n[][]=6&n[][]=7&n[][]=8&s=9&t[]=a%2Cb&t[]=c%20d&t[]"
        ),
        (
            .indices,
            "k[0]=1&k[1]=2&m[0][a][0]=3&m[0][a][1]=4&m[1][a][0]=5&n[0][0]=6&n[1][0]=7&n[1][1]=8&s=9"
                + "&t[0]=a%2Cb&t[1]=c%20d&t[2]"
        ),
        (.repeated, "k=1&k=2&m[a]=3&m[a]=4&m[a]=5&n=6&n=7&n=8&s=9&t=a%2Cb&t=c%20d&t"),
        (.comma, "k=1,2&m[][a]=3,4&m[][a]=5&n[]=6&n[]=7,8&s=9&t=a%2Cb,c%20d,"),
    ])
    func writesArraysInEachStyle(style: QueryString.ArrayStyle, text: String) throws {
        let query = try QueryString(Self.arrays, arrayStyle: style)
        let brackets = text.replacing("[", with: "%5B").replacing("]", with: "%5D")
        #expect(query.description == brackets)
    }

    private enum Sort: String, Codable { case name, date }

    /// Encodes a null.
    private struct Unset: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }

    private struct Span: Encodable { var from = 1 }

    @Test func encodableArraysOfTextsAreJoinedWithCommas() throws {
        func query(_ value: any Sendable) throws -> String {
            try QueryString(["k": value], arrayStyle: .comma).description
        }
        #expect(try query([Sort.name, .date]) == "k=name,date")
        #expect(try query([Sort.name, "a,b", 1, nil] as [(any Sendable)?]) == "k=name,a%2Cb,1,")
        #expect(try query([Unset(), Unset()]) == "k=,")
        #expect(try query([Span()]) == "k%5B%5D%5Bfrom%5D=1")
        #expect(try query([Sort.name, Span()] as [any Sendable]) == "k%5B%5D=name&k%5B%5D%5Bfrom%5D=1")
        #expect(try query([[Sort.name], [.date]]) == "k%5B%5D=name&k%5B%5D=date")
        #expect(throws: EncodingError.self) { try query([OneDate(seconds: .nan)]) }
    }

    private struct OneDate: Encodable {
        var seconds: Double

        func encode(to encoder: any Encoder) throws {
            try Date(timeIntervalSince1970: seconds).encode(to: encoder)
        }
    }

    @Test func aKeyIsItsRawValueAlsoIfItIsEncodable() throws {
        let query = try QueryString(["k": [Sort.name: 1, .date: 2]])
        #expect(query.description == "k%5Bdate%5D=2&k%5Bname%5D=1")
    }

    @Test("O5-13: nested parameters have their brackets escaped")
    func writesNestedParameters() throws {
        let parameters: [String: any Sendable] = [
            "key1": "value1", "key2": ["key": [1, "value"] as [any Sendable]],
        ]
        let text = "key1=value1&key2%5Bkey%5D%5B%5D=1&key2%5Bkey%5D%5B%5D=value"
        #expect(try QueryString(parameters).description == text)
    }

    @Test("O5-12, O5-14: the exported helpers make a query and escape text")
    func exportsItsHelpers() throws {
        #expect(try QueryString(["key": "value", "key1": "value"]).description == "key=value&key1=value")
        #expect(try QueryString(["key1": "ä ö ü"]).description == "key1=%C3%A4%20%C3%B6%20%C3%BC")
        #expect(QueryString.escape("&=+ ") == "%26%3D%2B%20")
    }

    @Test(
        arguments: [
            ["k": 1], ["k": ""], ["": 1], ["a=b&c": "=&"], ["k": ["x": [1, 2]]], ["k": NSNull()],
            ["\0": "\u{10FFFF}"],
        ] as [[String: any Sendable]]
    )
    func readsItsPairsBack(parameters: [String: any Sendable]) throws {
        let query = try QueryString(parameters)
        let text = query.pairs.map { pair in
            pair.value.map { "\(QueryString.escape(pair.name))=\(QueryString.escape($0))" }
                ?? QueryString.escape(pair.name)
        }
        #expect(text.joined(separator: "&") == query.description)
    }

    // MARK: - What is refused

    @Test func aDateThatNoCalendarReachesIsItsSeconds() throws {
        let dates: [String: any Sendable] = [
            "a": Date(timeIntervalSince1970: 0), "b": Date(timeIntervalSince1970: 1e300),
            "c": [Date(timeIntervalSince1970: .nan)],
        ]
        #expect(
            try QueryString(dates).description
                == "a=1970-01-01%2000%3A00%3A00%20%2B0000&b=1e%2B300&c%5B%5D=nan"
        )
    }

    @Test func writesAsManyLevelsAsTheLimitSays() throws {
        #expect(try QueryString(["k": nestedArrays(511)]).description == "")
        #expect(throws: RequestSerializationError.parametersTooDeep(limit: 512)) {
            try QueryString(["k": nestedArrays(512)])
        }
    }

    private final class Plain: Sendable {}
    private struct Opaque: Hashable, Sendable {
        var number = 1
    }
    private enum Bare: Sendable {
        case one
    }

    /// Each of these was sent as the name of a class and an address, or as a dump of Swift.
    static var valuesWithoutText: [(value: Any, type: String)] {
        let closure: @Sendable () -> Void = {}
        return [
            (NSObject(), "NSObject"), (Operation(), "Operation"), (Plain(), "Plain"), (Opaque(), "Opaque"),
            (Bare.one, "Bare"), (closure, "() -> ()"), ((1, 2), "(Int, Int)"), (Int.self, "Int.Type"),
        ]
    }

    @Test(arguments: QueryString.ArrayStyle.allCases)
    func aValueWithoutATextIsAnError(style: QueryString.ArrayStyle) throws {
        for (value, type) in Self.valuesWithoutText {
            let places: [(parameters: [String: Any], name: String)] = [
                (["k": value], "k"), (["a b": ["ü": value]], "a b[ü]"), (["k": [1: value]], "k[1]"),
            ]
            for (parameters, name) in places {
                let error = try #require(throws: RequestSerializationError.self) {
                    try QueryString(parameters, arrayStyle: style)
                }
                guard case .invalidParameter(name, let found) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(found.hasPrefix("a value of type ") && found.contains(type), "\(found)")
                #expect(RequestFailure(error).isProgrammingError)
            }
            #expect(throws: RequestSerializationError.self) {
                try QueryString(["k": [1, value]], arrayStyle: style)
            }
            #expect(throws: RequestSerializationError.self) {
                try QueryString(["k": Set([AnyHashable(1), AnyHashable(Opaque())])], arrayStyle: style)
            }
        }
    }

    @Test func aKeyWithoutATextIsAnError() {
        #expect(
            throws: RequestSerializationError.invalidParameter(at: "k", found: "a key of type Opaque")
        ) {
            try QueryString(["k": [Opaque(): 1]])
        }
    }

    @Test func aFormAcceptsTheParametersOfAQuery() throws {
        let serializer = HTTPRequestSerializer()
        let url = try #require(URL(string: "http://h/"))
        let error = RequestSerializationError.invalidParameter(
            at: "user[photo]",
            found: "a value of type NSObject"
        )
        let parameters = ["user": ["photo": NSObject()]]
        for method in ["GET", "POST"] {
            #expect(throws: error) {
                try serializer.request(method: method, url: url, parameters: parameters)
            }
        }
        #expect(throws: error) {
            try serializer.multipartFormRequest(method: "POST", url: url, parameters: parameters)
        }
        #expect("\(error)".contains("at user[photo]"))
    }

    @Test func refusesParametersWithoutNames() {
        #expect(throws: RequestSerializationError.unsupportedParameters(type: "Array<Int>")) {
            try QueryString(untyped: [1], arrayStyle: .brackets)
        }
        #expect(throws: RequestSerializationError.unsupportedParameters(type: "String")) {
            try QueryString(encoding: "text")
        }
        let found = "a value of type NSObject"
        #expect(throws: RequestSerializationError.invalidParameter(at: "", found: found)) {
            try QueryString(untyped: NSObject(), arrayStyle: .brackets)
        }
    }
}
