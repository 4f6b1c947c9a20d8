import Foundation
import FoundationNetworking
import OperationNetworking
import Testing

/// Each verb against a server that nobody of us wrote: httpbin, which echoes what it got.
@Suite(.timeLimit(.minutes(1)), .enabled(if: RealServers.httpbin != nil))
struct VerbTests {
    /// What httpbin says it got.
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

    @Test("Parameters arrive where they belong", arguments: Verb.allCases)
    func parametersArrive(verb: Verb) async throws {
        let echo = try Echo(await verb.send(manager, "anything", parameters))
        #expect(echo.method == verb.rawValue)
        #expect(echo.arguments == (verb.hasForm ? [:] : echoed))
        #expect(echo.form == (verb.hasForm ? echoed : [:]))
        #expect(echo.body?.isEmpty == true)
        let type = echo.headers?["Content-Type"]
        #expect(type == (verb.hasForm ? "application/x-www-form-urlencoded" : nil))
    }

    @Test("No parameters are no query and an empty form", arguments: Verb.allCases)
    func noParametersArrive(verb: Verb) async throws {
        let echo = try Echo(await verb.send(manager, "anything"))
        #expect(echo.method == verb.rawValue)
        #expect(echo.arguments?.isEmpty == true)
        #expect(echo.form?.isEmpty == true)
    }

    @Test("A query of the path stays", arguments: Verb.allCases)
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

    @Test("Headers of a request win over those of the manager, for that request", arguments: Verb.allCases)
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

    @Test("O5-20: a form that is posted is echoed")
    func aFormIsEchoed() async throws {
        let echo = try Echo(await manager.post("post", parameters: ["key": "value"]))
        #expect(echo.form == ["key": "value"])
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
