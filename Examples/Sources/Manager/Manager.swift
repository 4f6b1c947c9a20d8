import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking

/// Manager: asks an API on port 8080 of this machine, with callbacks and with `await`. (`http_proxy` sends it elsewhere.)
@main
enum Manager {
    static func main() async throws {
        let callbacks = DispatchQueue(label: "callbacks")

        // The example.
        let manager = OperationManager(baseURL: URL(string: "http://127.0.0.1:8080/api/"))
        manager.completionQueue = callbacks
        manager.get("users", parameters: ["page": 2], success: { operation, object in }, failure: { operation, error in })
        let users = try await manager.get("users", parameters: ["page": 2])
        // Its end.

        print(users ?? "nothing")
    }
}
