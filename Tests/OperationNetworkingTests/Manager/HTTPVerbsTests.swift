import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Every verb of both managers, in every form, with every kind of parameters.
@Suite(.timeLimit(.minutes(1)))
struct HTTPVerbsTests {
    /// The echo of the server of these tests.
    struct Echo: Codable, Sendable, Hashable {
        var method: String
        var query: String
        var type: String
        var body: String
    }

    struct User: Codable, Sendable {
        var name: String
        var tags = ["x", "y"]
    }

    enum Verb: String, CaseIterable, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"

        var hasBody: Bool { self != .get && self != .delete }

        /// The results of the four forms: awaited and called back, as an object and as a value.
        func results<Manager: HTTPVerbs>(
            _ manager: Manager,
            _ parameters: some RequestParameters
        ) async throws -> [Echo] {
            let (path, headers, type) = ("x", ["X-Form": "1"], Echo.self)
            let objects = Recorder<(any Sendable)?>()
            let values = Recorder<Echo>()
            let errors = Recorder<String>()
            let object: Manager.SuccessHandler = { _, object in objects.append(object) }
            let value: Manager.ValueHandler<Echo> = { _, value in values.append(value) }
            let failure: Manager.FailureHandler = { _, error in errors.append("\(error)") }
            let awaited: ((any Sendable)?, Echo)
            switch self {
            case .get:
                awaited = try await (
                    manager.get(path, parameters: parameters, headers: headers),
                    manager.get(path, parameters: parameters, headers: headers, as: type)
                )
                manager.get(path, parameters: parameters, headers: headers, success: object, failure: failure)
                manager.get(path, parameters: parameters, as: type, success: value, failure: failure)
            case .post:
                awaited = try await (
                    manager.post(path, parameters: parameters, headers: headers),
                    manager.post(path, parameters: parameters, headers: headers, as: type)
                )
                manager.post(
                    path,
                    parameters: parameters,
                    headers: headers,
                    success: object,
                    failure: failure
                )
                manager.post(path, parameters: parameters, as: type, success: value, failure: failure)
            case .put:
                awaited = try await (
                    manager.put(path, parameters: parameters, headers: headers),
                    manager.put(path, parameters: parameters, headers: headers, as: type)
                )
                manager.put(path, parameters: parameters, headers: headers, success: object, failure: failure)
                manager.put(path, parameters: parameters, as: type, success: value, failure: failure)
            case .patch:
                awaited = try await (
                    manager.patch(path, parameters: parameters, headers: headers),
                    manager.patch(path, parameters: parameters, headers: headers, as: type)
                )
                manager.patch(
                    path,
                    parameters: parameters,
                    headers: headers,
                    success: object,
                    failure: failure
                )
                manager.patch(path, parameters: parameters, as: type, success: value, failure: failure)
            case .delete:
                awaited = try await (
                    manager.delete(path, parameters: parameters, headers: headers),
                    manager.delete(path, parameters: parameters, headers: headers, as: type)
                )
                manager.delete(
                    path,
                    parameters: parameters,
                    headers: headers,
                    success: object,
                    failure: failure
                )
                manager.delete(path, parameters: parameters, as: type, success: value, failure: failure)
            }
            let calledBack = try await [Self.echo(objects.wait().first ?? nil)] + values.wait()
            #expect(errors.elements.isEmpty)
            return try [Self.echo(awaited.0), awaited.1] + calledBack
        }

