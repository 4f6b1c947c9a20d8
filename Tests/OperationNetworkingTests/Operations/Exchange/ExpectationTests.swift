import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A 417 to the caller's own `Expect` (RFC 9110 §10.1.1).
@Suite(.timeLimit(.minutes(1)))
struct ExpectationTests {
    private static let large = Data(repeating: 7, count: 3_000_000)

    /// A server that knows no expectation, and has read the body of such a request or not.
    private func server(reads: Bool, always: Bool = false) throws -> ScriptedServer {
        try ScriptedServer(requestBodies: .each { $0["Expect"] == nil || reads ? .read : .leave }) {
            request in
            request["Expect"] == nil && !always
                ? .respond(body: .text("\(request.method) \(request.body.count)"))
                : .respond(417, body: "what?")
        }
    }

    private func operation(_ url: URL, _ method: String, expecting: String = "100-continue")
        -> HTTPRequestOperation
    {
        var request = URLRequest(url: url, timeoutInterval: 20)
        request.httpMethod = method
        request.setValue(expecting, forHTTPHeaderField: "Expect")
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        return operation
    }

    @Test(arguments: ["POST", "PUT"], [false, true])
    func itIsSentAgainWithoutIt(method: String, reads: Bool) async throws {
        for body in [Data("body".utf8), Self.large] {
            let server = try server(reads: reads)
            let operation = operation(server.url, method, expecting: "100-Continue")
            operation.bodySource = .data(body)
            operation.start()
            #expect(try await operation.value as? Data == Data("\(method) \(body.count)".utf8))
            #expect(server.requests.map { $0["Expect"] } == ["100-Continue", nil])
        }
    }

    @Test func onlyOnce() async throws {
        let server = try server(reads: true, always: true)
        let operation = operation(server.url, "PUT")
        operation.bodySource = .data(Data("body".utf8))
        operation.start()
        await #expect(throws: ResponseSerializationError.self) { try await operation.value }
        #expect(operation.response?.statusCode == 417 && operation.responseData == Data("what?".utf8))
        #expect(server.requests.map { $0["Expect"] } == ["100-continue", nil])
    }

    /// A stream that can be read once has not been read when the server refuses to wait for it.
    @Test(arguments: [false, true])
    func aStreamIsSentIfItWasNotRead(reads: Bool) async throws {
        let server = try server(reads: reads)
        let operation = operation(server.url, "POST")
        operation.bodySource = .stream(InputStream(data: Data("body".utf8)), length: 4)
        operation.start()
        _ = try? await operation.value
        #expect(operation.response?.statusCode == (reads ? 417 : 200))
        #expect(server.requests.map(\.text) == (reads ? ["body"] : ["", "body"]))
    }

    /// The adapter would set it each time.
    @Test func anAdaptersExpectationIsLeftOutToo() async throws {
        let server = try server(reads: true)
        var request = URLRequest(url: server.url)
        request.httpMethod = "PUT"
        request.httpBody = Data("body".utf8)
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.requestAdapters = [Expecting()]
        operation.start()
        #expect(try await operation.value as? Data == Data("PUT 4".utf8))
        #expect(server.requests.map { $0["Expect"] } == ["100-continue", nil])
    }

    private struct Expecting: RequestAdapter {
        func adapt(_ request: URLRequest, in context: RequestContext) async throws -> URLRequest {
            var request = request
            request.setValue("100-continue", forHTTPHeaderField: "Expect")
            return request
        }
    }

    /// Of another expectation the server may say that it cannot be met.
    @Test func a417ToSomethingElseIsTheResponse() async throws {
        let server = try server(reads: true)
        let operation = operation(server.url, "PUT", expecting: "something")
        operation.bodySource = .data(Data("body".utf8))
        operation.start()
        await #expect(throws: ResponseSerializationError.self) { try await operation.value }
        #expect(server.requests.count == 1)
    }
}
