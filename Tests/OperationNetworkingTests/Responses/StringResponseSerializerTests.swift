import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct StringResponseSerializerTests {
    private func response(_ type: String?, status: Int = 200) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://example.com/"))
        let fields = type.map { ["Content-Type": $0] }
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
        )
    }

    /// Octets, the media type, the fallback, and the text.
    private static let rows: [([UInt8], String?, String.Encoding, String)] = [
        ([0x67, 0x72, 0xC3, 0xBC, 0x6E], "text/plain; charset=utf-8", .isoLatin1, "gr\u{fc}n"),
        ([0x67, 0x72, 0xFC, 0x6E], "text/plain; charset=iso-8859-1", .utf8, "gr\u{fc}n"),
        ([0x67, 0x72, 0xFC, 0x6E], "Text/HTML ;Charset=\"ISO-8859-1\"", .utf8, "gr\u{fc}n"),
        ([0xCF, 0xF0], "text/plain; charset=windows-1251", .utf8, "\u{41f}\u{440}"),
        ([0x67, 0x72, 0xC3, 0xBC, 0x6E], "text/plain", .utf8, "gr\u{fc}n"),
        ([0x67, 0x72, 0xC3, 0xBC, 0x6E], nil, .utf8, "gr\u{fc}n"),
        ([0x67, 0x72, 0xFC, 0x6E], nil, .isoLatin1, "gr\u{fc}n"),
        ([0x67, 0x72, 0xC3, 0xBC, 0x6E], "text/plain; charset=nothing-known", .utf8, "gr\u{fc}n"),
        ([0xEF, 0xBB, 0xBF, 0x61], "text/plain; charset=utf-8", .utf8, "a"),
        ([0xFF, 0xFE, 0x61, 0x00], "text/plain; charset=utf-16", .utf8, "a"),
        ([], "text/plain", .utf8, ""),
    ]

    @Test(arguments: rows)
    func theCharacterSetOfTheResponseCounts(
        octets: [UInt8],
        type: String?,
        fallback: String.Encoding,
        expected: String
    ) throws {
        let serializer = StringResponseSerializer(fallbackEncoding: fallback)
        let object = try serializer.responseObject(for: response(type), data: Data(octets))
        #expect(object as? String == expected)
    }

    @Test func noBodyIsAnEmptyText() throws {
        let object = try StringResponseSerializer().responseObject(for: response(nil, status: 204), data: nil)
        #expect(object as? String == "")
    }

    @Test func octetsThatAreNotTextAreAnError() throws {
        let error = #expect(throws: ResponseSerializationError.self) {
            try StringResponseSerializer().responseObject(
                for: response("text/plain; charset=utf-8"),
                data: Data([0xFF])
            )
        }
        #expect(error?.reason == .undecodableText(charset: "utf-8"))
    }

    @Test func anUnacceptableStatusHasItsText() throws {
        let error = #expect(throws: ResponseSerializationError.self) {
            try StringResponseSerializer().responseObject(
                for: response(nil, status: 404),
                data: Data("none".utf8)
            )
        }
        #expect(error?.reason == .unacceptableStatusCode(404) && error?.responseObject as? String == "none")
    }

    @Test func theAcceptedTypesCanBeSetInOneExpression() throws {
        let serializer = StringResponseSerializer().accepting(statusCodes: [200, 404, -1, 5_000])
            .accepting(contentTypes: ["text/plain"])
        #expect(serializer.acceptableStatusCodes == [200, 404])
        let data = Data("none".utf8)
        let object = try serializer.responseObject(for: response("text/plain", status: 404), data: data)
        #expect(object as? String == "none")
        #expect(throws: ResponseSerializationError.self) {
            try serializer.responseObject(for: response("text/html"), data: data)
        }
        #expect(throws: ResponseSerializationError.self) {
            try serializer.responseObject(for: response("text/plain", status: 201), data: data)
        }
    }

    @Test func aVerbReturnsTheText() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "text/plain; charset=iso-8859-1"], body: .data(Data([0xFC])))
        ])
        let manager = OperationManager(baseURL: server.url)
        let text: String = try await manager.response("GET", "x", with: StringResponseSerializer()).value
        #expect(text == "\u{fc}")
    }

    @Test func itIsRestoredFromAnArchive() throws {
        let serializer = StringResponseSerializer(fallbackEncoding: .isoLatin1)
            .accepting(statusCodes: 200..<500)
        let data = try JSONEncoder().encode(serializer)
        #expect(try JSONDecoder().decode(StringResponseSerializer.self, from: data) == serializer)
        let manager = OperationManager()
        manager.responseSerializer = serializer
        let kept = try JSONDecoder().decode(
            OperationManagerArchive.self,
            from: try JSONEncoder().encode(try manager.archive)
        )
        #expect(OperationManager(archive: kept).responseSerializer as? StringResponseSerializer == serializer)
    }
}
