import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SmokeTests {
    let callbacks = DispatchQueue(label: "callbacks")

    @Test func aGetDeliversItsBody() async throws {
        let server = try ScriptedServer([.respond(200, ["ETag": "\"v1\""], body: "0123456789")])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = callbacks
        let queue = OperationQueue()
        queue.addOperation(operation)
        let value = try await operation.value
        #expect(value as? Data == Data("0123456789".utf8))
        #expect(operation.response?.statusCode == 200)
    }

    @Test func aBrokenDownloadFails() async throws {
        let server = try ScriptedServer([.respond(200, ["ETag": "\"v1\""], body: "0123456789", breakingAfter: 4)])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = callbacks
        let queue = OperationQueue()
        queue.addOperation(operation)
        await #expect(throws: URLError.self) { try await operation.value }
        #expect(operation.responseData == Data("0123".utf8))
        #expect((operation.error as? URLError)?.code == .networkConnectionLost)
    }

    @Test func manyKeepAlive() async throws {
        let server = try ScriptedServer { _ in .respond(200, body: "hello") }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 32
        let operations = (0..<5000).map { _ in
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
            operation.completionQueue = callbacks
            return operation
        }
        let start = Date()
        for operation in operations { queue.addOperation(operation) }
        for operation in operations { _ = try await operation.value }
        print("5000 in", -start.timeIntervalSinceNow, "connections", operations.reduce(0) { $0 + ($1.metrics?.connectionCount ?? 0) })
    }
}
