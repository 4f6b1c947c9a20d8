import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct RequestFailureTests {
    @Test(arguments: [(404, "404"), (503, "503 temporary"), (429, "429 temporary"), (401, "401")])
    func aStatusIsANumber(status: Int, answers: String) async throws {
        let server = try ScriptedServer([.respond(status, ["Content-Type": "text/html"], body: "<p>")])
        let manager = OperationManager(baseURL: server.url)
        let error = try await #require(throws: (any Error).self) { try await manager.get("a") }
        #expect(FailureRow.answers(error) == answers)
        #expect(RequestFailure(error).code == nil)
    }

    /// A type that no response gives is a mistake; one that another response may give is not.
    @Test func aValueOfATypeThatTheSerializerNeverMakesIsAMistake() async throws {
        struct User: Decodable, Sendable {
            let name: String
        }
        let server = try ScriptedServer { _ in
            .respond(200, ["Content-Type": "application/json"], body: #"{"name": "Ada"}"#)
        }
        let folder = try TemporaryDirectory()
        func failure<Value: Sendable>(
            _ serializer: any ResponseSerializer,
            _ type: Value.Type,
            file: URL? = nil
        ) async throws -> RequestFailure {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
            operation.responseSerializer = serializer
            operation.outputFile = file
            operation.start()
            let error = try await #require(throws: ResponseSerializationError.self) {
                try await operation.value(as: type)
            }
            #expect(error.reason != .unacceptableStatusCode(200))
            return RequestFailure(error)
        }
        #expect(try await failure(JSONResponseSerializer(), User.self).isProgrammingError)
        #expect(try await failure(HTTPResponseSerializer(), String.self).isProgrammingError)
        #expect(try await failure(DecodableResponseSerializer(User.self), Int.self).isProgrammingError)
        let file = folder.file("a")
        #expect(try await failure(HTTPResponseSerializer(), Data.self, file: file).isProgrammingError)
        // A server may answer with a list or a number as well.
        #expect(try await !failure(JSONResponseSerializer(), [Int].self).isProgrammingError)
        #expect(try await !failure(JSONResponseSerializer(), Int.self).isProgrammingError)
        #expect(try await !failure(CompoundResponseSerializer([]), String.self).isProgrammingError)
        let sentence = try await "\(failure(JSONResponseSerializer(), User.self).error)"
        #expect(sentence.contains("as User: JSONResponseSerializer made a Dictionary"), "\(sentence)")
    }

    @Test func anOperationCanBeClassified() async throws {
        let server = try ScriptedServer([.silence])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.timeouts.total = 0.2
        #expect(operation.failure == nil)
        operation.start()
        _ = try? await operation.value
        #expect(operation.failure?.isTimeout == true && operation.failure?.isTemporary == true)
    }

    /// Verbs, values, sessions and downloads end with one error when their task is cancelled.
    @Test func aCancelledTaskThrowsOneErrorEverywhere() async throws {
        let server = try ScriptedServer { _ in .silence }
        let manager = OperationManager(baseURL: server.url)
        let session = HTTPSessionManager(baseURL: server.url)
        let folder = try TemporaryDirectory()
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await manager.get("a") },
            { _ = try await manager.get("a", as: Int.self) },
            { _ = try await manager.response("GET", "a") },
            { _ = try await manager.post("a", parameters: ["a"]) { $0.runLoopModes = [.default] } },
            { _ = try await session.get("a") },
            { _ = try await HTTPRequestOperation(request: URLRequest(url: server.url)).value },
            {
                let download = manager.downloadOperation(
                    for: URLRequest(url: server.url),
                    to: folder.file("a")
                )
                download.start()
                _ = try await download.savedFile
            },
        ]
        manager.requestSerializer = JSONRequestSerializer()
        for call in calls {
            let task = Task { try await call() }
            task.cancel()
            let error = await #expect(throws: (any Error).self) { try await task.value }
            #expect((error as? URLError)?.code == .cancelled)
        }
    }
}
