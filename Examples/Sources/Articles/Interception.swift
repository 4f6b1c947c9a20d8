// The examples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import Logging
import OperationNetworking

/// Stands for what makes signatures.
struct Signer: Sendable {
    nonisolated func signature(of request: URLRequest) async throws -> String { request.httpMethod ?? "" }
}

// MARK: Example

nonisolated struct TimedSerializer: TransferResponseSerializer {
    func responseObject(for transfer: ReceivedTransfer) throws -> (any Sendable)? {
        print(transfer.request?.url ?? "", transfer.metrics?.transferTime ?? 0)
        return transfer.data
    }
}

// MARK: End of example

// MARK: Example

nonisolated struct TraceAdapter: RequestAdapter {
    func adapt(_ request: URLRequest, in context: RequestContext) async throws -> URLRequest {
        guard let trace = context.userInfo["trace"] as? String else { return request }
        var request = request
        request.setValue(trace, forHTTPHeaderField: "traceparent")
        return request
    }
}

// MARK: End of example

// MARK: Example

nonisolated final class Stopwatch: OperationObserver {
    func operation(_ operation: ConnectionOperation, willRetry retry: Retry) {
        print("again in \(retry.delay) seconds")
    }

    func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
        for transfer in operation.metricsOfEachTransfer { print(transfer.url as Any, transfer.transferTime) }
    }
}

// MARK: End of example

/// Stands for the one of swift-distributed-tracing.
nonisolated protocol Span: Sendable {
    func addEvent(_ name: String)
    func recordError(_ error: any Error)
    func end()
}

nonisolated struct PrintedSpan: Span {
    func addEvent(_ name: String) { print(name) }
    func recordError(_ error: any Error) { print(error) }
    func end() {}
}

nonisolated func startSpan(_ name: String) -> any Span { PrintedSpan() }

// MARK: Example

nonisolated final class SpanObserver: OperationObserver {
    private let span: any Span

    init(_ span: any Span) { self.span = span }

    func operation(_ operation: ConnectionOperation, willRetry retry: Retry) { span.addEvent("waiting") }

    func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
        if let error = operation.error { span.recordError(error) }
        span.end()
    }
}

// MARK: End of example

func spans(_ manager: OperationManager) async throws {
    // MARK: Example

    let users = try await manager.get("users", configure: { operation in
        operation.addObserver(SpanObserver(startSpan("GET users")))
    })

    // MARK: End of example
    print(users ?? "none")
}

func tracing(_ manager: OperationManager, trace: String) async throws {
    // MARK: Example

    manager.requestAdapters.append(TraceAdapter())
    let users = try await manager.get("users", configure: { operation in operation.userInfo = ["trace": trace] })

    // MARK: End of example
    print(users ?? "none")
}

func observing(_ manager: OperationManager, _ operation: HTTPRequestOperation) async throws {
    let stopwatch = Stopwatch()
    // MARK: Example

    let observation = operation.addObserver(stopwatch)
    manager.operationQueue.addOperation(operation)
    let object = try await operation.value
    observation.end()                               // or leave it: it ends with the operation

    // MARK: End of example
    print(object ?? "none")
    _ = try await manager.get("users", configure: { $0.addObserver(stopwatch) })
}

func observingAll(_ manager: OperationManager) async throws {
    let stopwatch = Stopwatch()
    // MARK: Example

    manager.addObserver(stopwatch)
    let users = try await manager.get("users")      // observed, as all that follow

    // MARK: End of example
    print(users ?? "none")
}

func logging(_ manager: OperationManager) async throws {
    // MARK: Example

    manager.logger = Logger(label: "http")
    let users = try await manager.get("users")

    // MARK: End of example
    print(users ?? "none")
}

func interception(_ manager: OperationManager, signer: Signer) {
    // MARK: Example

    manager.requestAdapters = [
        ClosureRequestAdapter { request, _ in
            var request = request
            request.setValue(try await signer.signature(of: request), forHTTPHeaderField: "X-Signature")
            return request
        }
    ]

    // MARK: End of example
}
