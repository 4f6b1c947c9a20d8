import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1))) struct DecodableResponseSerializerTests {
    struct User: Codable, Hashable, Sendable {
        var name: String
        var age: UInt8?
    }

    struct Page: Decodable, Hashable, Sendable {
        var users: [User]
    }

    struct Problem: Decodable, Hashable, Sendable {
        var reason: String
    }

    /// Holds itself, in objects.
    final class Chain: Decodable, Sendable {
        let a: Chain?
    }

    /// Holds itself, in arrays.
    indirect enum Nest: Decodable, Sendable {
        case empty
        case nest(Nest)

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            self = try container.isAtEnd ? .empty : .nest(container.decode(Nest.self))
        }
    }

    private func object<Value: Decodable & Sendable>(
        _ serializer: DecodableResponseSerializer<Value>,
        _ text: String,
        _ status: Int = 200,
        _ type: String? = "application/json"
    ) throws -> (any Sendable)? {
        try serializer.responseObject(for: exampleResponse(status, type), data: Data(text.utf8))
    }

    private func error<Value: Decodable & Sendable>(
        _ serializer: DecodableResponseSerializer<Value>,
        _ text: String,
        _ status: Int = 200,
        _ type: String? = "application/json"
    ) throws -> ResponseSerializationError {
        try #require(throws: ResponseSerializationError.self) { try object(serializer, text, status, type) }
    }

    private func structure<Value: Decodable & Sendable>(_ type: Value.Type, _ text: String) throws -> String?
    {
        let error = try error(DecodableResponseSerializer(type), text)
        guard case .unexpectedStructure("\(type)", let difference) = error.reason else {
            Issue.record("\(error.reason)")
            return nil
        }
        #expect(error.underlyingError is DecodingError)
        #expect((error as NSError).code == -1016)
        return difference
    }

    // MARK: - Values

    @Test func decodesJSON() throws {
        let serializer = DecodableResponseSerializer(Page.self)
        let page = Page(users: [User(name: "Ada", age: 36)])
        let text = #"{"users": [{"name": "Ada", "age": 36}]}"#
        #expect(try object(serializer, text) as? Page == page)
        #expect(try serializer.value(for: exampleResponse(200, "text/json"), data: Data(text.utf8)) == page)
    }

    @Test func decodesFragments() throws {
        #expect(try object(DecodableResponseSerializer(Int.self), "5") as? Int == 5)
        #expect(try object(DecodableResponseSerializer(String.self), #""a""#) as? String == "a")
    }

    @Test func makesADecoderForEachResponse() throws {
        struct Snake: Decodable, Sendable { var userName: String }
        let made = Locked(0)
        let serializer = DecodableResponseSerializer(Snake.self) {
            made.withLock { $0 += 1 }
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        }
        for _ in 0..<2 {
            #expect((try object(serializer, #"{"user_name": "Ada"}"#) as? Snake)?.userName == "Ada")
        }
        #expect(made.withLock { $0 } == 2)
    }

    @Test func decodesOtherFormats() throws {
        let serializer = DecodableResponseSerializer(User.self, acceptableContentTypes: ["text/csv"]) {
            data in
            let fields = String(decoding: data, as: UTF8.self).split(separator: ",")
            guard fields.count == 2 else { throw URLError(.cannotParseResponse) }
            return User(name: String(fields[0]), age: UInt8(fields[1]))
        }
        #expect(try object(serializer, "Ada,36", 200, "text/csv") as? User == User(name: "Ada", age: 36))
        let error = try error(serializer, "Ada", 200, "text/csv")
        guard case .unexpectedStructure("User", _) = error.reason else {
            Issue.record("\(error.reason)")
            return
        }
        #expect((error.underlyingError as? URLError)?.code == .cannotParseResponse)
        let explained = try self.error(serializer, #"{"reason": "no"}"#, 422, "application/json")
        #expect(explained.responseObject == nil)  // its media type was not asked for
    }

    @Test func anOperationHasTheValue() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "application/json"], body: #"{"name":"Ada"}"#),
            .respond(422, ["Content-Type": "application/problem+json"], body: #"{"reason":"no"}"#),
        ])
        let manager = OperationManager(baseURL: server.url)
        manager.responseSerializer = DecodableResponseSerializer(User.self).decodingErrors(as: Problem.self)
        #expect(try await manager.get("x") as? User == User(name: "Ada"))
        let error = await #expect(throws: ResponseSerializationError.self) { try await manager.get("x") }
        #expect(error?.responseObject as? Problem == Problem(reason: "no"))
    }

    // MARK: - Empty bodies

    @Test("An empty body and one space are nil for optional values", arguments: ["", " "])
    func anEmptyBodyIsNil(text: String) throws {
        let serializer = DecodableResponseSerializer(User?.self)
        #expect(try object(serializer, text) == nil)
        #expect(try object(serializer, "", 204, nil) == nil)
        #expect(try object(serializer, "null") == nil)
        #expect(try object(serializer, #"{"name": "Ada"}"#) as? User == User(name: "Ada"))
        #expect(try object(DecodableResponseSerializer(Int??.self), "null") == nil)
    }

    @Test(arguments: ["", " ", "{}", "[1]", "5"])
    func emptyResponsesDecodeFromAnything(text: String) throws {
        #expect(try object(DecodableResponseSerializer(EmptyResponse.self), text) is EmptyResponse)
    }

    @Test(
        "For an empty response only the status is validated",
        arguments: ["text/plain", nil, "application/json"]
    )
    func emptyResponsesHaveAnyBodyAndMediaType(type: String?) throws {
        let list = DecodableResponseSerializer(propertyList: EmptyResponse.self)
        for serializer in [DecodableResponseSerializer(EmptyResponse.self), list] {
            for text in ["OK", "Deleted", "{", String(repeating: "[", count: 600)] {
                #expect(try object(serializer, text, 200, type) is EmptyResponse)
            }
            let error = #expect(throws: ResponseSerializationError.self) {
                try object(serializer, #"{"reason":"no"}"#, 404, type)
            }
            #expect(error?.reason == .unacceptableStatusCode(404))
        }
        // Neither the value of another type nor the caller's own decoding.
        #expect(throws: ResponseSerializationError.self) {
            try object(DecodableResponseSerializer(User?.self), "OK", 200, type)
        }
        let own = DecodableResponseSerializer(EmptyResponse.self, acceptableContentTypes: nil) { data in
            _ = try JSONResponseSerializer()
                .responseObject(for: exampleResponse(200, "application/json"), data: data)
            return EmptyResponse()
        }
        #expect(throws: ResponseSerializationError.self) { try object(own, "OK", 200, type) }
    }

    @Test(
        "An empty body for any other value is an error that says so",
        arguments: [Data(), Data(" ".utf8)]
    )
    func anEmptyBodyIsAnError(data: Data) throws {
        let error = try #require(throws: ResponseSerializationError.self) {
            try DecodableResponseSerializer([User].self)
                .responseObject(for: exampleResponse(200, "application/json"), data: data)
        }
        #expect(
            error.reason == .unexpectedStructure(type: "Array<User>", "expected a value, found an empty body")
        )
    }

    @Test func aBodyDeliveredElsewhereIsNeitherAValueNorAnError() throws {
        let serializer = DecodableResponseSerializer([User].self)
        let good = try exampleResponse(200, "application/json")
        #expect(try serializer.responseObject(for: good, data: nil) == nil)
        #expect(throws: ResponseSerializationError.self) {
            try serializer.responseObject(for: exampleResponse(404, "application/json"), data: nil)
        }
    }

    // MARK: - Structure

    @Test func reportsWhereAndHowABodyDiffers() throws {
        let page = Page.self
        #expect(
            try structure(page, #"{"users": [{"name": "a"}, {"name": null}]}"#)
                == "users[1].name: expected String, found null"
        )
        #expect(
            try structure(page, #"{"users": [{"name": 5}]}"#)
                == "users[0].name: expected String, found a number"
        )
        #expect(
            try structure(page, #"{"users": [{"name": true}]}"#)
                == "users[0].name: expected String, found a boolean"
        )
        #expect(
            try structure(page, #"{"users": [{"name": {}}]}"#)
                == "users[0].name: expected String, found an object"
        )
        #expect(try structure(page, #"{"users": [{}]}"#) == "users[0].name: expected a value, found nothing")
        #expect(try structure(page, #"{"users": {}}"#) == "users: expected an array, found an object")
        #expect(try structure(page, "[]") == "expected an object, found an array")
        #expect(try structure(UUID.self, #""x""#) == "Attempted to decode UUID from invalid UUID string.")
        #expect(try structure([UInt8].self, "[300]")?.hasSuffix("does not fit into its type") == true)
    }

    @Test func theSentenceOfAHostileBodyIsShortAndPrintable() throws {
        let key = String(repeating: "k", count: 100_000)
        let sentence = try #require(try structure([String: Int].self, #"{"\u001B[31m\#(key)": "x"}"#))
        #expect(sentence.hasPrefix("\\u{1B}[31mkkk"))
        #expect(sentence.hasSuffix("…: expected Int, found a string"))
        #expect(sentence.count < 200)
    }

    @Test("Anything but JSON is an error", arguments: ["{", "nonsense", "[1", "[1]x", "[01]", "\"\u{1}"])
    func refusesMalformedJSON(text: String) throws {
        let error = try error(DecodableResponseSerializer([Int].self), text)
        guard case .malformedBody(.json, let sentence) = error.reason else {
            Issue.record("\(error.reason)")
            return
        }
        #expect(!sentence.isEmpty)
        #expect(error.underlyingError is DecodingError)
    }

    @Test func json5IsJSONWhenRequested() throws {
        let serializer = DecodableResponseSerializer([String: Int].self) {
            let decoder = JSONDecoder()
            decoder.allowsJSON5 = true
            return decoder
        }
        #expect(try object(serializer, "{a: 1, /* x */}") as? [String: Int] == ["a": 1])
        #expect(
            try error(serializer, "{a: 'x'}").reason
                == .unexpectedStructure(
                    type: "Dictionary<String, Int>",
                    "a: expected Int, found a string"
                )
        )
        guard case .malformedBody(.json, _) = try error(serializer, "{a: ").reason else {
            Issue.record("not malformed")
            return
        }
    }

    // MARK: - Depth

    @Test("Recursive types are decoded down to the parser's limit on a small stack")
    func decodesTheDeepest() async throws {
        let arrays = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        let objects = String(repeating: #"{"a":"#, count: 511) + "{}" + String(repeating: "}", count: 511)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue(label: "small stack").async {
                continuation.resume(
                    with: Result {
                        #expect(try object(DecodableResponseSerializer(Nest.self), arrays) is Nest)
                        #expect(try object(DecodableResponseSerializer(Chain.self), objects) is Chain)
                        for text in ["[" + arrays + "]", String(repeating: "[", count: 100_000)] {
                            let error = try error(DecodableResponseSerializer(Nest.self), text)
                            guard case .malformedBody(.json, let sentence) = error.reason else {
                                Issue.record("\(error.reason)")
                                return
                            }
                            #expect(sentence.contains("512 levels"))
                        }
                        let deep = String(repeating: #"{"a":"#, count: 100_000)
                        let serializer = DecodableResponseSerializer(Chain.self).decodingErrors(
                            as: Chain.self
                        )
                        #expect(throws: ResponseSerializationError.self) { try object(serializer, deep) }
                        #expect(throws: ResponseSerializationError.self) { try object(serializer, deep, 500) }
                    }
                )
            }
        }
    }

    // MARK: - Character sets

    @Test(arguments: [
        ("iso-8859-1", Data([0x22, 0xE9, 0x22])),
        ("utf-8", Data([0x22, 0xC3, 0xA9, 0x22])),
        ("utf-16", Data([0xFE, 0xFF, 0, 0x22, 0, 0xE9, 0, 0x22])),
    ])
    func decodesTheCharacterSetOfTheResponse(charset: String, body: Data) throws {
        let response = try exampleResponse(200, "application/json; charset=\(charset)")
        let serializer = DecodableResponseSerializer(String.self)
        #expect(try serializer.value(for: response, data: body) == "é")
    }

    @Test func refusesUndecodableText() throws {
        let response = try exampleResponse(200, "application/json; charset=GB2312")
        let error = try #require(throws: ResponseSerializationError.self) {
            try DecodableResponseSerializer(String.self).value(for: response, data: Data([0x22, 0xFF, 0x22]))
        }
        #expect(error.reason == .undecodableText(charset: "GB2312"))
    }

    // MARK: - Errors

    @Test func anUnacceptableMediaTypeIsNotDecoded() throws {
        let error = try error(DecodableResponseSerializer(User.self), "{}", 404, "text/html")
        #expect(error.reason == .unacceptableStatusCode(404))
        #expect(error.responseObject == nil)
    }

    @Test func theTreeOfAnErrorBodyComesWithTheError() throws {
        let error = try error(DecodableResponseSerializer(User.self), #"{"reason": "quota"}"#, 429)
        #expect(error.reason == .unacceptableStatusCode(429))
        #expect(error.responseObject as? [String: String] == ["reason": "quota"])
    }

    @Test func theErrorBodyCanBeDecoded() throws {
        let serializer = DecodableResponseSerializer(User.self).decodingErrors(as: Problem.self)
        #expect(
            try error(serializer, #"{"reason": "a"}"#, 429).responseObject as? Problem == Problem(reason: "a")
        )
        let other = try error(serializer, #"{"message": "a"}"#, 429)
        #expect(other.reason == .unacceptableStatusCode(429))
        #expect(other.responseObject as? [String: String] == ["message": "a"])
    }

    @Test func anEmptyErrorBodyIsTheStatus() throws {
        let error = try error(DecodableResponseSerializer(User.self), "", 404)
        #expect(error.reason == .unacceptableStatusCode(404))
        #expect(error.responseObject == nil)
    }

    @Test func aMalformedErrorBodyHasTheStatusUnderIt() throws {
        let error = try error(DecodableResponseSerializer(User.self), "{", 500)
        guard case .malformedBody(.json, _) = error.reason else {
            Issue.record("\(error.reason)")
            return
        }
        #expect(
            (error.underlyingError as? ResponseSerializationError)?.reason == .unacceptableStatusCode(500)
        )
    }

    // MARK: - Property lists

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func decodesPropertyLists(format: PropertyListSerialization.PropertyListFormat) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        let user = User(name: "Ada", age: 36)
        let serializer = DecodableResponseSerializer(propertyList: User.self)
        let response = try exampleResponse(200, "application/x-plist")
        let list = try encoder.encode(user)
        #expect(try serializer.value(for: response, data: list) == user)
        let other = try encoder.encode(["name": 1])
        let wrong = try #require(throws: ResponseSerializationError.self) {
            try serializer.value(for: response, data: other)
        }
        #expect(wrong.reason == .unexpectedStructure(type: "User", "name: expected String, found an integer"))
        #expect(throws: ResponseSerializationError.self) {
            try serializer.value(for: exampleResponse(200, "application/json"), data: list)
        }
    }

    /// Such lists kill Foundation's decoder on a thread with a small stack, or on any.
    @Test func propertyListsThatHoldThemselvesOrAreTooDeepAreErrors() async throws {
        let circle =
            Data("bplist00".utf8) + Data([0xA1, 0, 8] + [UInt8](repeating: 0, count: 6) + [1, 1])
            + Data([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10])
        let deep = Data(
            ("<plist version=\"1.0\">" + String(repeating: "<array>", count: 100_000)
                + String(repeating: "</array>", count: 100_000) + "</plist>").utf8
        )
        for body in [circle, deep] {
            let isRefused = await onDispatchThread {
                do {
                    _ = try DecodableResponseSerializer(propertyList: Nest.self)
                        .value(for: exampleResponse(200, "application/x-plist"), data: body)
                    return false
                } catch let error as ResponseSerializationError {
                    if case .malformedBody(.propertyList, _) = error.reason { return true }
                    return false
                } catch {
                    return false
                }
            }
            #expect(isRefused)
        }
    }

    @Test("F33: a copy has all settings")
    func copiesSettings() throws {
        var original = DecodableResponseSerializer(User.self)
        original.acceptableStatusCodes = [201]
        original.acceptableContentTypes = ["text/x"]
        let copy = original.decodingErrors(as: Problem.self)
        #expect(copy.acceptableStatusCodes == [201])
        #expect(copy.acceptableContentTypes == ["text/x"])
        #expect(try error(copy, #"{"reason": "a"}"#, 200, "text/x").responseObject is Problem)
    }
}