        static func echo(_ object: (any Sendable)?) throws -> Echo {
            let tree = try #require(object as? [String: any Sendable])
            return try JSONDecoder().decode(Echo.self, from: JSONSerialization.data(withJSONObject: tree))
        }
    }

    /// Both managers by a name that a test shows.
    enum Face: CaseIterable {
        case operations
        case session
    }

    private let server: ScriptedServer
    private let operations: OperationManager
    private let session: HTTPSessionManager

    init() throws {
        server = try ScriptedServer { request in
            if request.path.hasSuffix("bad") {
                return .respond(404, ["Content-Type": "application/json"], body: "{}")
            }
            let echo = Echo(
                method: request.method,
                query: request.query ?? "",
                type: String((request["Content-Type"] ?? "").prefix { $0 != ";" }),
                body: request.text
            )
            guard let data = try? JSONEncoder().encode(echo) else { return .respond(500) }
            let fields: FieldLines = ["Content-Type": "application/json", "X-Page": "7"]
            return .respond(201, fields, body: .data(data))
        }
        (operations, session) = (OperationManager(baseURL: server.url), .forTests(server.url))
        operations.completionQueue = DispatchQueue(label: "callbacks")
        session.completionQueue = DispatchQueue(label: "callbacks")
        operations.requestSerializer = JSONRequestSerializer(writingOptions: .sortedKeys)
        session.requestSerializer = JSONRequestSerializer(writingOptions: .sortedKeys)
    }

    private func results(_ face: Face, _ verb: Verb, _ parameters: some RequestParameters) async throws
        -> [Echo]
    {
        switch face {
        case .operations: try await verb.results(operations, parameters)
        case .session: try await verb.results(session, parameters)
        }
    }

    // MARK: - Verbs

    @Test(arguments: Face.allCases, Verb.allCases)
    func everyFormOfAVerbSendsTheSameParameters(face: Face, verb: Verb) async throws {
        func expect(_ results: [Echo], _ query: String, _ type: String, _ body: String) {
            let inBody = Echo(method: verb.rawValue, query: "", type: type, body: body)
            let inQuery = Echo(method: verb.rawValue, query: query, type: "", body: "")
            #expect(results == Array(repeating: verb.hasBody ? inBody : inQuery, count: 4))
        }
        let json = "application/json"
        let variable: [String: Any] = ["b": [1, 2], "a": "x"]
        let nothing: [String: Any]? = nil
        expect(try await results(face, verb, ["a": 1]), "a=1", json, #"{"a":1}"#)
        expect(
            try await results(face, verb, variable),
            "a=x&b%5B%5D=1&b%5B%5D=2",
            json,
            #"{"a":"x","b":[1,2]}"#
        )
        let user = User(name: "Ada")
        let (text, tree) = ("name=Ada&tags%5B%5D=x&tags%5B%5D=y", #"{"name":"Ada","tags":["x","y"]}"#)
        expect(try await results(face, verb, .encoding(user)), text, json, tree)
        #expect(try await results(face, verb, nothing) == results(face, verb, NoParameters()))
        guard verb.hasBody else { return }
        expect(try await results(face, verb, [1, "b"]), "", json, #"[1,"b"]"#)
        expect(
            try await results(face, verb, .body(.data(Data("four".utf8)))),
            "",
            "application/octet-stream",
            "four"
        )
        let form = try await results(
            face,
            verb,
            .form(["t": "x"]) { $0.appendPart(withFormData: Data("y".utf8), name: "u") }
        )
        #expect(form.count == 4)
        for echo in form {
            #expect(echo.method == verb.rawValue && echo.type == "multipart/form-data")
            #expect(echo.body.contains("name=\"t\"") && echo.body.contains("name=\"u\""))
        }
    }

    @Test func headIsASuccessWithoutAnObject() async throws {
        let results = Recorder<Bool>()
        #expect(try await operations.head("x", parameters: ["a": 1]) == nil)
        #expect(try await session.head("x") == nil)
        operations.head("x", success: { _, object in results.append(object == nil) })
        session.head("x", success: { _, object in results.append(object == nil) })
        #expect(try await results.wait(count: 2) == [true, true])
        #expect(server.requests.allSatisfy { $0.method == "HEAD" })
        #expect(server.requests.first?.query == "a=1")
    }

    @Test func aBodyIsUploadedAsItIs() async throws {
        let body = BodySource.data(Data("four".utf8))
        let echo = Echo(method: "POST", query: "", type: "application/octet-stream", body: "four")
        var put = echo
        put.method = "PUT"
        #expect(try await Verb.echo(operations.upload(body, to: "x")) == echo)
        #expect(try await session.upload(body, to: "x", method: "PUT", as: Echo.self) == put)
        let values = Recorder<Echo>()
        operations.upload(body, to: "x", as: Echo.self, success: { _, value in values.append(value) })
        session.upload(
            body,
            to: "x",
            success: { _, object in
                if let echo = try? Verb.echo(object) { values.append(echo) }
            }
        )
        #expect(try await values.wait(count: 2) == [echo, echo])
        let failures = Recorder<Bool>()
        let none = operations.upload(body, to: "x", method: "GET", success: nil) { operation, error in
            failures.append(operation == nil && error is RequestBodyError)
        }
        #expect(none == nil)
        #expect(try await failures.wait() == [true])
    }

    // MARK: - Progress, configuration, failures

    private func reportsEvents<Manager: HTTPVerbs>(_ manager: Manager) async throws {
        let events = Recorder<String>()
        let body = BodySource.data(Data(count: 100_000))
        let call = manager.put(
            "x",
            parameters: .body(body),
            configure: { _ in events.append("configured") },
            progress: { progress in
                if progress.isFinished || progress.fractionCompleted == 1 { events.append("sent") }
            },
            success: { _, _ in events.append("success") }
        )
        #expect(call != nil)
        let all = try await events.wait(count: 3)
        #expect(all.first == "configured" && all.contains("sent") && all.last == "success")
        let sent = Recorder<String>()
        let response = try await manager.response(
            "REPORT",
            "x",
            parameters: .body(body),
            configure: { _ in sent.append("configured") },
            progress: { if $0.completedUnitCount == 100_000 { sent.append("sent") } }
        )
        #expect(response.statusCode == 201)
        #expect(try await sent.wait(count: 2).prefix(2) == ["configured", "sent"])
    }

    @Test func everyVerbTakesProgressAndConfiguration() async throws {
        try await reportsEvents(operations)
        try await reportsEvents(session)
    }

    private struct Refusal: Error {}

    private func fails<Manager: HTTPVerbs>(_ manager: Manager) async throws {
        let failures = Recorder<String>()
        let failure: Manager.FailureHandler = { call, error in
            failures.append("\(call == nil) \(RequestFailure(error).statusCode ?? 0) \(error is Refusal)")
        }
        manager.get("bad", as: Echo.self, success: nil, failure: failure)
        try await failures.wait(count: 1)
        manager.get("http://[", success: nil, failure: failure)
        try await failures.wait(count: 2)
        #expect(manager.get("x", configure: { _ in throw Refusal() }, success: nil, failure: failure) == nil)
        let all = try await failures.wait(count: 3)
        #expect(all.prefix(2) == ["false 404 false", "true 0 false"])
        #expect(all[2].hasSuffix("0 true"))
        await #expect(throws: Refusal.self) {
            try await manager.get("x", configure: { _ in throw Refusal() })
        }
        await #expect(throws: Refusal.self) {
            try await manager.post("x", parameters: .form { _ in throw Refusal() })
        }
    }

    @Test func aRequestThatCannotBeMadeOrIsRefusedFails() async throws {
        try await fails(operations)
        try await fails(session)
    }

    @MainActor @Test func aClosureOfMainActorCodeIsCalledOnTheMainQueue() async throws {
        let events = Recorder<Echo>()
        operations.get(
            "x",
            as: Echo.self,
            success: { _, echo in
                MainActor.assertIsolated()
                events.append(echo)
            }
        )
        session.get(
            "x",
            as: Echo.self,
            progress: { _ in MainActor.assertIsolated() },
            success: { _, echo in
                MainActor.assertIsolated()
                events.append(echo)
            }
        )
        #expect(try await events.wait(count: 2).map(\.method) == ["GET", "GET"])
    }

    // MARK: - Responses

    private func responds(_ manager: some HTTPVerbs) async throws {
        let user = User(name: "Ada")
        let typed = [
            try await manager.response("GET", "x", as: Echo.self),
            try await manager.response("POST", "x", parameters: .encoding(user), as: Echo.self),
            try await manager.response("PROPFIND", "x", with: DecodableResponseSerializer(Echo.self)),
            try await manager.response(
                "PUT",
                "x",
                parameters: .form { $0.appendPart(withFormData: Data(), name: "a") },
                with: DecodableResponseSerializer(Echo.self)
            ),
        ]
        #expect(typed.map(\.value.method) == ["GET", "POST", "PROPFIND", "PUT"])
        for response in typed {
            #expect(response.statusCode == 201)
            #expect(response.value(forHTTPHeaderField: "x-page") == "7")
            #expect(response.metrics.transferCount == 1)
            #expect(Int64(response.data?.count ?? 0) == response.metrics.bytesReceived)
        }
        let plain = try await manager.response("DELETE", "x")
        #expect(try Verb.echo(plain.value).method == "DELETE")
        #expect(try await manager.response("HEAD", "x").statusCode == 201)
        let text = try await manager.response("GET", "x", with: StringResponseSerializer()).value
        #expect(text.contains("GET"))
        let error = try await #require(throws: (any Error).self) {
            try await manager.response("GET", "bad", as: Echo.self)
        }
        #expect(RequestFailure(error).statusCode == 404)
        let mismatch = try await #require(throws: ResponseSerializationError.self) {
            try await manager.response("GET", "x", as: [Int].self)
        }
        #expect(RequestFailure(mismatch).statusCode == nil)
    }

    @Test func aResponseHasTheValueTheStatusTheFieldsAndTheMetrics() async throws {
        try await responds(operations)
        try await responds(session)
    }

    @Test(.enabled(if: RealServers.httpbin != nil)) func aRealServerAnswersWithValueHeadAndCost() async throws
    {
        struct Echo: Codable, Sendable {
            var json: [String: String]?
            var url: String
        }
        let session = HTTPSessionManager(baseURL: RealServers.httpbin)
        session.requestSerializer = JSONRequestSerializer()
        session.completionQueue = DispatchQueue(label: "callbacks")
        let posted = try await session.response(
            "POST",
            "post",
            parameters: .encoding(["name": "Ada"]),
            as: Echo.self
        )
        #expect(posted.value.json == ["name": "Ada"] && posted.value.url.hasSuffix("/post"))
        #expect(posted.statusCode == 200 && posted.metrics.bytesSent == 14)
        #expect(Int64(posted.data?.count ?? 0) == posted.metrics.bytesReceived)
        let events = Recorder<Int?>()
        session.get(
            "status/418",
            as: Echo.self,
            success: { _, _ in events.append(nil) },
            failure: { _, error in events.append(RequestFailure(error).statusCode) }
        )
        #expect(try await events.wait() == [418])
    }
}
