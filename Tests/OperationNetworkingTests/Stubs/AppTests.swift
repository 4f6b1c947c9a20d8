// The sample stands as README has it:
// swift-format-ignore-file

import Foundation
import OperationNetworking
import Testing

@testable import OperationNetworkingTestSupport

/// The sample of README: a test as an app has it.
struct AppTests {
    // MARK: Example

    @Test func aUserIsFetchedOnce() async throws {
        let stubs = RequestStubs([RequestStub("GET", "https://api.example.com/users/1", .json(["name": "Ann"]))])
        let manager = OperationManager(baseURL: URL(string: "https://api.example.com/"))
        manager.stubs = stubs
        let user = try await manager.get("users/1", as: [String: String].self)
        #expect(user["name"] == "Ann" && stubs.requests.count == 1)
    }

    // MARK: End of example
}
