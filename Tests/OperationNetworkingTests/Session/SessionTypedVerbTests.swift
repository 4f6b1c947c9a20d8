import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

/// The verbs of sessions with `encoding:` and `as:`.
@Suite(.timeLimit(.minutes(1)))
struct SessionTypedVerbTests {
    private struct User: Codable, Sendable, Equatable {
        var name: String
        var tags: [String] = []
    }

    /// The echo of the server of these tests.
    private struct Echo: Codable, Sendable, Equatable {
        var method: String
        var query: String
        var body: String
    }

    private let server: ScriptedServer
    private let session: HTTPSessionManager

    init() throws {
        server = try ScriptedServer { request in
            let echo = Echo(method: request.method, query: request.query ?? "", body: request.text)
            guard let data = try? JSONEncoder().encode(echo) else { return .respond(500) }
            return .respond(200, ["Content-Type": "application/json"], body: .data(data))
        }
        session = .forTests(server.url)
    }

    @Test func everyVerbReturnsAValue() async throws {
        let parameters = ["a": "1"]
        func inQuery(_ method: String) -> Echo { Echo(method: method, query: "a=1", body: "") }
        func inBody(_ method: String) -> Echo { Echo(method: method, query: "", body: "a=1") }
        let type = Echo.self
        #expect(try await session.get("x", parameters: parameters, as: type) == inQuery("GET"))
        #expect(try await session.post("x", parameters: parameters, as: type) == inBody("POST"))
        #expect(try await session.put("x", parameters: parameters, as: type) == inBody("PUT"))
        #expect(try await session.patch("x", parameters: parameters, as: type) == inBody("PATCH"))
        #expect(try await session.delete("x", parameters: parameters, as: type) == inQuery("DELETE"))
        #expect(session.tasks.isEmpty)
    }

    @Test func everyVerbTakesAValue() async throws {
        let user = User(name: "Ada", tags: ["x", "y"])
        let text = "name=Ada&tags%5B%5D=x&tags%5B%5D=y"
        func inQuery(_ method: String) -> Echo { Echo(method: method, query: text, body: "") }
        func inBody(_ method: String) -> Echo { Echo(method: method, query: "", body: text) }
        let type = Echo.self
        #expect(try await session.get("x", encoding: user, as: type) == inQuery("GET"))
        #expect(try await session.post("x", encoding: user, as: type) == inBody("POST"))
        #expect(try await session.put("x", encoding: user, as: type) == inBody("PUT"))
        #expect(try await session.patch("x", encoding: user, as: type) == inBody("PATCH"))
        #expect(try await session.delete("x", encoding: user, as: type) == inQuery("DELETE"))
        let objects = [
            try await session.get("x", encoding: user), try await session.post("x", encoding: user),
            try await session.put("x", encoding: user), try await session.patch("x", encoding: user),
            try await session.delete("x", encoding: user),
        ]
        #expect(
            objects.map { ($0 as? [String: any Sendable])?["method"] as? String }
                == ["GET", "POST", "PUT", "PATCH", "DELETE"]
        )
    }

    typealias Verb =
        @Sendable (HTTPSessionManager, TaskEnds, @escaping SessionTask.ProgressHandler) ->
        DataTask?
    static let verbs: [(String, Verb)] = [
        ("GET", { $0.get("x", encoding: ["a": 1], progress: $2, success: $1.success, failure: $1.failure) }),
        (
            "POST",
            { $0.post("x", encoding: ["a": 1], progress: $2, success: $1.success, failure: $1.failure) }
        ),
        ("PUT", { $0.put("x", encoding: ["a": 1], progress: $2, success: $1.success, failure: $1.failure) }),
        (
            "PATCH",
            { $0.patch("x", encoding: ["a": 1], progress: $2, success: $1.success, failure: $1.failure) }
        ),
        (
            "DELETE",
            { session, ends, _ in
                session.delete("x", encoding: ["a": 1], success: ends.success, failure: ends.failure)
            }
        ),
    ]

    @Test(arguments: verbs.indices)
    func everyVerbWithAValueCallsBack(_ index: Int) async throws {
        let (method, verb) = Self.verbs[index]
        session.requestSerializer = JSONRequestSerializer()
        let (ends, fractions) = (TaskEnds(), Recorder<Double>())
        let task = verb(session, ends) { fractions.append($0.fractionCompleted) }
        #expect(task != nil)
        let echo = try await ends.wait().object as? [String: any Sendable]
        #expect(echo?["method"] as? String == method)
        #expect(method == "DELETE" || fractions.elements.last == 1)
    }

    @Test func aValueThatCannotBeEncodedIsTheFailure() async throws {
        struct Unwilling: Encodable, Sendable {
            struct Refusal: Error {}

            func encode(to encoder: any Encoder) throws { throw Refusal() }
        }
        session.requestSerializer = JSONRequestSerializer()
        let ends = TaskEnds()
        #expect(
            session.post("x", encoding: Unwilling(), success: ends.success, failure: ends.failure) == nil
        )
        #expect(try await ends.wait().error != nil)
        await #expect(throws: (any Error).self) {
            try await session.post("x", encoding: Unwilling(), as: Echo.self)
        }
        #expect(server.requests.isEmpty)
    }

    @Test func theDecoderOfTheSessionCounts() async throws {
        struct Named: Decodable, Sendable { let userName: String }
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "application/json"], body: #"{"user_name": "ada"}"#)
        ])
        let session = HTTPSessionManager.forTests(server.url)
        session.makeJSONDecoder = {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        }
        #expect(try await session.get("x", as: Named.self).userName == "ada")
    }

    @Test func aValueIsNoFile() async throws {
        let temporary = try TemporaryDirectory()
        session.setDataTaskDidReceiveResponse { _, _ in .becomeDownload }
        session.setDownloadTaskDidFinishDownloading { _, _ in temporary.file() }
        await #expect(throws: ResponseSerializationError.self) { try await session.get("x", as: Echo.self) }
    }

    // MARK: - Reachability

    @Test func managersHaveTheReachabilityOfTheProcessUnlessAnotherOneIsSet() {
        let (operations, own) = (OperationManager(), NetworkReachabilityManager())
        #expect(operations.reachabilityManager === NetworkReachabilityManager.shared)
        #expect(session.reachabilityManager === NetworkReachabilityManager.shared)
        operations.reachabilityManager = own
        session.reachabilityManager = own
        #expect(operations.reachabilityManager === own && session.reachabilityManager === own)
        #expect((operations.copy() as? OperationManager)?.reachabilityManager === own)
        #expect((session.copy() as? HTTPSessionManager)?.reachabilityManager === own)
    }
}
