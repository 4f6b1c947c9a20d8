import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The texts that the serializers write, read back by others. A failure names its seed.
@Suite struct RequestRoundTripTests {
    static let seeds = 0..<UInt64(Rounds.count(300))
    let url: URL

    init() throws {
        url = try #require(URL(string: "http://example.com/"))
    }

    // MARK: - Queries and forms

    @Test(arguments: QueryString.ArrayStyle.allCases)
    func aStrictReaderFindsTheParametersInTheQuery(style: QueryString.ArrayStyle) throws {
        var serializer = HTTPRequestSerializer()
        serializer.arrayStyle = style
        for seed in Self.seeds {
            var generator = SeededGenerator(seed: seed)
            let values = PlainValue.dictionary(PlainValue.Kinds(), using: &generator)
            let parameters = values.mapValues(\.parameter)
            let expected = Pair.pairs(of: values, style: style)

            let query = try QueryString(parameters, arrayStyle: style)
            #expect(try Pair.read(query.description) == expected, "seed \(seed)")

            let asked = try serializer.request(method: "GET", url: url, parameters: parameters)
            let text = asked.url?.absoluteString.dropFirst("http://example.com/?".count)
            #expect(try Pair.read(String(text ?? "")) == expected, "seed \(seed)")

            let posted = try serializer.request(method: "POST", url: url, parameters: parameters)
            let body = try #require(posted.httpBody)
            #expect(try Pair.read(String(decoding: body, as: UTF8.self)) == expected, "seed \(seed)")
        }
    }

    /// One pair as a server reads it: split at the commas first, then unescaped.
    struct Pair: Equatable {
        let name: [UInt8]
        /// `nil` without `=`; one element unless the style is commas.
        let values: [[UInt8]]?

        init(_ name: String, _ values: [String]?) {
            self.name = Array(name.utf8)
            self.values = values.map { $0.map { Array($0.utf8) } }
        }

        // MARK: What is expected, from the documentation alone

        static func pairs(of dictionary: [String: PlainValue], style: QueryString.ArrayStyle) -> [Pair] {
            sorted(dictionary).flatMap { pairs(of: $1, named: $0, style) }
        }

        private static func sorted(_ dictionary: [String: PlainValue]) -> [(String, PlainValue)] {
            dictionary.sorted { Array($0.key.utf16).lexicographicallyPrecedes(Array($1.key.utf16)) }
                .map { ($0.key, $0.value) }
        }

        private static func pairs(
            of value: PlainValue,
            named name: String,
            _ style: QueryString.ArrayStyle
        ) -> [Pair] {
            switch value {
            case .dictionary(let dictionary):
                return sorted(dictionary).flatMap { pairs(of: $1, named: "\(name)[\($0)]", style) }
            case .array(let array):
                let texts = array.map(\.text)
                if style == .comma, !texts.contains(nil) {
                    return array.isEmpty ? [] : [Pair(name, texts.compactMap { $0 })]
                }
                return array.enumerated().flatMap { position, element in
                    switch style {
                    case .brackets, .comma: pairs(of: element, named: "\(name)[]", style)
                    case .indices: pairs(of: element, named: "\(name)[\(position)]", style)
                    case .repeated: pairs(of: element, named: name, style)
                    }
                }
            case .null:
                return [Pair(name, nil)]
            case .bool, .integer, .number, .text:
                return [Pair(name, [value.text ?? ""])]
            }
        }

        // MARK: What was written

        struct Malformed: Error {
            let text: String
        }

        static func read(_ text: String) throws -> [Pair] {
            guard !text.isEmpty else { return [] }
            return try text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
                let sides = pair.split(separator: "=", omittingEmptySubsequences: false)
                guard sides.count <= 2 else { throw Malformed(text: text) }
                let name = try unescape(sides[0])
                guard sides.count == 2 else { return Pair(name, nil) }
                let values = try sides[1].split(separator: ",", omittingEmptySubsequences: false).map(
                    unescape
                )
                return Pair(name, values)
            }
        }

        /// Only what is reserved is escaped, and in upper case.
        private static func unescape(_ text: Substring) throws -> String {
            var octets: [UInt8] = []
            var rest = Array(text.utf8)[...]
            while let octet = rest.popFirst() {
                if octet == UInt8(ascii: "%") {
                    let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                    guard digits.utf8.count == 2, digits == digits.uppercased(),
                        let escaped = UInt8(digits, radix: 16), !isPlain(escaped)
                    else { throw Malformed(text: String(text)) }
                    octets.append(escaped)
                    rest = rest.dropFirst(2)
                } else {
                    guard isPlain(octet) else { throw Malformed(text: String(text)) }
                    octets.append(octet)
                }
            }
            guard let unescaped = String(validating: octets, as: UTF8.self) else {
                throw Malformed(text: String(text))
            }
            return unescaped
        }

        private static func isPlain(_ octet: UInt8) -> Bool {
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?".utf8.contains(octet)
        }
    }

    // MARK: - Bodies

    @Test func foundationReadsTheParametersInTheJSON() throws {
        for seed in Self.seeds {
            var generator = SeededGenerator(seed: seed)
            let values = PlainValue.dictionary(PlainValue.Kinds(), using: &generator)
            let options: JSONSerialization.WritingOptions =
                seed % 2 == 0 ? [] : [.prettyPrinted, .sortedKeys]
            let serializer = JSONRequestSerializer(writingOptions: options)
            let parameters = values.mapValues(\.parameter)
            let request = try serializer.request(method: "POST", url: url, parameters: parameters)
            let read = try JSONSerialization.jsonObject(with: #require(request.httpBody))
            #expect(PlainValue.dictionary(values).isEqual(to: read), "seed \(seed)")
        }
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func foundationReadsTheParametersInThePropertyList(
        format: PropertyListSerialization.PropertyListFormat
    ) throws {
        let kinds = PlainValue.Kinds(hasNulls: false, hasControls: format == .binary)
        let serializer = PropertyListRequestSerializer(format: format)
        for seed in Self.seeds {
            var generator = SeededGenerator(seed: seed)
            let values = PlainValue.dictionary(kinds, using: &generator)
            let parameters = values.mapValues(\.parameter)
            let request = try serializer.request(method: "POST", url: url, parameters: parameters)
            let read = try PropertyListSerialization.propertyList(
                from: #require(request.httpBody),
                format: nil
            )
            #expect(PlainValue.dictionary(values).isEqual(to: read), "seed \(seed)")
        }
    }

    @Test func whatIsEncodedIsWhatADictionaryWouldBe() throws {
        for seed in Self.seeds {
            var generator = SeededGenerator(seed: seed)
            let values = PlainValue.dictionary(PlainValue.Kinds(), using: &generator)
            let style = QueryString.ArrayStyle.allCases[Int(seed % 4)]
            let query = try QueryString(values.mapValues(\.parameter), arrayStyle: style)
            #expect(try QueryString(encoding: values, arrayStyle: style) == query, "seed \(seed)")
        }
    }
}

extension PlainValue {
    /// In a query, `nil` for what has parts; a null among others is empty.
    fileprivate var text: String? {
        switch self {
        case .null: ""
        case .bool(let value): value ? "1" : "0"
        case .integer(let value): "\(value)"
        case .number(let value): value == value.rounded() ? "\(Int(value))" : "\(value)"
        case .text(let value): value
        case .array, .dictionary: nil
        }
    }
}

extension PlainValue: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .dictionary(let values): try container.encode(values)
        }
    }
}
