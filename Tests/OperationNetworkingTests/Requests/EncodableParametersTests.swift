import Foundation
import FoundationNetworking
import OperationNetworking
import Testing

@testable import OperationNetworkingTestSupport

@Suite struct EncodableParametersTests {
    struct Search: Encodable {
        enum Order: String, Encodable { case newest, oldest }
        struct Range: Encodable {
            var from = 1
            var to: Int?
        }

        var text = "a b"
        var order = Order.newest
        var tags = ["x", "y"]
        var range = Range()
        var isExact = true
        var after: Date? = Date(timeIntervalSince1970: 1_792_233_765)
        var token = Data([0xFB, 0xFF])
        var page = URL(string: "http://h/?a=b")
        var price = Decimal(string: "12.50")
        var weight = 2.0
        var limit: Int?
    }

    @Test func anEncodableValueIsAQuery() throws {
        let pairs = try QueryString(encoding: Search()).pairs.map { "\($0.name)=\($0.value ?? "nil")" }
        #expect(
            pairs == [
                "after=2026-10-17T10:42:45Z", "isExact=1", "order=newest", "page=http://h/?a=b", "price=12.5",
                "range[from]=1", "tags[]=x", "tags[]=y", "text=a b", "token=+/8=", "weight=2",
            ]
        )
    }

    private enum NamedKey: String, Encodable { case page }

    /// As in a structure with that property, although a dictionary is otherwise written as it is.
    @Test func aDictionaryIsEncodedByTheVerbsToo() throws {
        let manager = OperationManager(baseURL: URL(string: "http://h/"))
        let date = Date(timeIntervalSince1970: 1_792_233_765)
        func query(_ value: some Encodable & Sendable) throws -> String? {
            try manager.request("GET", "a", parameters: .encoding(value)).url?.query
        }
        #expect(try query(["since": date]) == "since=2026-10-17T10%3A42%3A45Z")
        #expect(throws: EncodingError.self) { try query(["r": Double.infinity]) }
        // In the order and with the names that dictionaries and sets have as parameters.
        #expect(try query([NamedKey.page: 2]) == "page=2")
        #expect(try query(["ids": Set([3, 1, 2])]) == "ids=1&ids=2&ids=3")
        #expect(try query(["a": ["b": [true, false]]]) == "a%5Bb%5D%5B%5D=1&a%5Bb%5D%5B%5D=0")
        #expect(throws: RequestSerializationError.unsupportedParameters(type: "Array<Int>")) {
            try query([1])
        }
    }

    @Test func aDictionaryIsEncodedAsABodyToo() throws {
        let manager = OperationManager(baseURL: URL(string: "http://h/"))
        func body(
            _ serializer: some RequestSerializer,
            _ value: some Encodable & Sendable
        ) throws -> Data? {
            manager.requestSerializer = serializer
            return try manager.request("POST", "a", parameters: .encoding(value)).httpBody
        }
        let value = ["r": Double.infinity]
        var json = JSONRequestSerializer()
        #expect(throws: RequestSerializationError.invalidJSON(at: "r", found: "the number inf")) {
            try body(json, value)
        }
        json.makeEncoder = {
            let encoder = JSONEncoder()
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "+",
                negativeInfinity: "-",
                nan: "?"
            )
            return encoder
        }
        #expect(try body(json, value) == Data(#"{"r":"+"}"#.utf8))
        let list = try #require(try body(PropertyListRequestSerializer(), ["a": 1]))
        #expect(
            try PropertyListSerialization.propertyList(from: list, format: nil) as? [String: Int] == ["a": 1]
        )
    }

    @Test func otherSerializersReceiveTheValueItself() throws {
        struct Own: RequestSerializer {
            func request(bySerializing request: URLRequest, with parameters: Any?) throws -> URLRequest {
                var request = request
                request.httpBody = Data("\(parameters ?? "none")".utf8)
                return request
            }
        }
        let manager = OperationManager(baseURL: URL(string: "http://h/"))
        manager.requestSerializer = Own()
        let asked = try manager.request("POST", "a", parameters: .encoding([1, 2]))
        #expect(asked.httpBody == Data("[1, 2]".utf8))
        var forms = HTTPRequestSerializer()
        forms.queryStringSerialization = { _, parameters in "\(parameters)" }
        manager.requestSerializer = forms
        let form = try manager.request("POST", "a", parameters: .encoding([1, 2]))
        #expect(form.httpBody == Data("[1, 2]".utf8))
    }

    @Test func serializersTakeAnEncodableValue() throws {
        let url = try #require(URL(string: "http://h/"))
        var serializer = HTTPRequestSerializer()
        serializer.arrayStyle = .comma
        let asked = try serializer.request(method: "GET", url: url, parameters: ["a": [1, 2]])
        #expect(asked.url?.absoluteString == "http://h/?a=1,2")
        let range = Search.Range(from: 3, to: 4)
        let posted = try serializer.request(method: "POST", url: url, parameters: range)
        #expect(posted.httpBody == Data("from=3&to=4".utf8))
        let nested = try serializer.request(
            method: "GET",
            url: url,
            parameters: ["r": range, "o": Search.Order.oldest] as [String: any Sendable]
        )
        #expect(nested.url?.query == "o=oldest&r%5Bfrom%5D=3&r%5Bto%5D=4")
    }

    @Test func nilIsOmittedAndAnEncodedNilIsANameWithoutAValue() throws {
        struct Both: Encodable {
            enum Key: CodingKey { case explicit, absent, list }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encodeNil(forKey: .explicit)
                try container.encodeIfPresent(Int?.none, forKey: .absent)
                try container.encode([1, nil], forKey: .list)
            }
        }
        #expect(try QueryString(encoding: Both()).description == "explicit&list%5B%5D=1&list%5B%5D")
    }

    @Test func containersOfEveryKindAreWritten() throws {
        class Base: Encodable {
            let id = Int128(1) << 100
        }
        class Derived: Base {
            enum Key: CodingKey { case own, pair, keyed, other, none }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(Int8(-1), forKey: .own)
                var pair = container.nestedUnkeyedContainer(forKey: .pair)
                try pair.encode(UInt8(2))
                try pair.encodeNil()
                try "s".encode(to: pair.superEncoder())
                var inner = pair.nestedUnkeyedContainer()
                try inner.encode(true)
                var innerKeyed = inner.nestedContainer(keyedBy: Key.self)
                try innerKeyed.encode(Float(0.5), forKey: .own)
                var keyed = container.nestedContainer(keyedBy: Key.self, forKey: .keyed)
                try keyed.encode(["x": 1], forKey: .other)
                try Int?.none.encode(to: container.superEncoder(forKey: .other))
                _ = container.nestedContainer(keyedBy: Key.self, forKey: .none)
                try super.encode(to: container.superEncoder())
                #expect(pair.count == 4)
            }
        }
        let pairs = try QueryString(encoding: Derived(), arrayStyle: .indices).pairs
            .map { "\($0.name)=\($0.value ?? "nil")" }
        #expect(
            pairs == [
                "keyed[other][x]=1", "other=nil", "own=-1", "pair[0]=2", "pair[1]=nil", "pair[2]=s",
                "pair[3][0]=1", "pair[3][1][own]=0.5", "super[id]=1267650600228229401496703205376",
            ]
        )
    }

    @Test func aContainerRequestedTwiceIsOneContainer() throws {
        struct Twice: Encodable {
            enum Key: CodingKey { case a, b }
            func encode(to encoder: any Encoder) throws {
                var one = encoder.container(keyedBy: Key.self)
                try one.encode(1, forKey: .a)
                var other = encoder.container(keyedBy: Key.self)
                try other.encode(2, forKey: .b)
            }
        }
        #expect(try QueryString(encoding: Twice()).description == "a=1&b=2")
    }

    @Test func aValueThatEncodesNothingAddsNothing() throws {
        struct Nothing: Encodable {
            func encode(to encoder: any Encoder) {}
        }
        #expect(try QueryString(encoding: Nothing()).description == "")
    }

    // MARK: - Errors

    @Test func theErrorOfTheValueComesOut() throws {
        struct Refusal: Error {}
        struct Refusing: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws { throw Refusal() }
        }
        #expect(throws: Refusal.self) { try QueryString(encoding: Refusing()) }
        #expect(throws: Refusal.self) { try QueryString(["k": Refusing()]) }
        #expect(throws: Refusal.self) { try JSONRequestSerializer().body(of: ["k": Refusing()]) }
        #expect(throws: Refusal.self) { try PropertyListRequestSerializer().body(of: Refusing()) }
    }

    @Test func twoKindsOfContainerInOnePlaceAreAnError() {
        struct Confused: Encodable {
            enum Key: CodingKey { case a }
            func encode(to encoder: any Encoder) throws {
                var keyed = encoder.container(keyedBy: Key.self)
                try keyed.encode(1, forKey: .a)
                var unkeyed = encoder.unkeyedContainer()
                try unkeyed.encode(2)
            }
        }
        #expect(throws: EncodingError.self) { try QueryString(encoding: Confused()) }
    }

    @Test func aValueWithoutAReadableTextIsAnError() throws {
        try refuses(Double.nan)
        try refuses(Float.infinity)
        try refuses(Decimal.nan)
        // Nothing may describe these: the description of a date that no calendar reaches traps.
        try refuses(Date(timeIntervalSince1970: .nan))
        try refuses(Date(timeIntervalSince1970: 1e300))
        try refuses(Date(timeIntervalSince1970: -1e11))
    }

    // Foundation writes the year 506713 for a date after it, and 4713 BC for NaN, and says nothing.

    private struct Offer: Encodable {
        var until: [Date]

        init(_ seconds: Double) { until = [Date(timeIntervalSince1970: seconds)] }
    }

    private static let dateless: [Double] = [.nan, .infinity, -.infinity, 1e300, 1e18, 2.6e11, -1e11]

    @Test(arguments: dateless) func aDateThatTheFormatCannotHoldIsAnError(seconds: Double) throws {
        var json = JSONRequestSerializer()
        json.makeEncoder = {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            return encoder
        }
        let binary = PropertyListRequestSerializer(format: .binary)
        let offer = Offer(seconds)
        let writers = [
            { try json.body(of: offer) }, { try PropertyListRequestSerializer().body(of: offer) },
            { try binary.body(of: seconds.isFinite ? Offer(.nan) : offer) },
        ]
        for write in writers {
            let error = try #require(throws: EncodingError.self) { _ = try write() }
            guard case .invalidValue(_, let context) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(context.codingPath.map(\.stringValue).first == "until")
            #expect(RequestFailure(error).isProgrammingError)
        }
        if seconds.isFinite {
            #expect(try !binary.body(of: offer).isEmpty)
            #expect(try !JSONRequestSerializer().body(of: offer).isEmpty)
        } else {
            #expect(throws: EncodingError.self) { try JSONRequestSerializer().body(of: offer) }
        }
    }

    @Test func aStrategyOfTheCallersWritesAnyDate() throws {
        var json = JSONRequestSerializer()
        json.makeEncoder = {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .custom { _, encoder in try "later".encode(to: encoder) }
            return encoder
        }
        #expect(try json.body(of: Offer(.infinity)) == Data(#"{"until":["later"]}"#.utf8))
    }

    @Test func theFirstAndTheLastDateWithFourDigitsAreWritten() throws {
        let last = Date(timeIntervalSince1970: 253_402_300_799)
        let query = try QueryString(encoding: ["a": Date.distantPast, "b": last])
        #expect(query.pairs.map(\.value) == ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
        #expect(try !PropertyListRequestSerializer().body(of: Offer(last.timeIntervalSince1970)).isEmpty)
    }

    private func refuses(_ value: some Encodable) throws {
        let error = try #require(throws: EncodingError.self) { try QueryString(encoding: ["value": value]) }
        guard case .invalidValue(_, let context) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["value"])
    }

    @Test(arguments: [false, true])
    func aValueOfAbsurdDepthIsAnErrorOfEverySerializer(isCircle: Bool) {
        let chain = Chain.make(length: isCircle ? 3 : 100_000, isCircle: isCircle)
        defer { chain.open() }
        let error = RequestSerializationError.parametersTooDeep(limit: 512)
        #expect(throws: error) { try QueryString(encoding: chain) }
        #expect(throws: error) { try JSONRequestSerializer().body(of: chain) }
        #expect(throws: error) { try PropertyListRequestSerializer().body(of: chain) }
    }

    @Test func aValueMayBeHundredsOfLevelsDeep() throws {
        let chain = Chain.make(length: 400)
        defer { chain.open() }
        #expect(try QueryString(encoding: chain).description == "")
        #expect(try JSONRequestSerializer().body(of: chain).count == 399 * 9 + 2)
        #expect(try !PropertyListRequestSerializer().body(of: chain).isEmpty)
    }

    @Test func goingDeepWithoutEncodingAnythingIsAnError() {
        struct Digger: Encodable {
            enum Key: CodingKey { case a }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                for _ in 0..<100_000 { container = container.nestedContainer(keyedBy: Key.self, forKey: .a) }
                try container.encode(1, forKey: .a)
            }
        }
        #expect(throws: RequestSerializationError.parametersTooDeep(limit: 512)) {
            try QueryString(encoding: Digger())
        }
    }
}
