// The samples stand as the documentation has them:
// swift-format-ignore-file

// MARK: Example

import Foundation
import FoundationNetworking
import OperationNetworking

// MARK: End of example

// The article Getting Started. Compiled, and not called.

// MARK: Example

nonisolated struct User: Codable, Sendable {
    let id: Int
    let name: String
}

// MARK: End of example

nonisolated struct NewUser: Encodable, Sendable {
    let name: String
}

@MainActor
final class GettingStarted {
    func get() async throws {
        // MARK: Example

        let manager = OperationManager(baseURL: URL(string: "https://api.example.com/"))
        let users = try await manager.get("users", as: [User].self)

        // MARK: End of example
        print(users)
    }

    func post(_ manager: OperationManager) async throws {
        // MARK: Example

        let ada = try await manager.post("users", parameters: .encoding(NewUser(name: "Ada")), as: User.self)

        // MARK: End of example
        print(ada)
    }

    func token(_ manager: OperationManager, _ token: String) throws {
        // MARK: Example

        try manager.requestSerializer.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")

        // MARK: End of example
    }

    func page(_ manager: OperationManager) async throws {
        // MARK: Example

        let page = try await manager.response("GET", "users", parameters: ["page": 2], as: [User].self)
        print(page.value.count, page.statusCode, page.value(forHTTPHeaderField: "Link") ?? "the last page")

        // MARK: End of example
    }

    func file(_ manager: OperationManager, _ url: URL, _ file: URL) async throws {
        // MARK: Example

        let download = manager.downloadOperation(for: URLRequest(url: url), to: file)
        manager.operationQueue.addOperation(download)
        let saved = try await download.savedFile

        // MARK: End of example
        print(saved)
    }

    func operation(_ url: URL, _ queue: OperationQueue) async throws {
        // MARK: Example

        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.responseSerializer = JSONResponseSerializer()
        queue.addOperation(operation)
        let object = try await operation.value

        // MARK: End of example
        print(object ?? "nothing")
    }
}
