import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The archives of operations, managers and sessions do their work in a process that has nothing else.
///
/// That ends by `_exit`: what the closure holds would be a leak to a sanitizer.
@Suite(.timeLimit(.minutes(1)))
struct ArchivesInAnotherProcessTests {
    private func server() throws -> ScriptedServer {
        try ScriptedServer { request in
            guard request.headers["X-App"] == "tests" else { return .respond(400) }
            let body: AnswerBody = "{\"path\": \"\(request.target)\"}"
            return .respond(200, ["Content-Type": "application/json"], body: body)
        }
    }

    private static func path(_ object: (any Sendable)?) -> String? {
        (object as? [String: any Sendable])?["path"] as? String
    }

    @Test func aManagerMakesTheSameRequests() async throws {
        let server = try server()
        let manager = OperationManager(baseURL: server.url)
        var serializer = HTTPRequestSerializer()
        try serializer.setValue("tests", forHTTPHeaderField: "X-App")
        manager.requestSerializer = serializer
        manager.responseSerializer = JSONResponseSerializer()
        manager.retryPolicy = RetryPolicy(maximumRetries: 3)
        manager.timeouts.total = 20
        let archive = try JSONEncoder().encode(manager.archive)

        await #expect(processExitsWith: .success) { [archive = archive as Data] in
            let archive = try JSONDecoder().decode(OperationManagerArchive.self, from: archive)
            let manager = OperationManager(archive: archive)
            manager.completionQueue = DispatchQueue(label: "callbacks")
            guard manager.retryPolicy == RetryPolicy(maximumRetries: 3), manager.timeouts.total == 20 else {
                _exit(2)
            }
            let object = try await manager.get("users", parameters: ["a": 1])
            _exit(Self.path(object) == "/users?a=1" ? 0 : 3)
        }
        #expect(server.requests.count == 1)
    }

    @Test func anOperationThatWasPausedRuns() async throws {
        let server = try server()
        var request = URLRequest(url: server.url.appendingPathComponent("later"))
        request.setValue("tests", forHTTPHeaderField: "X-App")
        let operation = HTTPRequestOperation(request: request)
        operation.responseSerializer = JSONResponseSerializer()
        operation.pause()
        let archive = try JSONEncoder().encode(try #require(operation.archive))

        await #expect(processExitsWith: .success) { [archive = archive as Data] in
            let archive = try JSONDecoder().decode(OperationArchive.self, from: archive)
            let operation = HTTPRequestOperation(archive: archive)
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.start()
            _exit(Self.path(try await operation.value) == "/later" ? 0 : 2)
        }
        #expect(server.requests.count == 1)
    }

    @Test func aSessionHasItsConfiguration() async throws {
        let server = try server()
        var configuration = SessionConfiguration.ephemeral
        configuration.additionalHeaders = ["X-App": "tests"]
        configuration.settings.timeouts.total = 20
        let archive = try JSONEncoder().encode(
            HTTPSessionManager(baseURL: server.url, configuration: configuration).archive
        )

        await #expect(processExitsWith: .success) { [archive = archive as Data] in
            let archive = try JSONDecoder().decode(SessionManagerArchive.self, from: archive)
            let session = HTTPSessionManager(archive: archive)
            session.completionQueue = DispatchQueue(label: "callbacks")
            guard session.configuration.settings.timeouts.total == 20 else { _exit(2) }
            let object = try await session.get("users", parameters: ["a": 1])
            _exit(Self.path(object) == "/users?a=1" ? 0 : 3)
        }
        #expect(server.requests.count == 1)
    }
}
