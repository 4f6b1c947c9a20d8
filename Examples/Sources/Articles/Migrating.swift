// The samples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// The article Migrating. Compiled, and not called.

@MainActor
final class Migrating {
    var title = ""
    let manager = OperationManager()

    func show(_ object: Any?) { title = "\(object ?? "nothing")" }

    func get(_ url: URL) async throws {
        // MARK: Example

        let manager = OperationManager(baseURL: url)
        let users = try await manager.get("users", parameters: ["page": 2])

        // MARK: End of example
        show(users)
    }

    func closures() {
        // MARK: Example

        manager.get(
            "users", parameters: ["page": 2],
            success: { operation, object in self.show(object) },
            failure: { operation, error in self.show(error) })

        // MARK: End of example
    }

    func late(_ file: URL) {
        // MARK: Example

        let operation = manager.get(
            "big.iso",
            configure: { operation in operation.outputFile = file },
            success: { operation, _ in self.title = "saved" },
            failure: { operation, error in self.title = "\(RequestFailure(error).statusCode ?? 0)" })

        // MARK: End of example
        operation?.cancel()
    }

    func session(_ url: URL) async throws {
        // MARK: Example

        let session = HTTPSessionManager(baseURL: url)
        let users = try await session.get("users", parameters: ["page": 2])

        // MARK: End of example
        show(users)
    }
}
