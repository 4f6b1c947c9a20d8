import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import Testing

@testable import OperationNetworkingTestSupport

/// JSON that is made to hurt. Each body is parsed where bodies are parsed, on a thread with a small stack.
@Suite(.timeLimit(.minutes(5))) struct HostileJSONTests {
    /// The sentence of the error, `nil` if there is none.
    private func refusal(
        _ data: Data,
        type: String = "application/json",
        serializer: JSONResponseSerializer = .init()
    ) async throws -> String? {
        let response = try exampleResponse(200, type)
        return await onDispatchThread {
            do {
                _ = try serializer.responseObject(for: response, data: data)
                return nil
            } catch {
                return "\(error)"
            }
        }
    }

    @Test(
        "100,000 levels are an error in every encoding",
        arguments: ["[", #"{"a":"#, #"[{"a":"#],
        [String.Encoding.utf8, .utf16, .utf16LittleEndian, .utf32, .utf32BigEndian]
    )
    func refusesDeepNesting(opening: String, encoding: String.Encoding) async throws {
        let text = String(repeating: opening, count: 100_000)
        let sentence = try await refusal(try #require(text.data(using: encoding)))
        #expect(sentence != nil)
    }

    @Test("512 levels fit on a small stack, even while nulls are removed", arguments: [false, true])
    func reads512Levels(removesNulls: Bool) async throws {
        var serializer = JSONResponseSerializer()
        serializer.removesKeysWithNullValues = removesNulls
        let text = String(repeating: #"{"a":"#, count: 511) + "[]" + String(repeating: "}", count: 511)
        #expect(try await refusal(Data(text.utf8), serializer: serializer) == nil)
    }

    /// Where a decoder ran.
    private struct Witness: Decodable, Sendable {
        let thread: ThreadIdentity
        init(from decoder: any Decoder) throws { thread = .current }
    }

    @Test(arguments: [
        (String(repeating: "[", count: 16) + String(repeating: "]", count: 16), true),
        (String(repeating: "[", count: 17) + String(repeating: "]", count: 17), false),
        (#"["]]]]]]]]]]]]]]]]]\"[[[[[[[[[[[[[[[[[[[[[[[",{"a":[]}]"#, true),
        (#"["\\\"[[[[[[[[[[[[[[[[[",[]]"#, true), (#"["\\",[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]"#, false),
    ])
    func onlyDeepBodiesAreDecodedOnAStackOfTheirOwn(text: String, isShallow: Bool) async throws {
        let body = Data((text + String(repeating: " ", count: 300)).utf8)
        let serializer = DecodableResponseSerializer(Witness.self)
        let response = try exampleResponse(200, "application/json")
        let isHere = await onDispatchThread {
            Result { try serializer.value(for: response, data: body).thread.isCurrent }
        }
        #expect(try isHere.get() == isShallow)
    }

    // MARK: - Trees that are much bigger than their body

    private static let tooBig = "Its values would take more than about 1 GiB of memory."

    @Test("400,000 objects in 3 MB, which would take more than 1 GiB, are an error and not parsed")
    func refusesManyObjects() async throws {
        let text = "[\(String(repeating: #"{"":0},"#, count: 400_000))0]"
        #expect(try await refusal(Data(text.utf8))?.contains(Self.tooBig) == true)
        let wide = try #require(text.data(using: .utf16LittleEndian))
        #expect(try await refusal(wide)?.contains(Self.tooBig) == true)
        // As many octets of text are accepted.
        #expect(try await refusal(Data("[\"\(text.replacing("\"", with: "'"))\"]".utf8)) == nil)
        let error = try #require(throws: ResponseSerializationError.self) {
            try JSONResponseSerializer()
                .responseObject(for: exampleResponse(500, "application/json"), data: Data(text.utf8))
        }
        #expect(error.reason == .malformedBody(.json, Self.tooBig))
        #expect(
            (error.underlyingError as? ResponseSerializationError)?.reason == .unacceptableStatusCode(500)
        )
    }

    @Test("400,000 objects are decoded, and 17 million numbers are not")
    func limitsWhatIsDecoded() throws {
        struct Nothing: Decodable, Sendable { init(from decoder: any Decoder) {} }
        let response = try exampleResponse(200, "application/json")
        let serializer = DecodableResponseSerializer(Nothing.self)
        let objects = Data("[\(String(repeating: #"{"":0},"#, count: 400_000))0]".utf8)
        _ = try serializer.value(for: response, data: objects)
        let numbers = Data("[\(String(repeating: "0,", count: 1 << 24))0]".utf8)
        let error = try #require(throws: ResponseSerializationError.self) {
            try serializer.value(for: response, data: numbers)
        }
        #expect(error.reason == .malformedBody(.json, Self.tooBig))
    }

    @Test("A comment of JSON5 may have more than 512 brackets")
    func readsDeepComments() throws {
        let deep = Data(("/*" + String(repeating: "[", count: 600) + "*/0").utf8)
        let response = try exampleResponse(200, "application/json")
        let value = try DecodableResponseSerializer(Int.self) {
            let decoder = JSONDecoder()
            decoder.allowsJSON5 = true
            return decoder
        }.value(for: response, data: deep)
        #expect(value == 0)
    }

    @Test("A number of a million digits is parsed quickly", arguments: ["", "-", "0.", "1e", "1e-", "1."])
    func endsWithLongNumbers(prefix: String) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        _ = try await refusal(Data("[\(prefix)\(String(repeating: "9", count: 1_000_000))]".utf8))
        #expect(clock.now - start < .seconds(20))
    }

    private static let octets: [[UInt8]] = [
        [0x5B, 0x22, 0xC0, 0x80, 0x22, 0x5D],  // overlong
        [0x5B, 0x22, 0xED, 0xA0, 0x80, 0x22, 0x5D],  // a surrogate
        [0x5B, 0x22, 0xF4, 0x90, 0x80, 0x80, 0x22, 0x5D],  // beyond Unicode
        [0x5B, 0x22, 0xC3], [0xFF, 0xFE], [0xFE, 0xFF, 0x00], [0x00], [UInt8](repeating: 0, count: 100_000),
    ]

    private static let texts: [String] = [
        #"["\ud800"]"#, #"["\udc00\ud800"]"#, #"["\ud800\u0041"]"#, #"["\u12"]"#, #"["\x"]"#, "[\"\0\"]",
        "[\0]",
        "[]\0", "[,1]", "[01]", "[NaN]", "[1e]", #"{"a"}"#,
    ]

    @Test(
        "Anything but JSON in UTF-8 is an error",
        arguments: octets.map { Data($0) } + texts.map { Data($0.utf8) }
    )
    func refuses(data: Data) async throws {
        #expect(try await refusal(data) != nil)
    }

    @Test func aByteOrderMarkIsSkipped() throws {
        let data = Data([0xEF, 0xBB, 0xBF]) + Data("[1]".utf8)
        let object = try JSONResponseSerializer().responseObject(
            for: exampleResponse(200, "text/json"),
            data: data
        )
        #expect((object as? [Any])?.count == 1)
    }

    @Test func ofTwoMembersWithOneNameOneIsKept() throws {
        let data = Data(#"{"a": 1, "a": 2}"#.utf8)
        let object = try JSONResponseSerializer().responseObject(
            for: exampleResponse(200, "text/json"),
            data: data
        )
        #expect((object as? [String: Any])?.count == 1)
    }

    @Test("Half a million members, even with one name, are parsed quickly", arguments: [false, true])
    func endsWithManyMembers(sameName: Bool) async throws {
        let members = (0..<500_000).map { sameName ? #""a":1"# : "\"\($0)\":1" }
        let clock = ContinuousClock()
        let start = clock.now
        #expect(try await refusal(Data("{\(members.joined(separator: ","))}".utf8)) == nil)
        #expect(clock.now - start < .seconds(60))
    }
}
