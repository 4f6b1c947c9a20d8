import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct HTTPSessionManagerTests {
    /// Says what was asked for.
    private func echo() throws -> ScriptedServer {
        try ScriptedServer { request in
            .respond(
                200,
                ["Content-Type": "application/json"],
                body: .text("[\"\(request.method)\", \"\(request.query ?? "")\", \"\(request.text)\"]")
            )
        }
    }

    @Test func everyVerbSendsItsParametersWhereTheyBelong() async throws {
        let server = try echo()
        let session = HTTPSessionManager.forTests(server.url)
        let parameters: [String: any Sendable] = ["b": true, "a": [1, 2]]
        let encoded = "a%5B%5D=1&a%5B%5D=2&b=1"
        func strings(_ object: (any Sendable)?) -> [String]? { object as? [String] }

        #expect(strings(try await session.get("x", parameters: parameters)) == ["GET", encoded, ""])
        #expect(strings(try await session.delete("x", parameters: parameters)) == ["DELETE", encoded, ""])
        #expect(strings(try await session.post("x", parameters: parameters)) == ["POST", "", encoded])
        #expect(strings(try await session.put("x", parameters: parameters)) == ["PUT", "", encoded])
        #expect(strings(try await session.patch("x", parameters: parameters)) == ["PATCH", "", encoded])
        #expect(try await session.head("x", parameters: parameters) == nil)
        #expect(server.requests.last?.method == "HEAD" && server.requests.last?.query == encoded)
        #expect(session.tasks.isEmpty)
    }

    typealias Verb = @Sendable (HTTPSessionManager, TaskEnds) -> DataTask?
    static let verbs: [(String, Verb)] = [
        ("GET", { $0.get("x", headers: ["X-H": "1"], success: $1.success, failure: $1.failure) }),
        ("HEAD", { $0.head("x", headers: ["X-H": "1"], success: $1.success, failure: $1.failure) }),
        ("POST", { $0.post("x", headers: ["X-H": "1"], success: $1.success, failure: $1.failure) }),
        ("PUT", { $0.put("x", headers: ["X-H": "1"], success: $1.success, failure: $1.failure) }),
        ("PATCH", { $0.patch("x", headers: ["X-H": "1"], success: $1.success, failure: $1.failure) }),
        ("DELETE", { $0.delete("x", headers: ["X-H": "1"], success: $1.success, failure: $1.failure) }),
    ]

    @Test(arguments: verbs.indices)
    func everyVerbCallsBackWithItsTaskAndSendsItsHeaders(_ index: Int) async throws {
        let (method, verb) = Self.verbs[index]
        let server = try echo()
        let session = HTTPSessionManager.forTests(server.url)
        let ends = TaskEnds()
        let task = try #require(verb(session, ends))
        #expect(task.state != .suspended)
        let end = try await ends.wait()
        #expect(end.error == nil && end.response?.statusCode == 200)
        #expect((end.object as? [String])?.first == (method == "HEAD" ? nil : method))
        #expect(server.requests.first?["X-H"] == "1" && server.requests.first?.method == method)
    }

    @Test(arguments: verbs.indices)
    func everyVerbFailsWithTheErrorOfItsTask(_ index: Int) async throws {
        let server = try ScriptedServer([.respond(500)])
        let session = HTTPSessionManager.forTests(server.url)
        let ends = TaskEnds()
        _ = Self.verbs[index].1(session, ends)
        let end = try await ends.wait()
        #expect(end.error is ResponseSerializationError && end.response?.statusCode == 500)
    }

    @Test(arguments: verbs.indices)
    func aRequestThatCannotBeMadeHasNoTask(_ index: Int) async throws {
        let session = HTTPSessionManager.forTests(nil)
        let ends = TaskEnds()
        #expect(Self.verbs[index].1(session, ends) == nil)
        #expect(try await ends.wait().code == .badURL)
        await #expect(throws: URLError.self) { try await session.get("x") }
    }

    @Test func pathsAreJoinedAsWithManagersOfOperations() throws {
        let session = HTTPSessionManager(baseURL: URL(string: "http://example.com/v1"))
        #expect(session.baseURL?.absoluteString == "http://example.com/v1/")
        #expect(try session.url(for: "foo").absoluteString == "http://example.com/v1/foo")
        #expect(try session.url(for: "/foo").absoluteString == "http://example.com/foo")
        #expect(try session.url(for: "http://a.example/b").absoluteString == "http://a.example/b")
    }

    @Test func aFormIsSentWithItsProgress() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "application/json"], body: #"{"id": 7}"#)
        ])
        let session = HTTPSessionManager.forTests(server.url)
        let ends = TaskEnds()
        let fractions = Recorder<Double>()
        let task = session.post(
            "form",
            parameters: .form(
                ["title": "Summer"],
                constructingBody: { form in form.appendPart(withFormData: Data("2026".utf8), name: "year") }
            ),
            progress: { fractions.append($0.fractionCompleted) },
            success: ends.success,
            failure: ends.failure
        )
        let end = try await ends.wait()
        #expect((end.object as? [String: any Sendable])?["id"] as? Int == 7)
        let text = try #require(server.requests.first?.text)
        #expect(text.contains("name=\"title\"\r\n\r\nSummer\r\n") && text.contains("\r\n\r\n2026\r\n"))
        #expect(fractions.elements.last == 1)
        #expect(task?.uploadProgress.fractionCompleted == 1)
        let object = try await session.post(
            "form",
            parameters: .form(constructingBody: { (form: inout MultipartFormData) in
                form.appendPart(withFormData: Data(), name: "a")
            })
        )
        #expect(object is [String: any Sendable])
    }

    @Test func cancellingTheSwiftTaskCancelsTheSessionsTask() async throws {
        let server = try ScriptedServer([.silence])
        let session = HTTPSessionManager.forTests(server.url)
        let waiting = Task { try await session.get("x") }
        try await server.waitForRequests()
        let task = try #require(session.tasks.first)
        waiting.cancel()
        let error = await #expect(throws: URLError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        #expect(task.state == .canceling || task.state == .completed)
    }

    @Test func secretsStayAtTheOriginOfTheBaseURL() async throws {
        let (home, other) = (try echo(), try echo())
        var configuration = SessionConfiguration()
        configuration.additionalHeaders = ["Authorization": "Bearer a", "X-Plain": "1"]
        let session = HTTPSessionManager.forTests(home.url, configuration)
        _ = try await session.get("x")
        _ = try await session.get(other.url.absoluteString)
        #expect(home.requests.first?["Authorization"] == "Bearer a")
        #expect(other.requests.first?["Authorization"] == nil && other.requests.first?["X-Plain"] == "1")
        session.secretHeaderScope = .everywhere
        _ = try await session.get(other.url.absoluteString)
        #expect(other.requests.last?["Authorization"] == "Bearer a")
    }

    @Test func aSubclassIsMadeByACopy() throws {
        final class Client: HTTPSessionManager, @unchecked Sendable {
            // @unchecked: it has no stored property of its own.
        }
        let client = Client(baseURL: URL(string: "http://example.com/"))
        client.requestSerializer = JSONRequestSerializer()
        client.responseSerializer = HTTPResponseSerializer()
        client.maximumConnectionsPerHost = 2
        client.completionQueue = DispatchQueue(label: "callbacks")
        let copy = try #require(client.copy() as? Client)
        #expect(copy.baseURL == client.baseURL && copy.requestSerializer is JSONRequestSerializer)
        #expect(copy.responseSerializer is HTTPResponseSerializer)
        #expect(copy.maximumConnectionsPerHost == 2 && copy.completionQueue === client.completionQueue)
        copy.maximumConnectionsPerHost = 3
        #expect(client.maximumConnectionsPerHost == 2)
    }
}
