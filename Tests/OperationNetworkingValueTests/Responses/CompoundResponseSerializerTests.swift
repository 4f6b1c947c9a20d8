import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Returns or throws what the test sets.
private struct FixedSerializer: ResponseSerializer {
    struct Failure: Error, Equatable {}

    var object: String?
    var fails = false

    func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        if fails { throw Failure() }
        return object
    }
}

@Suite struct CompoundResponseSerializerTests {
    private let json = Data(#"{"reason": "gone"}"#.utf8)

    private func object(
        _ serializers: [any ResponseSerializer],
        _ data: Data?,
        status: Int = 200,
        type: String? = "application/json"
    ) throws -> (any Sendable)? {
        try CompoundResponseSerializer(serializers).responseObject(
            for: exampleResponse(status, type),
            data: data
        )
    }

    private func error(
        _ serializers: [any ResponseSerializer],
        _ data: Data?,
        status: Int = 200,
        type: String? = "application/json"
    ) throws -> ResponseSerializationError {
        try #require(throws: ResponseSerializationError.self) {
            try object(serializers, data, status: status, type: type)
        }
    }

    // MARK: - An object

    @Test func theFirstChildWithAnObjectWins() throws {
        let children = [FixedSerializer(object: "a"), FixedSerializer(object: "b")]
        #expect(try object(children, json) as? String == "a")
        let others = [FixedSerializer(fails: true), FixedSerializer(), FixedSerializer(object: "c")]
        #expect(try object(others, json) as? String == "c")
    }

