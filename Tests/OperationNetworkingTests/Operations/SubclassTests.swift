import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The calls of a subclass of the user's.
@Suite(.timeLimit(.minutes(1)))
struct SubclassTests {
    final class Listener: HTTPRequestOperation, @unchecked Sendable {
        // @unchecked: a recorder is thread-safe.
        let events = Recorder<String>()
        let pieces = Recorder<Data>()
        let gate = Gate()

        override class var receivesPieces: Bool { true }
        override func didReceive(_ response: HTTPURLResponse) {
            events.append("response \(response.statusCode)")
        }

        override func didFinish() { events.append("finish") }

        override func didReceive(_ piece: Data) {
            try? gate.waitSynchronously()
            pieces.append(piece)
        }
    }

    @Test func aSubclassReceivesTheResponseEveryPieceAndTheEnd() async throws {
        let body = PatternBody(length: 3 << 20)
        let server = try ScriptedServer([.respond(200, [:], body: .pattern(body))])
        let operation = Listener(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.setCompletion(success: { _, _ in operation.events.append("success") }, failure: nil)
        operation.start()

        // The callbacks are held: so is the transfer, with less than the body on its way.
        try await operation.gate.waitForArrivals()
        #expect(!operation.isFinished)
        operation.gate.open()

        #expect(try await operation.events.wait(count: 3) == ["response 200", "finish", "success"])
        #expect(body.firstDifference(from: operation.pieces.elements.reduce(Data(), +)) == nil)
        #expect(body.firstDifference(from: try #require(operation.responseData)) == nil)
    }

    /// A transfer that is faster than its reader fills the line again and again.
    @Test func othersGetOntoTheQueueOfASlowReader() async throws {
        let body = PatternBody(length: 3 << 20)
        let server = try ScriptedServer([.respond(200, [:], body: .pattern(body))])
        let operation = Listener(request: URLRequest(url: server.url))
        let callbacks = DispatchQueue(label: "callbacks")
        operation.completionQueue = callbacks
        operation.start()
        try await operation.gate.waitForArrivals()
        callbacks.async { operation.events.append("another") }
        operation.gate.open()
        #expect(try await operation.events.wait(count: 3) == ["response 200", "another", "finish"])
    }

    @Test func aStreamedBodyIsSentAgainAfterARedirectWithAProvider() async throws {
        let server = try ScriptedServer([.redirect(to: "/there", statusCode: 307), .respond(body: "done")])
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.inputStream = InputStream(data: Data("the body".utf8))
        operation.setBodyStreamProvider { InputStream(data: Data("the body".utf8)) }
        operation.start()

        _ = try await operation.value

        #expect(server.requests.map(\.text) == ["the body", "the body"])
        #expect(server.requests.map(\.path) == ["/", "/there"])
    }

    @Test func aStreamedBodyWithoutAProviderIsAnError() async throws {
        let server = try ScriptedServer([.redirect(to: "/there", statusCode: 308), .respond(body: "done")])
        var request = URLRequest(url: server.url)
        request.httpMethod = "PUT"
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.inputStream = InputStream(data: Data("the body".utf8))
        operation.start()

        _ = try? await operation.value

        #expect((operation.error as? URLError)?.code == .requestBodyStreamExhausted)
        #expect(server.requests.count == 1)
    }
}
