import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking

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

    @Test("512 levels fit into a small stack, also while nulls are removed", arguments: [false, true])
    func reads512Levels(removesNulls: Bool) async throws {
        var serializer = JSONResponseSerializer()
        serializer.removesKeysWithNullValues = removesNulls
        let text = String(repeating: #"{"a":"#, count: 511) + "[]" + String(repeating: "}", count: 511)
        #expect(try await refusal(Data(text.utf8), serializer: serializer) == nil)
    }

    @Test("A number of a million digits ends soon", arguments: ["", "-", "0.", "1e", "1e-", "1."])
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
        "What is no JSON in UTF-8 is an error",
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

    @Test("Half a million members, and as many of one name, end soon", arguments: [false, true])
    func endsWithManyMembers(sameName: Bool) async throws {
        let members = (0..<500_000).map { sameName ? #""a":1"# : "\"\($0)\":1" }
        let clock = ContinuousClock()
        let start = clock.now
        #expect(try await refusal(Data("{\(members.joined(separator: ","))}".utf8)) == nil)
        #expect(clock.now - start < .seconds(60))
    }
}
