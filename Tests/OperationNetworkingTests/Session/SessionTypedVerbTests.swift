import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The verbs of sessions with `.encoding` and `as:`.
@Suite(.timeLimit(.minutes(1)))
struct SessionTypedVerbTests {
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

    @Test func aValueThatCannotBeEncodedIsTheFailure() async throws {
        struct Unwilling: Encodable, Sendable {
            struct Refusal: Error {}

            func encode(to encoder: any Encoder) throws { throw Refusal() }
        }
        session.requestSerializer = JSONRequestSerializer()
        let ends = TaskEnds()
        #expect(
            session.post(
                "x",
                parameters: .encoding(Unwilling()),
                success: ends.success,
                failure: ends.failure
            ) == nil
        )
        #expect(try await ends.wait().error != nil)
        await #expect(throws: (any Error).self) {
            try await session.post("x", parameters: .encoding(Unwilling()), as: Echo.self)
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
