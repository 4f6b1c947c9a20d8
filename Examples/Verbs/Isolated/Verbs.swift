import Foundation
import FoundationNetworking
import OperationNetworking

// The forms of the verbs, compiled in three modes and not run: with the main actor as default isolation, without,
// and in Swift 5 mode.

nonisolated struct User: Codable, Sendable {
    var name: String
}

@MainActor
final class Screen {
    var title = ""
    let manager = OperationManager()
    let session = HTTPSessionManager()

    func callBacks(file: URL) {
        let parameters: [String: Any] = ["page": 2]
        manager.get(
            "users",
            parameters: parameters,
            headers: ["X-A": "b"],
            configure: { operation in operation.outputFile = file },
            progress: { progress in self.title = "\(progress.fractionCompleted)" },
            success: { operation, object in self.title = "\(operation) \(object ?? "nothing")" },
            failure: { operation, error in self.title = "\(error)" }
        )
        manager.get("users", as: [User].self, success: { operation, users in self.title = users[0].name })
        manager.post("users", parameters: .encoding(User(name: "Ada")), success: { operation, object in })
        manager.delete("users/1", success: nil)
        session.get(
            "users",
            parameters: ["a": 1],
            headers: [:],
            progress: nil,
            success: { task, object in self.title = "\(task.taskIdentifier)" },
            failure: { task, error in }
        )
        session.post(
            "photos",
            parameters: .form(["title": "x"]) { form in try form.appendPart(withFileURL: file, name: "photo") },
            as: User.self,
            configure: { task in task.taskDescription = "photo" },
            success: { task, user in self.title = user.name }
        )
    }

    func awaits(file: URL, user: User, isDetailed: Bool) async throws {
        let parameters: [String: Any] = ["page": 2]
        let nothing: [String: Any]? = nil
        let object = try await manager.get("users", parameters: ["page": 2, "sort": "name", "tags": ["a", "b"]])
        let users = try await manager.get("users", parameters: parameters, as: [User].self)
        let made = try await manager.post("users", parameters: .encoding(user), as: User.self)
        try await manager.put("users", parameters: [1, "two", 3.5])
        try await manager.patch("users", parameters: isDetailed ? parameters : nothing)
        try await manager.post("photos", parameters: .form(["title": "x"]) { form in
            try form.appendPart(withFileURL: file, name: "photo")
        })
        try await manager.put("photos/1", parameters: .body(.file(file)), progress: { progress in
            self.title = "\(progress.completedUnitCount)"
        })
        try await manager.upload(.file(file), to: "photos/1", method: "PUT")
        let page = try await manager.response("GET", "users", parameters: ["page": 2], as: [User].self)
        let text = try await session.response("GET", "robots.txt", with: StringResponseSerializer()).value
        try await session.head("users")
        let deleted = try await session.delete("users/1", as: User?.self)
        print(object ?? "nothing", users, made, page.value, page.statusCode, page.metrics, text, deleted as Any)
    }
}
