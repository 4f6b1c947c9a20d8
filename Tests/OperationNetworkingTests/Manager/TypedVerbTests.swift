import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The verbs with `encoding:` and `as:`.
@Suite(.timeLimit(.minutes(1)))
struct TypedVerbTests {
    private struct User: Codable, Sendable, Equatable {
        var name: String
        var age: Int?
        var tags: [String] = []
    }

    /// The echo of the server of these tests.
    private struct Echo: Codable, Sendable, Equatable {
        var method: String
        var query: String
        var body: String
    }

    private func echoingServer() throws -> ScriptedServer {
        try ScriptedServer { request in
            let echo = Echo(method: request.method, query: request.query ?? "", body: request.text)
            guard let data = try? JSONEncoder().encode(echo) else { return .respond(500) }
            return .respond(200, ["Content-Type": "application/json"], body: .data(data))
        }
    }

    private func manager(_ server: ScriptedServer) -> OperationManager {
        let manager = OperationManager(baseURL: server.url)
        manager.completionQueue = DispatchQueue(label: "callbacks")
        return manager
    }

    @Test func aValueThatCannotBeEncodedIsTheFailure() async throws {
        struct Unwilling: Encodable, Sendable {
            struct Refusal: Error {}

            func encode(to encoder: any Encoder) throws { throw Refusal() }
        }
        let manager = try manager(ScriptedServer([]))
        manager.requestSerializer = JSONRequestSerializer()
        await #expect(throws: Unwilling.Refusal.self) {
            try await manager.post("x", parameters: .encoding(Unwilling()))
        }
        let failures = Recorder<Bool>()
        let operation = manager.post(
            "x",
            parameters: .encoding(Unwilling()),
            success: nil,
            failure: { operation, error in failures.append(operation == nil && error is Unwilling.Refusal) }
        )
        #expect(operation == nil)
        #expect(try await failures.wait() == [true])
    }

    @Test func bodiesThatMayBeEmptyAreOptional() async throws {
        let server = try ScriptedServer { _ in .respond(204) }
        let manager = manager(server)
        #expect(try await manager.get("x", as: User?.self) == nil)
        #expect(try await manager.delete("x", as: EmptyResponse.self) == EmptyResponse())
        let error = await #expect(throws: ResponseSerializationError.self) {
            try await manager.get("x", as: User.self)
        }
        #expect(error?.reason == .unexpectedStructure(type: "User", "expected a value, found an empty body"))
    }

    @Test(arguments: ["text/plain", "application/json"])
    func ofAnEmptyResponseOnlyTheStatusCounts(type: String) async throws {
        let server = try ScriptedServer { request in
            .respond(request.target == "/gone" ? 410 : 200, ["Content-Type": type], body: "OK")
        }
        let manager = manager(server)
        #expect(try await manager.delete("x", as: EmptyResponse.self) == EmptyResponse())
        let response = try await manager.response("DELETE", "x", as: EmptyResponse.self)
        #expect(response.value == EmptyResponse() && response.data == Data("OK".utf8))
        let session = HTTPSessionManager.forTests(server.url)
        #expect(try await session.delete("x", as: EmptyResponse.self) == EmptyResponse())
        let error = await #expect(throws: ResponseSerializationError.self) {
            try await manager.delete("gone", as: EmptyResponse.self)
        }
        #expect(error.map { RequestFailure($0).statusCode } == 410)
    }

    @Test func theManagersDecoderAndAcceptedTypesCount() async throws {
        let server = try ScriptedServer { _ in
            .respond(299, ["Content-Type": "text/odd"], body: #"{"full_name": "Ada"}"#)
        }
        struct Named: Decodable, Sendable {
            let fullName: String
        }
        let manager = manager(server)
        await #expect(throws: ResponseSerializationError.self) { try await manager.get("x", as: Named.self) }
        var json = JSONResponseSerializer()
        json.acceptableContentTypes = ["text/odd"]
        manager.responseSerializer = json
        manager.makeJSONDecoder = {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        }
        #expect(try await manager.get("x", as: Named.self).fullName == "Ada")
        json.acceptableStatusCodes = IndexSet(integer: 200)
        manager.responseSerializer = json
        await #expect(throws: ResponseSerializationError.self) { try await manager.get("x", as: Named.self) }
    }

    @Test func cancellingTheTaskCancelsTheOperation() async throws {
        let server = try ScriptedServer { _ in .respond(body: "x").stalling(after: 0) }
        let manager = manager(server)
        let task = Task { try await manager.get("x", as: User.self) }
        try await server.waitForRequests(count: 1)
        task.cancel()
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }
}
