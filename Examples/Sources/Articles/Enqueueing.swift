// The samples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// The article Enqueueing. Compiled, and not called.

@MainActor
final class Enqueueing {
    let manager = OperationManager()
    let queue = TransferQueue()

    func value(_ url: URL) async throws {
        // MARK: Example

        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        queue.addOperation(operation)
        let data = try await operation.value(as: Data.self)

        // MARK: End of example
        print(data)
    }

    func limited() -> OperationQueue {
        // MARK: Example

        let queue = TransferQueue()
        queue.maxConcurrentOperationCount = 4

        // MARK: End of example
        return queue
    }

    func dependency(_ login: URLRequest, _ list: URLRequest) {
        // MARK: Example

        let first = HTTPRequestOperation(request: login)
        let second = HTTPRequestOperation(request: list)
        second.addDependency(first)
        second.queuePriority = .high
        queue.addOperation(first)
        queue.addOperation(second)

        // MARK: End of example
        // MARK: Example

        let report = BlockOperation { print(second.error ?? second.responseObject ?? "nothing") }
        report.addDependency(second)
        queue.addOperation(report)

        // MARK: End of example
    }

    func settings() async throws {
        // MARK: Example

        let object = try await manager.get(
            "users",
            configure: { operation in
                operation.queuePriority = .veryHigh
                operation.timeouts.total = 10
            })

        // MARK: End of example
        print(object ?? "nothing")
    }

    func cancelling(_ operation: HTTPRequestOperation) throws {
        // MARK: Example

        let task = Task { try await manager.get("users", as: [User].self) }
        task.cancel()                                   // its operation is cancelled, too
        operation.cancel()
        queue.cancelAllOperations()
        try manager.cancelAllOperations(method: "GET", path: "users")

        // MARK: End of example
    }
}
