import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Progress of an upload counts what has left this machine: the kernel takes megabytes at once.
@Suite(.timeLimit(.minutes(1)))
struct UploadProgressTests {
    private static let length = 4_000_000

    /// A server that reads the body from a gate on.
    private func server(_ gate: Gate) throws -> ScriptedServer {
        try ScriptedServer([.respond(body: "done")], requestBodies: .hold(after: 0, by: gate))
    }

    private func request(_ url: URL) -> URLRequest {
        var request = URLRequest(url: url, timeoutInterval: 30)
        request.httpMethod = "PUT"
        request.httpBody = PatternBody(length: Self.length).data
        return request
    }

    @Test func whatTheKernelHoldsIsNotSent() async throws {
        let gate = Gate()
        let server = try server(gate)
        let operation = HTTPRequestOperation(request: request(server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        let totals = Recorder<Int64>()
        operation.setUploadProgress { _, total, _ in totals.append(total) }
        operation.start()
        // The server's kernel takes some before it is read.
        let first = try await totals.wait()[0]
        #expect(first > 0 && first < Int64(Self.length))
        try await gate.waitForArrivals()
        #expect(totals.elements.last.map { $0 < Int64(Self.length) } == true)
        gate.open()
        _ = try await operation.value
        operation.completionQueue?.sync {}
        #expect(totals.elements.last == Int64(Self.length))
        #expect(totals.elements == totals.elements.sorted())
    }

    /// The response is late, and the queue says that everything has gone.
    @Test func theTotalIsReachedWithoutTheResponse() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "done").held(after: .wire(0), by: gate)])
        let operation = HTTPRequestOperation(request: request(server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        let isWhole = Gate()
        operation.setUploadProgress { _, total, _ in if total == Int64(Self.length) { isWhole.open() } }
        operation.start()
        try await isWhole.wait()
        #expect(!operation.isFinished && operation.response == nil)
        gate.open()
        _ = try await operation.value
    }

    /// The server reads nothing, and answers: what its kernel and ours hold is a part of the body.
    @Test func anEarlyAnswerCountsNothingThatWasNotSent() async throws {
        let length = 60_000_000
        let server = try ScriptedServer(
            [.raw(.text("HTTP/1.1 413 Early\r\nContent-Length: 2\r\n\r\nno"), keepingOpen: true)],
            requestBodies: .leave
        )
        var request = URLRequest(url: server.url, timeoutInterval: 30)
        request.httpMethod = "PUT"
        request.httpBody = PatternBody(length: length).data
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        let totals = Recorder<Int64>()
        operation.setUploadProgress { _, total, _ in totals.append(total) }
        operation.start()
        _ = try? await operation.value
        operation.completionQueue?.sync {}
        #expect(operation.response?.statusCode == 413)
        #expect(totals.elements == totals.elements.sorted())
        #expect(totals.elements.last.map { $0 < Int64(length) / 2 } ?? true)
    }

    @Test func theProgressOfATaskDoesNotRunAheadEither() async throws {
        let gate = Gate()
        let server = try server(gate)
        let manager = HTTPSessionManager(baseURL: server.url)
        manager.completionQueue = DispatchQueue(label: "callbacks")
        let (fractions, ends) = (Recorder<Double>(), Gate())
        let task = manager.uploadTask(
            with: request(server.url),
            from: PatternBody(length: Self.length).data,
            progress: { fractions.append($0.fractionCompleted) },
            completion: { _, _, _ in ends.open() }
        )
        task.resume()
        #expect(try await fractions.wait()[0] < 1)
        gate.open()
        try await ends.wait()
        #expect(task.uploadProgress.fractionCompleted == 1)
    }
}
