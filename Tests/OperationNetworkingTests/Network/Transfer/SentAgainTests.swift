import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A kept connection turns out to be dead when a request goes over it: libcurl would send any request again.
@Suite(.timeLimit(.minutes(1)))
struct SentAgainTests {
    /// The server's end of the connection after the second request.
    enum Leaving: CaseIterable, Sendable {
        case close, reset

        var answer: Answer {
            switch self {
            case .close: .hangUp
            case .reset: .reset
            }
        }
    }

    /// Answers the first request, leaves when it has read the second, and answers those after it.
    private func server(_ leaving: Leaving = .close) throws -> ScriptedServer {
        try ScriptedServer { request in
            request.number == 1 ? leaving.answer : .respond(body: "\(request.number)")
        }
    }

    private static let large = Data(repeating: 1, count: 3_000_000)

    private func transfer(
        _ server: ScriptedServer,
        _ method: String,
        body: Data?,
        mayBeSentAgain: Bool
    ) async throws -> TestTransfer {
        #expect(try await TestTransfer(.plain(server.url)).start().end().operationError == nil)
        let transfer = TestTransfer(
            .plain(
                server.url,
                method: method,
                body: body.map { .bytes($0) },
                mayBeSentAgain: mayBeSentAgain
            )
        )
        .start()
        _ = try await transfer.end()
        return transfer
    }

    // MARK: - What libcurl does

    @Test(arguments: Leaving.allCases, [Data("abc".utf8), Self.large, nil])
    func whatMayBeSentAgainIsSentAgain(leaving: Leaving, body: Data?) async throws {
        let server = try server(leaving)
        let transfer = try await transfer(
            server,
            "POST",
            body: body,
            mayBeSentAgain: true
        )
        let end = try await transfer.end()
        #expect(end.operationError == nil, "\(end)")
        #expect(transfer.body == "2")
        // The server had all of it, both times.
        #expect(server.requests.map(\.method) == ["GET", "POST", "POST"])
        #expect(server.requests.map(\.body.count) == [0, body?.count ?? 0, body?.count ?? 0])
        #expect(server.requests.map(\.connectionNumber) == [1, 1, 2])
    }

    // MARK: - What is prevented

    @Test(arguments: Leaving.allCases, [Data("abc".utf8), Self.large, nil])
    func whatMayNotBeSentAgainIsSentOnce(leaving: Leaving, body: Data?) async throws {
        let server = try server(leaving)
        let transfer = try await transfer(
            server,
            "POST",
            body: body,
            mayBeSentAgain: false
        )
        let end = try await transfer.end()
        #expect(end.sentence?.contains("not sent again") == true)
        #expect(end.code == .networkConnectionLost)
        #expect(transfer.head == nil)
        #expect(server.requests.map(\.method) == ["GET", "POST"])
    }

    @Test func aBodyThatWasSentInPartIsNotSentAgain() async throws {
        let server = try ScriptedServer(
            [.respond(body: "x")],
            requestBodies: .reset(after: 100_000)
        )
        let transfer = try await transfer(
            server,
            "POST",
            body: Self.large,
            mayBeSentAgain: false
        )
        #expect(try await transfer.end().code == .networkConnectionLost)
        #expect(server.requests.map(\.method) == ["GET", "POST"])
    }

    /// Nothing went out: the connection was seen to be dead before.
    @Test func aRequestThatNeverWentOutGoesOut() async throws {
        let server = try ScriptedServer { _ in .respond(body: "x") }
        #expect(try await TestTransfer(.plain(server.url)).start().end().operationError == nil)
        server.closeConnections()
        try await server.waitForOpenConnections(0)
        let transfer = TestTransfer(
            .plain(server.url, method: "POST", body: .bytes(Data("abc".utf8)), mayBeSentAgain: false)
        ).start()
        #expect(try await transfer.end().operationError == nil)
        #expect(server.requests.map(\.method) == ["GET", "POST"])
        #expect(server.requests.map(\.connectionNumber) == [1, 2])
    }

    // MARK: - Operations

    private func operation(
        _ server: ScriptedServer,
        _ method: String,
        policy: RetryPolicy? = nil
    ) async throws -> HTTPRequestOperation {
        let first = HTTPRequestOperation(request: URLRequest(url: server.url))
        first.start()
        _ = try await first.value
        var request = URLRequest(url: server.url)
        request.httpMethod = method
        request.httpBody = Data("abc".utf8)
        let operation = HTTPRequestOperation(request: request)
        operation.retryPolicy = policy
        return operation
    }

    @Test(arguments: ["POST", "PATCH", "LOCK"])
    func anOperationThatIsNotIdempotentIsAskedOnce(method: String) async throws {
        let server = try server()
        let operation = try await operation(server, method, policy: RetryPolicy())
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .networkConnectionLost)
        #expect(error?.localizedDescription.contains("not sent again") == true)
        #expect(server.requests.map(\.method) == ["GET", method])
    }

    @Test(arguments: ["GET", "PUT", "DELETE"])
    func anOperationThatIsIdempotentIsAskedAgainWithoutAPolicy(method: String) async throws {
        let server = try server()
        let operation = try await operation(server, method)
        operation.start()
        #expect(try await operation.value as? Data == Data("2".utf8))
        #expect(server.requests.map(\.method) == ["GET", method, method])
        #expect(operation.metrics?.transferCount == 1)
    }

    @Test func aPolicyMayAllowIt() async throws {
        let server = try server()
        var policy = RetryPolicy()
        policy.methods = ["POST"]
        let operation = try await operation(server, "POST", policy: policy)
        operation.start()
        #expect(try await operation.value as? Data == Data("2".utf8))
        #expect(server.requests.map(\.text) == ["", "abc", "abc"])
    }

    @Test func aStreamThatIsNeededAgainIsAnError() async throws {
        for (method, code) in [
            ("PUT", URLError.Code.requestBodyStreamExhausted), ("POST", .networkConnectionLost),
        ] {
            let server = try server()
            let operation = try await operation(server, method)
            operation.bodySource = .stream(InputStream(data: Data("abc".utf8)), length: 3)
            operation.start()
            let error = await #expect(throws: URLError.self) { try await operation.value }
            #expect(error?.code == code)
            #expect(server.requests.map(\.text) == ["", "abc"])
        }
    }
}
