// The samples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// The article Uploading. Compiled, and not called.

@MainActor
final class Uploading {
    var title = ""
    let manager = OperationManager()

    func value() async throws {
        // MARK: Example

        let user = try await manager.post("users", parameters: .encoding(NewUser(name: "Ada")), as: User.self)

        // MARK: End of example
        print(user)
        // MARK: Example

        manager.requestSerializer = JSONRequestSerializer()

        // MARK: End of example
    }

    func file(_ video: URL) async throws {
        // MARK: Example

        try await manager.upload(.file(video), to: "videos/1", method: "PUT")

        // MARK: End of example
    }

    func progress(_ video: URL) async throws {
        // MARK: Example

        try await manager.upload(.file(video), to: "videos/1", progress: { progress in
            self.title = "\(progress.completedUnitCount) of \(progress.totalUnitCount)"
        })

        // MARK: End of example
    }

    func updates(_ request: URLRequest) async {
        // MARK: Example

        let operation = manager.operation(for: request)
        let updates = operation.uploadUpdates
        manager.operationQueue.addOperation(operation)
        for await progress in updates { title = "\(progress.bytes) of \(progress.expected ?? -1)" }

        // MARK: End of example
    }

    func once() async throws {
        // MARK: Example

        var policy = RetryPolicy(maximumRetries: 2)
        policy.methods.insert("POST")
        manager.retryPolicy = policy
        try await manager.post("orders", parameters: ["item": 7], headers: ["Idempotency-Key": UUID().uuidString])

        // MARK: End of example
    }
}
