import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SuggestedFilenameTests {
    @Test func everyResponseSuggestsIt() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Disposition": "attachment; filename*=UTF-8''%E6%8A%A5.pdf"], body: "x"),
            .respond(200, body: "x"),
        ])
        for expected in ["报.pdf", "a b"] {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: "a%20b")))
            operation.completionQueue = .global()
            operation.start()
            _ = try await operation.value
            #expect(operation.response?.suggestedFilename == expected)
        }
    }
}
