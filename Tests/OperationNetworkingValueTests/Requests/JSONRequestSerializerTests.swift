import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct JSONRequestSerializerTests {
    let serializer = JSONRequestSerializer(writingOptions: .sortedKeys)
    let url: URL

    init() throws {
        url = try #require(URL(string: "http://example.com/path"))
    }

    private func text(of parameters: any Sendable) throws -> String {
        String(decoding: try serializer.body(of: parameters), as: UTF8.self)
    }

    // MARK: - Requests

    @Test("JSN-01, O5-18: a dictionary is a JSON body")
    func postsADictionary() throws {
        let request = try serializer.request(method: "POST", url: url, parameters: ["key": "value"])
        #expect(request.httpBody == Data(#"{"key":"value"}"#.utf8))
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(request.url == url)
    }

    @Test("JSN-02: an array is a JSON body")
    func postsAnArray() throws {
        let request = try serializer.request(method: "PUT", url: url, parameters: ["a", "b"])
        #expect(request.httpBody == Data(#"["a","b"]"#.utf8))
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
    }

    @Test(arguments: ["GET", "HEAD", "DELETE"])
    func theParametersOfAMethodWithoutABodyAreTheQuery(method: String) throws {
        let request = try serializer.request(method: method, url: url, parameters: ["key": [1, 2]])
        #expect(request.url?.query == "key%5B%5D=1&key%5B%5D=2")
        #expect(request.httpBody == nil)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == nil)
    }

    @Test func withoutParametersNothingIsAddedButFields() throws {
        let request = try serializer.request(method: "POST", url: url, parameters: nil)
        #expect(request.httpBody == nil)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == nil)
        #expect(request.value(forHTTPHeaderField: "User-Agent") != nil)

        var own = URLRequest(url: url)
        own.httpMethod = "POST"
        own.httpBody = Data("own".utf8)
        #expect(try serializer.request(bySerializing: own, with: nil).httpBody == Data("own".utf8))
    }

    @Test func theCallersContentTypeStays() throws {
        let type = "application/vnd.api+json"
        let headers = ["content-type": type]
        let request = try serializer.request(method: "POST", url: url, parameters: [1], headers: headers)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == type)
        #expect(request.httpBody == Data("[1]".utf8))

        var serializer = serializer
        try serializer.setValue(type, forHTTPHeaderField: "Content-Type")
        let other = try serializer.request(method: "POST", url: url, parameters: [1])
        #expect(other.value(forHTTPHeaderField: "Content-Type") == type)
    }

    @Test("F33: it and its copies have the settings of every serializer")
    func hasTheSettingsOfEverySerializer() throws {
        var original = serializer
        original.timeoutInterval = 5
        original.cachePolicy = .reloadIgnoringLocalCacheData
        original.httpShouldHandleCookies = false
        original.httpMethodsEncodingParametersInURI = ["QUERY"]
        original.arrayStyle = .repeated
        try original.setValue("one", forHTTPHeaderField: "X-Test")
        original.setAuthorization(username: "Aladdin", password: "open sesame")
        let copy = original
        original.clearAuthorization()
        original.queryStringSerialization = { _, _ in "own" }

        let request = try copy.request(method: "query", url: url, parameters: ["k": [1, 2]])
        #expect(request.url?.query == "k=1&k=2")
        #expect(request.timeoutInterval == 5)
        #expect(request.cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(!request.httpShouldHandleCookies)
        #expect(request.value(forHTTPHeaderField: "x-test") == "one")
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(copy.value(forHTTPHeaderField: "X-TEST") == "one")
        #expect(copy.httpRequestHeaders.count == 4)
        #expect(copy.timeoutInterval == 5 && copy.cachePolicy != nil && copy.httpShouldHandleCookies == false)
        #expect(copy.httpMethodsEncodingParametersInURI == ["QUERY"] && copy.arrayStyle == .repeated)
        #expect(copy.queryStringSerialization == nil)

        let changed = try original.request(method: "QUERY", url: url, parameters: ["k": 1])
        #expect(changed.url?.query == "own")
        #expect(changed.value(forHTTPHeaderField: "Authorization") == nil)
        #expect(
            try original.request(method: "POST", url: url, parameters: ["k": 1]).httpBody
                == Data(#"{"k":1}"#.utf8)
        )
    }

    @Test func refusesFieldsThatCannotBeSent() throws {
        var serializer = serializer
        #expect(throws: RequestSerializationError.invalidFieldValue(name: "X-Test")) {
            try serializer.setValue("a\r\nb", forHTTPHeaderField: "X-Test")
        }
        #expect(throws: RequestSerializationError.invalidMethod("P OST")) {
            try serializer.request(method: "P OST", url: url, parameters: [1])
        }
        #expect(throws: RequestSerializationError.invalidFieldName("a b")) {
            try serializer.request(method: "POST", url: url, parameters: [1], headers: ["a b": "c"])
        }
    }

    @Test func aCustomFormatNeedsABaseAContentTypeAndABody() throws {
        struct Lines: BodyRequestSerializer {
            var base = HTTPRequestSerializer()
            var contentType = "text/plain"
            func body(of parameters: Any) -> Data { Data("\(parameters)\n".utf8) }
        }
        var lines = Lines()
        lines.timeoutInterval = 3
        let request = try lines.request(method: "POST", url: url, parameters: 1)
        #expect(request.httpBody == Data("1\n".utf8))
        #expect(request.timeoutInterval == 3)
        lines.contentType = "text/plain\r\nX-Injected: 1"
        #expect(throws: RequestSerializationError.invalidFieldValue(name: "Content-Type")) {
            try lines.request(method: "POST", url: url, parameters: 1)
        }
    }

    // MARK: - Values

    @Test func writesPlainValuesOfEveryKind() throws {
        let values: [String: any Sendable] = [
            "a": true, "b": Int8(-1), "c": UInt64.max, "d": 0.5, "e": Float(1), "f": NSNull(),
            "g": "\u{0}\"é",
            "h": [Int](), "i": [1: 2].isEmpty, "j": Decimal(12), "k": sendable(NSNumber(value: 1.5)),
            "l": sendable(NSString("x")), "m": [String: Int](), "n": Int64.min,
            "o": sendable(NSNumber(value: Int8(-3))), "p": sendable(NSNumber(value: false)),
        ]
        #expect(
            try text(of: values)
                == #"{"a":true,"b":-1,"c":18446744073709551615,"d":0.5,"e":1,"f":null,"g":"\u0000\"é","h":[],"#
                + #""i":false,"j":12,"k":1.5,"l":"x","m":{},"n":-9223372036854775808,"o":-3,"p":false}"#
        )
    }

    @Test func optionalsAreTheirValueOrNull() throws {
        let values: [String: any Sendable] = [
            "a": Int?.none as any Sendable, "b": Int??.some(4) as any Sendable, "c": [1, nil] as [Int?],
            "d": Optional(["x": 1]) as any Sendable, "e": ["f": ["g": String?.none]],
        ]
        #expect(try text(of: values) == #"{"a":null,"b":4,"c":[1,null],"d":{"x":1},"e":{"f":{"g":null}}}"#)
    }

    @Test func foundationsCollectionsAreReadAsPlainOnes() throws {
        let array = NSArray(array: [
            1, NSDictionary(dictionary: ["a": NSMutableArray(array: ["x", NSNull()])]),
        ])
        #expect(try text(of: sendable(array)) == #"[1,{"a":["x",null]}]"#)
        #expect(try text(of: ["k": 1, "l": sendable(array)]) == #"{"k":1,"l":[1,{"a":["x",null]}]}"#)
    }

    @Test(
        "F31: what is not JSON is an error with AFNetworking's domain, code and sentence",
        arguments: [
            (["k": sendable(NSObject())] as [String: any Sendable], "k", "a value of type NSObject"),
            (["k": ["l": [1, Double.nan] as [any Sendable]]], "k.l[1]", "the number nan"),
            (["k": -Float.infinity], "k", "the number -inf"),
            (["k": CGFloat.infinity], "k", "the number inf"),
            (["k": [["l": Opaque()]]], "k[0].l", "a value of type Opaque"),
            (["k": [Opaque(): 2]], "k", "a key of type Opaque"),
            (
                ["k": sendable(NSDictionary(dictionary: [NSNumber(value: 1): "x", NSString("1"): "y"]))], "k",
                "two keys with the same text"
            ),
            (["k": sendable(NSNumber(value: Double.nan))], "k", "the number nan"),
            (["k": Decimal.nan], "k", "the number nan"),
        ]
    )
    func refusesWhatIsNotJSON(parameters: [String: any Sendable], path: String, found: String) throws {
        let error = try #require(throws: RequestSerializationError.self) {
            try serializer.body(of: parameters)
        }
        #expect(error == .invalidJSON(at: path, found: found))
        #expect(error.description == "The parameters are not valid JSON: \(found) at \(path).")
        let bridged = error as NSError
        #expect(bridged.domain == "com.alamofire.error.serialization.request")
        #expect(bridged.code == -1016)
        #expect(bridged.localizedFailureReason == "The `parameters` argument is not valid JSON.")
        #expect(throws: error) { try serializer.request(method: "POST", url: url, parameters: parameters) }
    }

    private struct Opaque: Hashable, Sendable {}

    private enum Order: String, Sendable { case ascending = "up" }

    private struct Point: Encodable, CustomStringConvertible, Sendable {
        var x = 1
        var description: String { "(1)" }
    }

    private static let zeros = "00000000-0000-0000-0000-000000000000"

    @Test(
        "parameters of forms are accepted with their types",
        arguments: [
            (URL(string: "http://h/a?b") as any Sendable, #""http://h/a?b""#),
            (URL(string: "a", relativeTo: URL(string: "http://h/")) as any Sendable, #""http://h/a""#),
            (CGFloat(0.1), "0.1"), (CGFloat(2), "2"), (Float(0.1), "0.1"),
            (Decimal(string: "12345678901234567.125") as any Sendable, "12345678901234567.125"),
            ("xyz".dropFirst(), #""yz""#), (Character("é"), #""é""#), (Order.ascending, #""up""#),
            (Point(), #"{"x":1}"#), (UUID(uuidString: zeros) as any Sendable, "\"\(zeros)\""),
            (Data([1, 2]), #""AQI=""#), (Date(timeIntervalSinceReferenceDate: 5), "5"),
            (Set([3, 1, 2]), "[1,2,3]"), ([Order.ascending: [1: true]], #"{"up":{"1":true}}"#),
            (sendable(NSNumber(value: true)), "true"), (sendable(NSNumber(value: 1)), "1"), (true, "true"),
            (["a": [Point(), nil]], #"{"a":[{"x":1},null]}"#),
        ] as [(any Sendable, String)]
    )
    func acceptsTheParametersOfForms(value: any Sendable, text: String) throws {
        var serializer = serializer
        serializer.writingOptions.insert(.withoutEscapingSlashes)
        let mixed: [String: any Sendable] = ["k": value, "n": 1, "t": "x"]
        #expect(
            try String(decoding: serializer.body(of: mixed), as: UTF8.self)
                == "{\"k\":\(text),\"n\":1,\"t\":\"x\"}"
        )
        #expect(
            try String(decoding: serializer.body(of: [value] as [Any]), as: UTF8.self) == "[\(text)]"
        )
        // A form takes it as well.
        #expect(try !QueryString(mixed).description.isEmpty)
    }

    @Test func anEncodableAmongPlainValuesIsWrittenByTheEncoderAndKeysOfDictionariesStay() throws {
        struct Person: Encodable, Sendable {
            var lastName = "B"
            var born = Date(timeIntervalSince1970: 0)
            var height = 1.5
        }
        var serializer = serializer
        serializer.makeEncoder = {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            encoder.keyEncodingStrategy = .convertToSnakeCase
            return encoder
        }
        let parameters: [String: any Sendable] = [
            "theOwner": Person(), "isNew": true, "sizes": [1, 2.5] as [any Sendable],
        ]
        #expect(
            try String(decoding: serializer.body(of: parameters), as: UTF8.self)
                == #"{"isNew":true,"sizes":[1,2.5],"theOwner":{"born":"1970-01-01T00:00:00Z","height":1.5,"#
                + #""last_name":"B"}}"#
        )
        let error = try #require(throws: EncodingError.self) {
            try serializer.body(of: ["a": [Person(), Person(height: .nan)]] as [String: any Sendable])
        }
        guard case .invalidValue(_, let context) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(context.codingPath.map(\.stringValue).joined(separator: ".").contains("height"))
    }

    @Test func aTypedContainerOfNumbersThatAreNotFiniteIsRefusedAlike() {
        #expect(throws: RequestSerializationError.invalidJSON(at: "[1]", found: "the number inf")) {
            try serializer.body(of: [1, Double.infinity])
        }
    }

    @Test func aTopLevelTextOrNumberNeedsAnOption() throws {
        let found = "a top-level value of type String"
        #expect(throws: RequestSerializationError.invalidJSON(at: "", found: found)) {
            try serializer.body(of: "text")
        }
        #expect(throws: RequestSerializationError.self) { try serializer.body(of: URL(fileURLWithPath: "/")) }
        let lenient = JSONRequestSerializer(writingOptions: [.fragmentsAllowed, .withoutEscapingSlashes])
        #expect(try lenient.body(of: "text") == Data(#""text""#.utf8))
        #expect(try lenient.body(of: 1.5) == Data("1.5".utf8))
        #expect(try lenient.body(of: NSNull()) == Data("null".utf8))
        #expect(try lenient.body(of: URL(fileURLWithPath: "/")) == Data(#""file:///""#.utf8))
    }

    @Test func parametersOfAbsurdDepthAreAnError() throws {
        let error = RequestSerializationError.parametersTooDeep(limit: 512)
        #expect(throws: error) { try serializer.body(of: nestedArrays(513)) }
        let deepest = try serializer.body(of: nestedArrays(512))
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: deepest) }
        #expect((error as NSError).code == -1016)
    }

    // MARK: - Encodable

    @Test func anEncodableValueIsWrittenByTheEncoderThatIsMade() throws {
        struct User: Encodable, Sendable {
            var firstName = "A/B"
            var born = Date(timeIntervalSince1970: 0)
            var nick: String?
        }
        #expect(try text(of: User()) == #"{"born":-978307200,"firstName":"A\/B"}"#)
        var serializer = serializer
        serializer.writingOptions.insert(.withoutEscapingSlashes)
        serializer.makeEncoder = {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            encoder.keyEncodingStrategy = .convertToSnakeCase
            return encoder
        }
        let body = try serializer.body(of: [User()])
        #expect(
            String(decoding: body, as: UTF8.self) == #"[{"born":"1970-01-01T00:00:00Z","first_name":"A/B"}]"#
        )
        #expect(
            try serializer.body(of: ["u": Date(timeIntervalSince1970: 0)])
                == Data(#"{"u":"1970-01-01T00:00:00Z"}"#.utf8)
        )
    }

    @Test func anEncodersOwnErrorComesOut() {
        struct Measure: Encodable, Sendable {
            var value = Double.nan
        }
        #expect(throws: EncodingError.self) { try serializer.body(of: Measure()) }
    }
}