    @Test func theMediaTypeChoosesAmongChildren() throws {
        let png = try #require(ExampleImage.named("png")).data
        let children: [any ResponseSerializer] = [JSONResponseSerializer(), ImageHeadResponseSerializer()]
        #expect(try object(children, png, status: 200, type: "image/png") is ResponseImage)
        #expect(
            try object(children, json, status: 200, type: "application/json") as? [String: String] == [
                "reason": "gone"
            ]
        )
        #expect(try object(children.reversed(), json) as? [String: String] == ["reason": "gone"])
    }

    @Test func aSuccessWinsOverAnExplainedErrorBeforeIt() throws {
        var lenient = JSONResponseSerializer()
        lenient.acceptableStatusCodes = nil
        let object = try object([JSONResponseSerializer(), lenient], json, status: 404)
        #expect(object as? [String: String] == ["reason": "gone"])
    }

    // MARK: - An explained error

    @Test(
        "An error explained in JSON is the result, whatever the order of the children",
        arguments: [false, true]
    )
    func anExplainedErrorIsTheResult(isReversed: Bool) throws {
        let children: [any ResponseSerializer] = [ImageHeadResponseSerializer(), JSONResponseSerializer()]
        let error = try error(
            isReversed ? children.reversed() : children,
            json,
            status: 404,
            type: "application/json"
        )
        #expect(error.reason == .unacceptableStatusCode(404))
        #expect(error.responseObject as? [String: String] == ["reason": "gone"])
        #expect((error as NSError).code == -1011)
    }

    @Test func anErrorAboutTheMediaTypeDoesNotHideAnExplainedOne() throws {
        let children: [any ResponseSerializer] = [
            HTTPResponseSerializer(acceptableContentTypes: ["image/png"]), JSONResponseSerializer(),
        ]
        #expect(
            try error(children, json, status: 404).responseObject as? [String: String] == ["reason": "gone"]
        )
        #expect(try object(children, json, status: 200) as? [String: String] == ["reason": "gone"])
    }

    // MARK: - No object

    @Test("A child's nil is the empty body, if that is valid", arguments: [Data?.none, Data()])
    func nilIsTheBody(data: Data?) throws {
        let children: [any ResponseSerializer] = [JSONResponseSerializer(), ImageHeadResponseSerializer()]
        #expect(try object(children, data, status: 204, type: nil) as? Data == Data())
        let error = try error(children, data, status: 404, type: nil)
        #expect(error.reason == .unacceptableStatusCode(404))
        #expect(error.responseObject as? Data == Data())
    }

    @Test func nilOfAChildIsTheBodyEvenIfAnotherFails() throws {
        let children = [FixedSerializer(fails: true), FixedSerializer()]
        #expect(try object(children, json) as? Data == json)
    }

    // MARK: - A body that cannot be read

    @Test func aMalformedBodyIsTheErrorOfTheMatchingChild() throws {
        let children: [any ResponseSerializer] = [ImageHeadResponseSerializer(), JSONResponseSerializer()]
        let error = try error(children, Data("{".utf8), status: 200, type: "application/json")
        guard case .malformedBody(.json, _) = error.reason else {
            Issue.record("\(error.reason)")
            return
        }
        let under = try #require(error.underlyingError as? CompoundResponseSerializer.ChildErrors)
        #expect(under.errors.count == 2)
        #expect((under.errors[0] as NSError).domain == NSCocoaErrorDomain)
        #expect((under.errors[1] as? ResponseSerializationError)?.concernsContentType == true)
    }

    @Test func aForeignErrorIsRethrown() throws {
        #expect(throws: FixedSerializer.Failure()) {
            try object([ImageHeadResponseSerializer(), FixedSerializer(fails: true)], json)
        }
    }

    @Test func aChildThatAcceptsEverythingWinsOverAMalformedBody() throws {
        let body = Data("{".utf8)
        #expect(try object([JSONResponseSerializer(), HTTPResponseSerializer()], body) as? Data == body)
    }

    // MARK: - No child's

    @Test func aBodyThatNoChildAcceptsIsData() throws {
        let body = Data("<html>".utf8)
        let children: [any ResponseSerializer] = [JSONResponseSerializer(), ImageHeadResponseSerializer()]
        #expect(try object(children, body, status: 200, type: "text/html") as? Data == body)
        #expect(try object([], body, status: 200, type: "text/html") as? Data == body)
        #expect(try object([], nil, status: 200, type: nil) as? Data == Data())
    }

    @Test func aBodyThatNoChildAcceptsHasToPassTheValidation() throws {
        let body = Data("<html>".utf8)
        let children: [any ResponseSerializer] = [JSONResponseSerializer(), ImageHeadResponseSerializer()]
        var serializer = CompoundResponseSerializer(children)
        serializer.acceptableContentTypes = ["text/plain"]
        let error = try #require(throws: ResponseSerializationError.self) {
            try serializer.responseObject(for: exampleResponse(200, "text/html"), data: body)
        }
        #expect(error.reason == .unacceptableContentType("text/html"))
        #expect(error.responseObject as? Data == body)
        let under = try #require(error.underlyingError as? CompoundResponseSerializer.ChildErrors)
        #expect(under.errors.count == 2)
        #expect(under.description.contains("unacceptable content-type: text/html; Request failed"))
    }

    @Test func anErrorPageIsTheStatusWithTheChildrensErrorsUnderIt() throws {
        let error = try error([JSONResponseSerializer()], Data("<html>".utf8), status: 502, type: "text/html")
        #expect(error.reason == .unacceptableStatusCode(502))
        #expect(error.responseObject as? Data == Data("<html>".utf8))
        #expect((error.underlyingError as? ResponseSerializationError)?.concernsContentType == true)
    }

    @Test func compoundsCanBeChildren() throws {
        let inner = CompoundResponseSerializer([JSONResponseSerializer()])
        #expect(
            try object([ImageHeadResponseSerializer(), inner], json) as? [String: String] == [
                "reason": "gone"
            ]
        )
    }

    @Test("F33: a copy has all settings, and its children")
    func copiesSettings() {
        var original = CompoundResponseSerializer([JSONResponseSerializer()])
        original.acceptableStatusCodes = [201]
        original.acceptableContentTypes = ["text/x"]
        let copy = original
        original.serializers = []
        #expect(copy.serializers.count == 1)
        #expect(copy.acceptableStatusCodes == [201])
        #expect(copy.acceptableContentTypes == ["text/x"])
    }
}
