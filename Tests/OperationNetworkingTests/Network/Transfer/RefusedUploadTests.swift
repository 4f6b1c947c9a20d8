import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A server that refuses a request whose body is not all there yet, and may never be: RFC 9112 §9.5.
@Suite(.timeLimit(.minutes(1)))
struct RefusedUploadTests {
    /// A body that waits for its first byte, or for another one.
    private struct Body {
        let hasMore = Gate()
        let stream: WatchedStream

        init() {
            stream = WatchedStream(length: 100, heldBy: hasMore)
        }
    }

    private func operation(
        _ url: URL,
        _ body: Body,
        length: Int64?,
        timeout: TimeInterval
    ) -> HTTPRequestOperation {
        var request = URLRequest(url: url, timeoutInterval: timeout)
        request.httpMethod = "POST"
        request.bodySource =
            if let length { .stream(body.stream, length: length) } else { .stream(body.stream) }
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        return operation
    }

    @Test(arguments: [303, 400, 401, 413, 500], [100, nil] as [Int64?])
    func aWholeRefusalEndsIt(status: Int, length: Int64?) async throws {
        let server = try ScriptedServer(
            [.raw("HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno", keepingOpen: true)],
            requestBodies: .leave
        )
        let body = Body()
        let operation = operation(server.url, body, length: length, timeout: 20)
        let start = ContinuousClock.now
        operation.start()
        _ = try? await operation.value
        #expect(ContinuousClock.now - start < .seconds(15))
        #expect(operation.response?.statusCode == status)
        #expect(operation.responseData == Data("no".utf8))
        #expect((operation.error as? URLError)?.code != .timedOut)
        body.hasMore.open()
    }

    /// The server is what does not go on: not the body, which it does not want.
    @Test func aRefusalThatStopsIsIdle() async throws {
        let server = try ScriptedServer(
            [.respond(413, body: "too large").stalling(after: .body(3))],
            requestBodies: .leave
        )
        let body = Body()
        let operation = operation(server.url, body, length: nil, timeout: 0.5)
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .timedOut)
        body.hasMore.open()
    }

    /// A stream of HTTP/2, whose other half is closed by then.
    @Test func aRefusedStreamEndsToo() async throws {
        let server = try HTTP2Server([.respond(413, ["content-length": "2"], body: "no")])
        let body = Body()
        let transfer = TestTransfer(
            .plain(
                server.url,
                method: "POST",
                body: .reading(body.stream, length: 100),
                version: .http2PriorKnowledge
            )
        ).start()
        let start = ContinuousClock.now
        _ = try await transfer.end()
        #expect(ContinuousClock.now - start < .seconds(15))
        #expect(transfer.statuses == [413] && transfer.body == "no")
        body.hasMore.open()
    }

    /// Another transfer, or a redirect, follows at once: its connection is a new one.
    @Test func theNextRequestIsNotInTheBody() async throws {
        let server = try ScriptedServer(
            [
                .raw("HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno", keepingOpen: true),
                .respond(body: "next"),
            ],
            requestBodies: .each { $0.method == "POST" ? .leave : .read }
        )
        let body = Body()
        let operation = operation(server.url, body, length: 100, timeout: 20)
        let start = ContinuousClock.now
        operation.start()
        _ = try? await operation.value
        #expect(ContinuousClock.now - start < .seconds(15))
        let next = HTTPRequestOperation(request: URLRequest(url: server.url, timeoutInterval: 20))
        next.completionQueue = operation.completionQueue
        next.start()
        _ = try await next.value
        #expect(next.responseData == Data("next".utf8))
        body.hasMore.open()
    }

    /// A success may be reported before the body was read: RFC 9110 does not say that it is not wanted.
    @Test func anEarlySuccessWaitsForTheBody() async throws {
        let server = try ScriptedServer(
            [.raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", keepingOpen: true)],
            requestBodies: .leave
        )
        let body = Body()
        let operation = operation(server.url, body, length: 100, timeout: 20)
        operation.start()
        try await body.stream.didRead.wait()
        try await networkThreadIsDone()
        body.hasMore.open()
        _ = try await operation.value
        #expect(operation.responseData == Data("ok".utf8))
        #expect(body.stream.closeCount == 1)
    }
}
