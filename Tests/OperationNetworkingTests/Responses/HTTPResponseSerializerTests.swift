import Foundation
import FoundationNetworking
import OperationNetworking
import Testing

@testable import OperationNetworkingTestSupport

@Suite struct HTTPResponseSerializerTests {
    let serializer = HTTPResponseSerializer()
    let body = Data("body".utf8)

    @Test("HRR-01: every 2xx is acceptable", arguments: 200..<300)
    func acceptsEvery2xx(status: Int) throws {
        let object = try serializer.responseObject(for: exampleResponse(status), data: body)
        #expect(object as? Data == body)
    }

    @Test("HRR-02: every 4xx and 5xx is an error", arguments: 400..<600)
    func refusesEvery4xxAnd5xx(status: Int) throws {
        let error = try #require(throws: ResponseSerializationError.self) {
            try serializer.responseObject(for: exampleResponse(status), data: body)
        }
        #expect(error.reason == .unacceptableStatusCode(status))
        #expect(error.responseObject as? Data == body)
    }

    @Test(
        arguments: [HTTPResponseSerializer(), JSONResponseSerializer(), StringResponseSerializer()]
            as [any ResponseSerializer]
    )
    func aManagersSerializerIsChangedInPlace(serializer: any ResponseSerializer) throws {
        let managers = (OperationManager(), HTTPSessionManager())
        managers.0.responseSerializer = serializer
        managers.1.responseSerializer = serializer
        try managers.0.responseSerializer.setAcceptableContentTypes(["text/x-odd"])
        try managers.0.responseSerializer.setAcceptableStatusCodes([404])
        try managers.1.responseSerializer.setAcceptableContentTypes(["text/x-odd"])
        try managers.1.responseSerializer.setAcceptableStatusCodes([404])
        let data = Data("{}".utf8)
        for changed in [managers.0.responseSerializer, managers.1.responseSerializer] {
            #expect(try changed.responseObject(for: exampleResponse(404, "text/x-odd"), data: data) != nil)
            #expect(throws: ResponseSerializationError.self) {
                try changed.responseObject(for: exampleResponse(404, "application/json"), data: data)
            }
            #expect(throws: ResponseSerializationError.self) {
                try changed.responseObject(for: exampleResponse(200, "text/x-odd"), data: data)
            }
        }
    }

    @Test func aSerializerWithoutTheSettingThrows() {
        struct Plain: ResponseSerializer {
            func responseObject(for response: HTTPURLResponse?, data: Data?) -> (any Sendable)? { data }
        }
        let manager = OperationManager()
        manager.responseSerializer = Plain()
        for (setting, set) in [
            ("acceptableContentTypes", { try manager.responseSerializer.setAcceptableContentTypes(nil) }),
            ("acceptableStatusCodes", { try manager.responseSerializer.setAcceptableStatusCodes(nil) }),
        ] as [(String, () throws -> Void)] {
            let error = #expect(throws: ResponseSerializationError.self) { try set() }
            #expect(error?.reason == .settingNotSupported(setting, serializer: "Plain"))
            #expect(error.map { RequestFailure($0).isProgrammingError } == true)
            let sentence = error.map { "\($0)" } ?? ""
            #expect(sentence == "The response serializer Plain does not support setting \(setting).")
        }
    }

    @Test(arguments: [nil, Data()])
    func aResponseWithoutABodyIsEmptyData(data: Data?) throws {
        let object = try serializer.responseObject(for: exampleResponse(204), data: data)
        #expect(object as? Data == Data())
    }

    @Test func bytesNotReceivedOverHTTPAreNotValidated() throws {
        #expect(try serializer.responseObject(for: nil, data: body) as? Data == body)
    }

    @Test func theAcceptableStatusCodesCanBeOthersOrAny() throws {
        var serializer = serializer
        serializer.acceptableStatusCodes = [404]
        #expect(try serializer.responseObject(for: exampleResponse(404), data: body) as? Data == body)
        #expect(throws: ResponseSerializationError.self) {
            try serializer.responseObject(for: exampleResponse(200), data: body)
        }
        serializer.acceptableStatusCodes = nil
        #expect(try serializer.responseObject(for: exampleResponse(599), data: body) as? Data == body)
    }

    @Test(arguments: [
        ("text/html", "text/html", true),
        ("text/html", "Text/HTML; charset=utf-8", true),
        ("TEXT/html", "text/html", true),
        ("text/*", "text/plain", true),
        ("*/*", "image/png", true),
        ("application/*+json", "application/problem+json", true),
        ("application/*+json", "application/json", false),
        ("application/*+json", "image/x+json", false),
        ("*/*+json", "model/gltf+json", true),
        ("text/html", "text/htmlx", false),
        ("text/*", "image/png", false),
        ("text/html", nil, false),
        ("text/html", "", false),
        ("*/*", "nonsense", false),
    ])
    func validatesTheMediaType(pattern: String, contentType: String?, isAcceptable: Bool) throws {
        let serializer = HTTPResponseSerializer(acceptableContentTypes: [pattern])
        let object = try? serializer.responseObject(for: exampleResponse(200, contentType), data: body)
        #expect((object as? Data == body) == isAcceptable)
    }

    @Test func theMediaTypeOfAnEmptyBodyDoesNotMatter() throws {
        let serializer = HTTPResponseSerializer(acceptableContentTypes: ["text/html"])
        #expect(
            try serializer.responseObject(for: exampleResponse(204, "image/png"), data: Data()) as? Data
                == Data()
        )
        #expect(try serializer.responseObject(for: exampleResponse(200), data: nil) as? Data == Data())
    }

    @Test func anUnacceptableStatusHasTheUnacceptableMediaTypeUnderIt() throws {
        let serializer = HTTPResponseSerializer(acceptableContentTypes: ["text/html"])
        let error = try #require(throws: ResponseSerializationError.self) {
            try serializer.responseObject(for: exampleResponse(404, "image/png"), data: body)
        }
        #expect(error.reason == .unacceptableStatusCode(404))
        let under = try #require(error.underlyingError as? ResponseSerializationError)
        #expect(under.reason == .unacceptableContentType("image/png"))
    }
}
