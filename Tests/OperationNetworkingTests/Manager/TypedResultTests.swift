import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// What an operation gives as a value of a type, and with its response.
@Suite(.timeLimit(.minutes(1)))
struct TypedResultTests {
    private struct User: Codable, Equatable, Sendable {
        let name: String
    }

    /// Answers with the name that was sent, or else with the method.
    private static func server() throws -> ScriptedServer {
        try ScriptedServer { request in
            let sent = try? JSONDecoder().decode(User.self, from: Data(request.text.utf8))
            let name = sent?.name ?? request.method
            let fields: FieldLines = ["Content-Type": "application/json", "Link": "</next>; rel=\"next\""]
            if request.path.hasSuffix("bad") { return .respond(404, fields, body: "{}") }
            return .respond(201, fields, body: .text("{\"name\": \"\(name)\"}"))
        }
    }

    @Test func theSerializerSaysTheType() async throws {
        let server = try Self.server()
        let manager = OperationManager(baseURL: server.url)
        let page = try await manager.response("GET", "a", with: DecodableResponseSerializer(User.self))
        let user: User = page.value
        #expect(user == User(name: "GET"))
        let request = URLRequest(url: server.url)
        let bytes = try await manager.response(for: request, with: HTTPResponseSerializer())
        let data: Data = bytes.value
        #expect(data == Data(#"{"name": "GET"}"#.utf8))
        let operation = manager.operation(for: request)
        operation.responseSerializer = DecodableResponseSerializer(User.self)
        operation.start()
        #expect(try await operation.value(as: User.self) == user)
        #expect(try await operation.response(as: User.self).statusCode == 201)
        await #expect(throws: ResponseSerializationError.self) { try await operation.value(as: Int.self) }
    }

    @Test func aDownloadGivesItsFile() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let folder = try TemporaryDirectory()
        let download = DownloadOperation(request: URLRequest(url: server.url), to: folder.file("a"))
        download.start()
        let saved: URL = try await download.savedFile
        #expect(saved.lastPathComponent == "a")
        #expect(try await download.response(as: URL.self).statusCode == 200)
    }
}
