// The samples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// The landing page of the documentation.

@MainActor
final class Home {
    func show() async throws {
        // MARK: Example

        let manager = OperationManager(baseURL: URL(string: "https://api.example.com/"))
        let users = try await manager.get("users", as: [User].self)

        // MARK: End of example
        print(users)
    }
}
