import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct TotalTimeTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    private func operation(_ url: URL, totalTimeout: TimeInterval?) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.completionQueue = callbacks
        operation.timeouts.total = totalTimeout
        return operation
    }

    private func error(of operation: HTTPRequestOperation) async -> URLError? {
        do {
            _ = try await operation.value
            return nil
        } catch {
            return error as? URLError
        }
    }

    /// A byte now and then is enough for `timeoutInterval`. The whole body takes 50 seconds, and its first byte a
    /// moment.
    @Test func aTricklingBodyTimesOutAndIsNotRetried() async throws {
        let server = try ScriptedServer([
            .respond(body: .generated(seed: 1, length: 10_000)).throttled(to: 200)
        ])
        let operation = operation(server.url, totalTimeout: 4)
        operation.retryPolicy = RetryPolicy(maximumRetries: 3)
        operation.start()
        let error = await error(of: operation)
        #expect(error?.code == .timedOut)
        #expect(error?.localizedDescription.contains("within 4 seconds: see timeouts.total") == true)
        #expect(server.requests.count == 1)
        #expect(operation.responseData?.isEmpty == false)
    }

    @Test func redirectsAndRetriesAndTheirWaitsAreCountedTogether() async throws {
        let server = try ScriptedServer(routes: [
            "/start": [.respond(302, ["Location": "/busy"])],
            "/busy": [.respond(503, ["Retry-After": "500"])],
        ])
        // Long for two requests, and short for the wait.
        let operation = operation(server.url(path: "/start"), totalTimeout: 4)
        operation.retryPolicy = RetryPolicy(maximumRetries: 20)
        operation.start()
        #expect(await error(of: operation)?.code == .timedOut)
        #expect(server.requests.count == 2)
    }

    @Test func theWaitForAConnectionIsCounted() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "hello").held(by: gate)])
        let manager = OperationManager()
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = callbacks
        manager.maximumConnectionsPerHost = 1
        let first = manager.operation(for: URLRequest(url: server.url))
        first.start()
        try await server.waitForRequests()
        manager.timeouts.total = 0.2
        let second = manager.operation(for: URLRequest(url: server.url))
        second.start()
        #expect(await error(of: second)?.code == .timedOut)
        gate.open()
        #expect(await error(of: first) == nil)
        #expect(server.requests.count == 1)
    }

    @Test func enoughTimeChangesNothing() async throws {
        let server = try ScriptedServer([.respond(body: "hello")])
        for timeout in [nil, 20, TimeInterval.infinity] {
            let operation = operation(server.url, totalTimeout: timeout)
            operation.start()
            #expect(await error(of: operation) == nil)
        }
    }

    @Test func managersCopiesAndArchivesKeepIt() throws {
        let manager = OperationManager()
        #expect(manager.timeouts.total == nil)
        manager.timeouts.total = 12
        manager.maximumConnectionsPerHost = 3
        let url = try #require(URL(string: "http://127.0.0.1/"))
        let operation = manager.operation(for: URLRequest(url: url))
        #expect(operation.timeouts.total == 12)
        #expect((operation.copy() as? HTTPRequestOperation)?.timeouts.total == 12)
        let archive = try #require(operation.archive)
        let data = try JSONEncoder().encode(archive)
        let later = HTTPRequestOperation(archive: try JSONDecoder().decode(OperationArchive.self, from: data))
        #expect(later.timeouts.total == 12)
        let kept = try JSONDecoder().decode(
            OperationManagerArchive.self,
            from: try JSONEncoder().encode(try manager.archive)
        )
        #expect(OperationManager(archive: kept).timeouts.total == 12)
        #expect(OperationManager(archive: kept).maximumConnectionsPerHost == 3)
    }

    @Test func bodiesInMemoryHaveALimitUnlessItIsTakenAway() throws {
        let url = try #require(URL(string: "http://127.0.0.1/"))
        #expect(HTTPRequestOperation(request: URLRequest(url: url)).maximumResponseDataLength == 256 << 20)
    }

    /// By what it announces: nothing of it is sent.
    @Test func aBodyThatIsTooLongForMemoryIsAnError() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Length": "268435457"], body: "hello").stalling(after: 5)
        ])
        let operation = operation(server.url, totalTimeout: nil)
        operation.start()
        let error = await error(of: operation)
        #expect(error?.code == .dataLengthExceedsMaximum)
        #expect(error?.localizedDescription.contains("maximumResponseDataLength") == true)
        server.release()
    }
}
