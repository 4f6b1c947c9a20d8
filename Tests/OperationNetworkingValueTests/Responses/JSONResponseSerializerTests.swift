import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct JSONResponseSerializerTests {
    let serializer = JSONResponseSerializer()

    private func object(_ text: String, status: Int = 200, type: String? = "application/json") throws -> Any?
    {
        try serializer.responseObject(for: exampleResponse(status, type), data: Data(text.utf8))
    }

    private func error(_ body: Data, status: Int = 200, type: String? = "application/json") throws
        -> ResponseSerializationError
    {
        try #require(throws: ResponseSerializationError.self) {
            try serializer.responseObject(for: exampleResponse(status, type), data: body)
        }
    }

    // MARK: - Media types

    @Test(arguments: [
        ("JSN-03", "application/json"),
        ("JSN-04", "text/json"),
        ("JSN-05", "text/javascript"),
        ("problem", "application/problem+json"),
        ("suffix", "application/vnd.api+json; charset=utf-8"),
        ("upper case", "Application/JSON"),
        ("O4-01", "application/json"),
        ("O4-02", "text/json"),
        ("O4-03", "text/javascript"),
    ])
    func accepts(id: String, type: String) throws {
        #expect(try object("{}", type: type) != nil)
    }

    @Test(arguments: [("JSN-06", "nonstandard/json"), ("HTML", "text/html"), ("none", nil)])
    func refusesWithoutParsing(id: String, type: String?) throws {
        let error = try error(Data("{}".utf8), type: type)
        #expect(error.reason == .unacceptableContentType(type))
        #expect(error.responseObject == nil)
    }

    @Test("O4-04 a media type that was added is accepted; O4-05 others are not")
    func acceptsAnAddedMediaType() throws {
        var serializer = serializer
        serializer.acceptableContentTypes?.insert("application/some+custom")
        let data = Data("{}".utf8)
        #expect(
            try serializer.responseObject(for: exampleResponse(200, "application/some+custom"), data: data)
                != nil
        )
        serializer.acceptableContentTypes = ["application/some"]
        #expect(throws: ResponseSerializationError.self) {
            try serializer.responseObject(for: exampleResponse(200, "application/json"), data: data)
        }
    }

    @Test("O4-06 valid JSON has an object; O4-07 an error without a body has none")
    func hasAnObjectOnlyOfAValidBody() throws {
        #expect(try object(#"{"Content-Type": "application/json"}"#) != nil)
        #expect(try error(Data(), status: 404).responseObject == nil)
    }

    @Test func anErrorPageIsTheStatusWithTheMediaTypeUnderIt() throws {
        let error = try error(Data("<html>".utf8), status: 502, type: "text/html")
        #expect(error.reason == .unacceptableStatusCode(502))
        #expect(error.responseObject == nil)
        #expect(error.underlyingError is ResponseSerializationError)
    }

    // MARK: - Bodies

    @Test("JSN-07: a JSON dictionary is a dictionary")
    func parsesADictionary() throws {
        #expect(try object(#"{"foo": "bar"}"#) as? [String: String] == ["foo": "bar"])
    }

    @Test("JSN-08, F29: anything but JSON is an error", arguments: ["{", "{invalid}", "[]x", "  ", "5"])
    func refusesMalformedJSON(text: String) throws {
        let error = try error(Data(text.utf8))
        guard case .malformedBody(.json, let sentence) = error.reason else {
            Issue.record("\(error.reason)")
            return
        }
        #expect(!sentence.isEmpty)
        #expect((error.underlyingError as? NSError)?.domain == NSCocoaErrorDomain)
    }

    @Test(arguments: [Data?.none, Data(), Data(" ".utf8)])
    func anEmptyBodyAndOneSpaceAreNil(data: Data?) throws {
        #expect(try serializer.responseObject(for: exampleResponse(204, "text/json"), data: data) == nil)
        #expect(
            try serializer.responseObject(for: exampleResponse(200, "application/json"), data: data) == nil
        )
    }

    @Test func fragmentsAreParsedWhenRequested() throws {
        let serializer = JSONResponseSerializer(readingOptions: .fragmentsAllowed)
        let type = try exampleResponse(200, "application/json")
        #expect(try serializer.responseObject(for: type, data: Data("5".utf8)) as? Int == 5)
        #expect(try serializer.responseObject(for: type, data: Data("null".utf8)) is NSNull)
    }

    @Test func theBodyOfAnUnacceptableStatusIsParsedAnyway() throws {
        let error = try error(Data(#"{"reason": "quota"}"#.utf8), status: 429)
        #expect(error.reason == .unacceptableStatusCode(429))
        #expect(error.responseObject as? [String: String] == ["reason": "quota"])
    }

    @Test func aMalformedBodyOfAnUnacceptableStatusHasTheStatusUnderIt() throws {
        let error = try error(Data("{".utf8), status: 500)
        guard case .malformedBody(.json, _) = error.reason else {
            Issue.record("\(error.reason)")
            return
        }
        let under = try #require(error.underlyingError as? ResponseSerializationError)
        #expect(under.reason == .unacceptableStatusCode(500))
    }

    @Test func anEmptyBodyOfAnUnacceptableStatusIsThatStatus() throws {
        let error = try error(Data(), status: 404)
        #expect(error.reason == .unacceptableStatusCode(404))
        #expect(error.responseObject == nil)
    }

    // MARK: - Character sets

    @Test(arguments: [
        ("iso-8859-1", Data([0x22, 0xE9, 0x22])),
        ("ISO-8859-15", Data([0x22, 0xE9, 0x22])),
        ("\"windows-1252\"", Data([0x22, 0xE9, 0x22])),
        ("utf-8", Data([0x22, 0xC3, 0xA9, 0x22])),
        ("utf-16", Data([0xFE, 0xFF, 0, 0x22, 0, 0xE9, 0, 0x22])),
        ("utf-16le", Data([0x22, 0, 0xE9, 0, 0x22, 0])),
        ("x-unheard-of", Data([0x22, 0xC3, 0xA9, 0x22])),
        ("gb2312", Data([0x22, 0xA8, 0xA6, 0x22])),
        ("ibm037", Data([0x7F, 0x51, 0x7F])),
        ("utf-7", Data("\"+AOk-\"".utf8)),
        ("shift_jis", Data(#""\u00e9""#.utf8)),
    ])
    func decodesTheCharacterSetOfTheResponse(charset: String, body: Data) throws {
        let serializer = JSONResponseSerializer(readingOptions: .fragmentsAllowed)
        let response = try exampleResponse(200, "application/json; charset=\(charset)")
        #expect(try serializer.responseObject(for: response, data: body) as? String == "é")
    }

    @Test("F29: text that is invalid in its character set is an error")
    func refusesUndecodableText() throws {
        let error = try error(Data([0x22, 0xFF, 0x22]), type: "application/json; charset=GB2312")
        #expect(error.reason == .undecodableText(charset: "GB2312"))
    }

    @Test func bytesThatAreNotUTF8AreAnError() throws {
        let error = try error(Data([0x5B, 0x22, 0xE9, 0x22, 0x5D]))
        guard case .malformedBody(.json, _) = error.reason else {
            Issue.record("\(error.reason)")
            return
        }
    }

    // MARK: - Trees

    @Test func nullsOfObjectsAreRemovedAtAnyDepthAndThoseOfArraysStay() throws {
        var serializer = serializer
        serializer.removesKeysWithNullValues = true
        let text = #"{"a": null, "b": {"c": null, "d": 1}, "e": [null, {"f": null}]}"#
        let object = try serializer.responseObject(
            for: exampleResponse(200, "application/json"),
            data: Data(text.utf8)
        )
        let tree = try #require(object as? [String: Any])
        #expect(tree.keys.sorted() == ["b", "e"])
        #expect(tree["b"] as? [String: Int] == ["d": 1])
        let array = try #require(tree["e"] as? [Any])
        #expect(array.count == 2)
        #expect(array[0] is NSNull)
        #expect((array[1] as? [String: Any])?.isEmpty == true)
    }

    /// The cast to `any Sendable` is sound only as long as this holds on the toolchain in use.
    @Test("A tree consists of values, even if mutable containers are requested", arguments: [false, true])
    func treesAreValues(mutable: Bool) throws {
        var serializer = serializer
        serializer.readingOptions = mutable ? [.mutableContainers, .mutableLeaves] : []
        let text = #"{"o": {}, "a": [[], "text", 1, 1.5, true, null]}"#
        let object = try serializer.responseObject(
            for: exampleResponse(200, "application/json"),
            data: Data(text.utf8)
        )
        let tree = try #require(object)
        #expect(type(of: tree) == [String: Any].self)
        let dictionary = try #require(tree as? [String: Any])
        #expect(type(of: try #require(dictionary["o"])) == [String: Any].self)
        let array = try #require(dictionary["a"])
        #expect(type(of: array) == [Any].self)
        let elements = try #require(array as? [Any])
        #expect(type(of: elements[0]) == [Any].self)
        #expect(type(of: elements[1]) == String.self)
        #expect(elements[2...4].allSatisfy { $0 is NSNumber })
        #expect(elements[5] is NSNull)
    }

    @Test(
        "100,000 nested containers are an error, not a crash",
        arguments: ["[", #"{"a":"#]
    )
    func refusesDeepNesting(opening: String) throws {
        let error = try error(Data(String(repeating: opening, count: 100_000).utf8))
        guard case .malformedBody(.json, let sentence) = error.reason else {
            Issue.record("\(error.reason)")
            return
        }
        #expect(sentence.contains("512 levels"))
    }

    @Test func parses512Levels() throws {
        let text = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(try object(text) != nil)
        #expect(throws: ResponseSerializationError.self) { try object("[" + text + "]") }
    }

    @Test("F33: a copy has all settings")
    func copiesSettings() {
        var original = serializer
        original.acceptableStatusCodes = [201]
        original.acceptableContentTypes = ["text/x"]
        original.removesKeysWithNullValues = true
        let copy = original
        #expect(copy.acceptableStatusCodes == [201])
        #expect(copy.acceptableContentTypes == ["text/x"])
        #expect(copy.removesKeysWithNullValues)
    }
}
