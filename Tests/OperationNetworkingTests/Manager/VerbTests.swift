import Foundation
import FoundationNetworking
import FoundationXML
import OperationNetworking
import Testing

@testable import OperationNetworkingTestSupport

/// Each verb against a server of other authors: httpbin, which echoes what it got.
@Suite(.timeLimit(.minutes(1)), .enabled(if: RealServers.httpbin != nil))
struct VerbTests {
    /// The echo of httpbin.
    private struct Echo {
        let method: String?
        let arguments: [String: String]?
        let form: [String: String]?
        let body: String?
        let headers: [String: String]?

        init(_ object: (any Sendable)?) throws {
            let tree = try #require(object as? [String: any Sendable])
            method = tree["method"] as? String
            arguments = tree["args"] as? [String: String]
            form = tree["form"] as? [String: String]
            body = tree["data"] as? String
            headers = tree["headers"] as? [String: String]
        }
    }

    enum Verb: String, CaseIterable, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"

        var hasBody: Bool { hasForm }
        var hasForm: Bool { self != .get && self != .delete }

        func send(
            _ manager: OperationManager,
            _ path: String,
            _ parameters: [String: any Sendable]? = nil,
            _ headers: [String: String] = [:]
        ) async throws -> (any Sendable)? {
            switch self {
            case .get: try await manager.get(path, parameters: parameters, headers: headers)
            case .post: try await manager.post(path, parameters: parameters, headers: headers)
            case .put: try await manager.put(path, parameters: parameters, headers: headers)
            case .patch: try await manager.patch(path, parameters: parameters, headers: headers)
            case .delete: try await manager.delete(path, parameters: parameters, headers: headers)
            }
        }
    }

    private let manager = OperationManager(baseURL: RealServers.httpbin)

    /// Nested, with characters that have to be escaped.
    private let parameters: [String: any Sendable] = [
        "key": "a b&c=é", "deep": ["x": 1] as [String: any Sendable],
    ]
    private let echoed = ["key": "a b&c=é", "deep[x]": "1"]

    @Test("Parameters arrive in the query or the body", arguments: Verb.allCases)
    func parametersArrive(verb: Verb) async throws {
        let echo = try Echo(await verb.send(manager, "anything", parameters))
        #expect(echo.method == verb.rawValue)
        #expect(echo.arguments == (verb.hasForm ? [:] : echoed))
        #expect(echo.form == (verb.hasForm ? echoed : [:]))
        #expect(echo.body?.isEmpty == true)
        let type = echo.headers?["Content-Type"]
        #expect(type == (verb.hasForm ? "application/x-www-form-urlencoded" : nil))
    }

    @Test("Without parameters, the query is absent and the form empty", arguments: Verb.allCases)
    func noParametersArrive(verb: Verb) async throws {
        let echo = try Echo(await verb.send(manager, "anything"))
        #expect(echo.method == verb.rawValue)
        #expect(echo.arguments?.isEmpty == true)
        #expect(echo.form?.isEmpty == true)
    }

    @Test("A query in the path is kept", arguments: Verb.allCases)
    func aQueryOfThePathStays(verb: Verb) async throws {
        let echo = try Echo(await verb.send(manager, "anything?own=1", ["key": "2"]))
        #expect(echo.arguments == (verb.hasForm ? ["own": "1"] : ["own": "1", "key": "2"]))
        #expect(echo.form == (verb.hasForm ? ["key": "2"] : [:]))
    }

    @Test func headHasNoBodyAndIsASuccess() async throws {
        #expect(try await manager.head("anything", parameters: ["key": "value"]) == nil)
        let error = await #expect(throws: ResponseSerializationError.self) {
            try await manager.head("status/404")
        }
        #expect(error?.reason == .unacceptableStatusCode(404))
    }

    @Test("Headers of a request override those of the manager", arguments: Verb.allCases)
    func headersOfARequestWin(verb: Verb) async throws {
        var serializer = HTTPRequestSerializer()
        try serializer.setValue("manager", forHTTPHeaderField: "X-Who")
        try serializer.setValue("stays", forHTTPHeaderField: "X-Other")
        manager.requestSerializer = serializer
        let echo = try Echo(await verb.send(manager, "anything", nil, ["x-who": "request"]))
        #expect(echo.headers?["X-Who"] == "request")
        #expect(echo.headers?["X-Other"] == "stays")
        let next = try Echo(await verb.send(manager, "anything"))
        #expect(next.headers?["X-Who"] == "manager")
    }

    @Test("O5-20: a posted form is echoed")
    func aFormIsEchoed() async throws {
        let echo = try Echo(await manager.post("post", parameters: ["key": "value"]))
        #expect(echo.form == ["key": "value"])
    }

    // MARK: - Other request serializers

    @Test("JSON parameters arrive as JSON where there is a body", arguments: Verb.allCases)
    func jsonArrives(verb: Verb) async throws {
        manager.requestSerializer = JSONRequestSerializer(writingOptions: .sortedKeys)
        let echo = try Echo(await verb.send(manager, "anything", parameters))
        #expect(echo.method == verb.rawValue)
        guard verb.hasBody else {
            #expect(echo.arguments == echoed)
            return
        }
        #expect(echo.arguments?.isEmpty == true)
        #expect(echo.body == #"{"deep":{"x":1},"key":"a b&c=é"}"#)
        #expect(echo.headers?["Content-Type"] == "application/json")
    }

    @Test("Property lists arrive as such where there is a body", arguments: Verb.allCases)
    func propertyListsArrive(verb: Verb) async throws {
        manager.requestSerializer = PropertyListRequestSerializer()
        let echo = try Echo(await verb.send(manager, "anything", parameters))
        #expect(echo.method == verb.rawValue)
        guard verb.hasBody else {
            #expect(echo.arguments == echoed)
            return
        }
        #expect(echo.headers?["Content-Type"] == "application/x-plist")
        let body = Data((echo.body ?? "").utf8)
        let list = try unsafe PropertyListSerialization.propertyList(from: body, format: nil)
        let tree = try #require(list as? [String: Any])
        #expect(tree["key"] as? String == "a b&c=é")
        #expect(tree["deep"] as? [String: Int] == ["x": 1])
    }

    // MARK: - Response serializers

    @Test func xmlIsAParserOrADocument() async throws {
        manager.responseSerializer = XMLDocumentResponseSerializer()
        let document = try #require(try await manager.get("xml") as? XMLDocument)
        #expect(document.rootElement()?.name == "slideshow")
        manager.responseSerializer = XMLParserResponseSerializer()
        let parser = try #require(try await manager.get("xml") as? XMLParser)
        #expect(parser.parse())
    }

    @Test(
        "O4-01 to O4-03: JSON's media types are accepted",
        arguments: [
            "application/json", "text/json", "text/javascript",
        ]
    )
    func jsonTypes(type: String) async throws {
        let object = try await manager.get("response-headers", parameters: ["Content-Type": type])
        #expect((object as? [String: Any])?["Content-Type"] != nil)
    }

    @Test("O4-05: another media type is not accepted")
    func otherTypes() async throws {
        let error = await #expect(throws: ResponseSerializationError.self) {
            try await manager.get("response-headers", parameters: ["Content-Type": "nonstandard/json"])
        }
        #expect(error?.reason == .unacceptableContentType("nonstandard/json"))
    }

    @Test(
        "Images are recognized by their bytes",
        arguments: [("png", 100, 100), ("jpeg", 239, 178), ("webp", 274, 367)]
    )
    func images(kind: String, width: Int, height: Int) async throws {
        manager.responseSerializer = ImageHeadResponseSerializer()
        let image = try #require(try await manager.get("image/\(kind)") as? ResponseImage)
        #expect(image.pixelWidth == width)
        #expect(image.pixelHeight == height)
        #expect(image.format.mimeType == "image/\(kind)")
    }

    @Test(
        "O1-12 to O1-14: the text encoding is that of the charset",
        arguments: [
            ("text/plain; charset=Shift_JIS", String.Encoding.shiftJIS), ("text/plain; charset=UTF-8", .utf8),
            ("text/plain; charset=invalid", .utf8), ("text/plain", .utf8),
        ]
    )
    func textEncodings(type: String, encoding: String.Encoding) async throws {
        manager.responseSerializer = HTTPResponseSerializer()
        let url = try manager.url(for: "response-headers?Content-Type=\(QueryString.escape(type))")
        let operation = manager.operation(for: URLRequest(url: url))
        manager.operationQueue.addOperation(operation)
        _ = try await operation.value
        #expect(operation.responseStringEncoding == encoding)
    }

    // MARK: - Credentials

    @Test(
        "O5-08: a wrong credential is refused",
        arguments: [("basic-auth/user/password", 401), ("hidden-basic-auth/user/password", 404)]
    )
    func aWrongCredentialIsRefused(path: String, status: Int) async throws {
        var serializer = HTTPRequestSerializer()
        serializer.setAuthorization(username: "user", password: "wrong")
        manager.requestSerializer = serializer
        let error = await #expect(throws: ResponseSerializationError.self) { try await manager.get(path) }
        #expect(error?.reason == .unacceptableStatusCode(status))
    }

    @Test(
        "O5-09: the right credential is accepted",
        arguments: ["basic-auth/user/password", "hidden-basic-auth/user/password"]
    )
    func theRightCredentialIsAccepted(path: String) async throws {
        var serializer = HTTPRequestSerializer()
        serializer.setAuthorization(username: "user", password: "password")
        manager.requestSerializer = serializer
        let object = try await manager.get(path) as? [String: any Sendable]
        #expect(object?["authenticated"] as? Bool == true)
        #expect(object?["user"] as? String == "user")
    }
}
