import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The start of an operation that only notifications report: it waits for what comes next, but not for long.
@Suite(.timeLimit(.minutes(1)))
struct StartNotificationTests {
    private final class NotificationRecorder: @unchecked Sendable {
        // @unchecked: Foundation's tokens are only handed back.
        let events = Recorder<String>()
        private let tokens: [any NSObjectProtocol]

        init(_ operation: ConnectionOperation) {
            let events = events
            tokens = [Notification.Name.operationDidStart, .operationDidFinish].map { name in
                NotificationCenter.default.addObserver(forName: name, object: operation, queue: nil) {
                    events.append($0.name == .operationDidStart ? "start" : "finish")
                }
            }
        }

        deinit {
            for token in tokens { NotificationCenter.default.removeObserver(token) }
        }
    }

    private func operation(_ url: URL) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.completionQueue = DispatchQueue(label: "completion")
        return operation
    }

    @Test func itIsReportedBeforeTheServerResponds() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "hello").held(by: gate)])
        let operation = operation(server.url)
        let recorder = NotificationRecorder(operation)
        operation.start()
        #expect(try await recorder.events.wait() == ["start"])
        gate.open()
        _ = try await operation.value
        #expect(try await recorder.events.wait(count: 2) == ["start", "finish"])
    }

    @Test func itIsReportedWhileItWaitsForAConnection() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let manager = OperationManager()
        manager.maximumConnectionsPerHost = 1
        let operations = (0..<2).map { _ in manager.operation(for: URLRequest(url: server.url)) }
        for operation in operations { operation.completionQueue = DispatchQueue(label: "completion") }
        let recorders = operations.map { NotificationRecorder($0) }
        for operation in operations { operation.start() }
        for recorder in recorders { #expect(try await recorder.events.wait() == ["start"]) }
        gate.open()
        for recorder in recorders {
            #expect(try await recorder.events.wait(count: 2) == ["start", "finish"])
        }
    }

    /// The first transfer is over at once, and the operation is not.
    @Test func itIsReportedWhileARetryWaits() async throws {
        let server = try ScriptedServer { _ in .respond(503) }
        let operation = operation(server.url)
        var policy = RetryPolicy(maximumRetries: 1)
        policy.initialDelay = 600
        policy.maximumDelay = 600
        operation.retryPolicy = policy
        let recorder = NotificationRecorder(operation)
        operation.start()
        #expect(try await recorder.events.wait() == ["start"])
        #expect(!operation.isFinished)
        operation.cancel()
        #expect(try await recorder.events.wait(count: 2) == ["start", "finish"])
    }

    @Test func itComesBeforeTheEndOfARequestThatIsOverAtOnce() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        for _ in 0..<20 {
            let operation = operation(server.url)
            let recorder = NotificationRecorder(operation)
            operation.start()
            #expect(try await recorder.events.wait(count: 2) == ["start", "finish"])
        }
    }

    @Test func itComesBeforeAPause() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let operation = operation(server.url)
        let recorder = NotificationRecorder(operation)
        operation.start()
        operation.pause()
        #expect(try await recorder.events.wait(count: 2) == ["start", "finish"])
        operation.resume()
        #expect(try await recorder.events.wait(count: 3).last == "start")
        gate.open()
        _ = try await operation.value
        #expect(try await recorder.events.wait(count: 4).last == "finish")
    }

    @Test func anObserverIsNotifiedAtOnce() async throws {
        final class Observer: OperationObserver {
            let started = Gate()

            func operationDidStart(_ operation: ConnectionOperation) { started.open() }
        }
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let operation = operation(server.url)
        let observer = Observer()
        operation.addObserver(observer)
        operation.start()
        try await observer.started.wait()
        gate.open()
        _ = try await operation.value
    }
}
