import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct PropertyListRequestSerializerTests {
    let serializer = PropertyListRequestSerializer()
    let url: URL

    init() throws {
        url = try #require(URL(string: "http://example.com/path"))
    }

    private func read(_ data: Data) throws -> NSObject? {
        try PropertyListSerialization.propertyList(from: data, format: nil) as? NSObject
    }

    @Test("O5-19: a dictionary is a property list in XML")
    func postsAPropertyList() throws {
        let request = try serializer.request(method: "POST", url: url, parameters: ["key": "value"])
        let body = try #require(request.httpBody)
        #expect(String(decoding: body, as: UTF8.self).hasPrefix("<?xml"))
        #expect(
            try PropertyListSerialization.propertyList(from: body, format: nil) as? [String: String] == [
                "key": "value"
            ]
        )
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/x-plist")
    }

    @Test func theParametersOfAGetAreTheQuery() throws {
        let request = try serializer.request(method: "GET", url: url, parameters: ["key": "value"])
        #expect(request.url?.query == "key=value")
        #expect(request.httpBody == nil)
    }

    @Test func withoutParametersNothingIsAddedButFields() throws {
        let request = try serializer.request(method: "POST", url: url, parameters: nil)
        #expect(request.httpBody == nil)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == nil)
        #expect(request.value(forHTTPHeaderField: "Accept-Language") != nil)
    }

    @Test func writesTheBinaryFormat() throws {
        let serializer = PropertyListRequestSerializer(format: .binary)
        let body = try serializer.body(of: ["k": [1, 2]])
        #expect(body.starts(with: Data("bplist00".utf8)))
        #expect(
            try PropertyListSerialization.propertyList(from: body, format: nil) as? [String: [Int]] == [
                "k": [1, 2]
            ]
        )
    }

    @Test func writesEveryTypeOfAPropertyList() throws {
        let date = Date(timeIntervalSince1970: 1_000_000_000)
        let values: [String: any Sendable] = [
            "a": date, "b": Data([1, 2]), "c": true, "d": Int64.min, "e": 0.25, "f": ["x": [1]],
            "g": sendable(NSArray(array: ["y"])), "h": Int?.some(3) as any Sendable, "i": "\t<é>&\n",
        ]
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let body = try PropertyListRequestSerializer(format: format).body(of: values)
            let object = try PropertyListSerialization.propertyList(from: body, format: nil)
            let read = try #require(object as? [String: Any])
            #expect(read["a"] as? Date == date)
            #expect(read["b"] as? Data == Data([1, 2]))
            #expect(read["c"] as? Bool == true)
            #expect(read["d"] as? Int64 == Int64.min)
            #expect(read["e"] as? Double == 0.25)
            #expect(read["f"] as? [String: [Int]] == ["x": [1]])
            #expect(read["g"] as? [String] == ["y"])
            #expect(read["h"] as? Int == 3)
            #expect(read["i"] as? String == "\t<é>&\n")
        }
    }

    @Test(
        "F31: an invalid property list is an error, not a trap",
        arguments: [
            (["k": NSNull()] as [String: any Sendable], "k", "a null"),
            (["k": [1, nil] as [Int?]], "k[1]", "a null"),
            (["k": sendable(NSObject())], "k", "a value of type NSObject"),
            (["k": "a\0"], "k", "text with a character that XML cannot represent"),
            (["k": ["\u{1B}": 1]], "k.\u{1B}", "text with a character that XML cannot represent"),
            (["k": "\u{FFFE}"], "k", "text with a character that XML cannot represent"),
        ]
    )
    func refusesInvalidPropertyLists(parameters: [String: any Sendable], path: String, found: String) throws {
        let error = try #require(throws: RequestSerializationError.self) {
            try serializer.body(of: parameters)
        }
        #expect(error == .invalidPropertyList(at: path, found: found))
        let bridged = error as NSError
        #expect(bridged.domain == "com.alamofire.error.serialization.request")
        #expect(bridged.code == -1016)
        #expect(bridged.localizedFailureReason == "The `parameters` argument is not a valid property list.")
    }

    @Test(arguments: [Double.nan, .infinity, -1e18, 1e300, 253_402_300_800, -62_135_769_601])
    func refusesADateThatTheFormatCannotHold(seconds: Double) throws {
        let parameters = ["k": Date(timeIntervalSince1970: seconds)]
        let error = RequestSerializationError.invalidPropertyList(
            at: "k",
            found: "a Date outside of the years 1 to 9999"
        )
        #expect(throws: error) { try serializer.body(of: parameters) }
        let binary = PropertyListRequestSerializer(format: .binary)
        if seconds.isFinite {
            #expect(try dates(binary.body(of: parameters)) == parameters)
        } else {
            let error = RequestSerializationError.invalidPropertyList(
                at: "k",
                found: "a Date that is not finite"
            )
            #expect(throws: error) { try binary.body(of: parameters) }
        }
    }

    @Test func theLastDatesOfTheYearsWithFourDigitsAreWritten() throws {
        let last = ["k": Date(timeIntervalSince1970: 253_402_300_799)]
        #expect(try dates(serializer.body(of: last)) == last)
        #expect(try !serializer.body(of: ["k": Date.distantPast]).isEmpty)
    }

    private func dates(_ body: Data) throws -> [String: Date]? {
        try PropertyListSerialization.propertyList(from: body, format: nil) as? [String: Date]
    }

    private enum Order: String, Encodable { case ascending = "up" }

    @Test func acceptsTheParametersOfForms() throws {
        struct User: Encodable, Sendable {
            var name = "A"
            var order = Order.ascending
        }
        let values: [String: any Sendable] = [
            "url": URL(string: "http://h/") as any Sendable, "float": CGFloat(0.5), "slice": "ab".dropFirst(),
            "letter": Character("c"), "raw": Order.ascending, "user": User(), "keys": [1: 2],
            "set": Set([2, 1]), "large": UInt64.max, "decimal": Decimal(string: "0.25") as any Sendable,
        ]
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let body = try PropertyListRequestSerializer(format: format).body(of: values)
            let object = try PropertyListSerialization.propertyList(from: body, format: nil)
            let read = try #require(object as? [String: Any])
            #expect(read["url"] as? String == "http://h/" && read["float"] as? Double == 0.5)
            #expect(read["slice"] as? String == "b" && read["letter"] as? String == "c")
            #expect(read["raw"] as? String == "up" && read["keys"] as? [String: Int] == ["1": 2])
            #expect(read["user"] as? [String: String] == ["name": "A", "order": "up"])
            #expect(read["set"] as? [Int] == [1, 2] && read["large"] as? UInt64 == .max)
            #expect(read["decimal"] as? Double == 0.25)
        }
    }

    @Test func theBinaryFormatHoldsAnyText() throws {
        let body = try PropertyListRequestSerializer(format: .binary).body(of: ["k": "a\0\u{FFFE}"])
        #expect(
            try PropertyListSerialization.propertyList(from: body, format: nil) as? [String: String] == [
                "k": "a\0\u{FFFE}"
            ]
        )
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func parametersOfAbsurdDepthAreAnError(format: PropertyListSerialization.PropertyListFormat) throws {
        let serializer = PropertyListRequestSerializer(format: format)
        let error = RequestSerializationError.parametersTooDeep(limit: 512)
        #expect(throws: error) { try serializer.body(of: nestedArrays(513)) }
        #expect(try !serializer.body(of: nestedArrays(512)).isEmpty)
    }

    @Test func aFormatThatCannotBeWrittenIsAnError() {
        let serializer = PropertyListRequestSerializer(format: .openStep)
        #expect(throws: RequestSerializationError.self) { try serializer.body(of: ["k": 1]) }
    }

    @Test func anEncodableValueIsAPropertyList() throws {
        struct User: Encodable, Sendable {
            var name = "A"
            var born = Date(timeIntervalSince1970: 0)
            var nick: String?
        }
        let body = try serializer.body(of: User())
        let object = try PropertyListSerialization.propertyList(from: body, format: nil)
        let read = try #require(object as? [String: Any])
        #expect(read.keys.sorted() == ["born", "name"])
        #expect(read["born"] as? Date == Date(timeIntervalSince1970: 0))
        #expect(try serializer.body(of: [User()]).count > body.count)
    }
}
