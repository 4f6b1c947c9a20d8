// The samples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking
import Testing

@testable import OperationNetworkingTestSupport

/// The samples of the article Testing Your Code: tests as an app has them.
struct ArticleTests {
    private struct User: Decodable, Sendable {
        let id: Int
        let name: String
    }

    // MARK: Example

    @Test func aUserIsFetched() async throws {
        let manager = OperationManager(baseURL: URL(string: "https://api.example.com/"))
        manager.stubs = RequestStubs([RequestStub("GET", "/users/1", .json(["id": 1, "name": "Ann"]))])
        let user = try await manager.get("users/1", as: User.self)
        #expect(user.name == "Ann")
    }

    // MARK: End of example

    // MARK: Example

    @Test func aUserIsSentAsJSON() async throws {
        let stubs = RequestStubs([RequestStub("POST", "/users", .json(["id": 7], statusCode: 201))])
        let manager = OperationManager(baseURL: URL(string: "https://api.example.com/"))
        manager.requestSerializer = JSONRequestSerializer()
        manager.stubs = stubs
        try await manager.post("users", parameters: ["name": "Ann"])
        let request = try #require(stubs.requests.first)
        #expect(request.httpBody == Data(#"{"name":"Ann"}"#.utf8))
    }

    // MARK: End of example

    // MARK: Example

    @Test func aRequestToABusyServerIsRetried() async throws {
        let stubs = RequestStubs([RequestStub("GET", "/users", .response(503), .json(["Ann"]))])
        let manager = OperationManager(baseURL: URL(string: "https://api.example.com/"))
        manager.stubs = stubs
        manager.retryPolicy = RetryPolicy(maximumRetries: 1)
        #expect(try await manager.get("users", as: [String].self) == ["Ann"])
        #expect(stubs.requests.count == 2)
    }

    // MARK: End of example

    // MARK: Example

    @Test func aMissingNetworkIsReported() async {
        let manager = OperationManager(baseURL: URL(string: "https://api.example.com/"))
        manager.stubs = RequestStubs([RequestStub("GET", "/users", .failure(URLError(.notConnectedToInternet)))])
        await #expect { try await manager.get("users") } throws: { RequestFailure($0).isOffline }
    }

    // MARK: End of example

    // MARK: Example

    @Test func aDownloadContinues() async throws {
        let body = Data("0123456789".utf8)
        let stubs = RequestStubs([
            RequestStub(
                "GET", "/big.iso",
                .content(body, entityTag: "\"v1\"").breaking(after: 4),
                .content(body, entityTag: "\"v1\"")),
        ])
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let url = try #require(URL(string: "https://example.com/big.iso"))
        let manager = OperationManager()
        manager.stubs = stubs
        let download = manager.downloadOperation(for: URLRequest(url: url), to: file)
        manager.operationQueue.addOperation(download)
        #expect(try Data(contentsOf: try await download.savedFile) == body)
        #expect(stubs.requests.last?.value(forHTTPHeaderField: "Range") == "bytes=4-")
        try FileManager.default.removeItem(at: file)
    }

    // MARK: End of example
}
