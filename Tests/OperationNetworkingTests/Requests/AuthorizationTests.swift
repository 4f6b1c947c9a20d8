import Foundation
import FoundationNetworking
import OperationNetworking
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.enabled(if: RealServers.httpbin != nil), .timeLimit(.minutes(1)))
struct AuthorizationTests {
    @Test("O5-09: the right name and password are accepted")
    func theRightPasswordIsLetIn() async throws {
        let manager = OperationManager(baseURL: RealServers.httpbin)
        var serializer = HTTPRequestSerializer()
        serializer.setAuthorization(username: "us-er", password: "pass word")
        manager.requestSerializer = serializer
        let object = try await manager.get("basic-auth/us-er/pass%20word") as? [String: Any]
        #expect(object?["user"] as? String == "us-er")
    }

    @Test("O5-08: a wrong password fails with a 401")
    func aWrongPasswordIsAFailure() async throws {
        let manager = OperationManager(baseURL: RealServers.httpbin)
        var serializer = JSONRequestSerializer()
        serializer.setAuthorization(username: "user", password: "wrong")
        manager.requestSerializer = serializer
        let error = try await #require(throws: ResponseSerializationError.self) {
            _ = try await manager.get("basic-auth/user/password")
        }
        #expect((error as NSError).code == URLError.Code.badServerResponse.rawValue)
        #expect("\(error)".contains("401"))
    }

    @Test func httpbinReadsJSON() async throws {
        let manager = OperationManager(baseURL: RealServers.httpbin)
        manager.requestSerializer = JSONRequestSerializer()
        let object =
            try await manager.post("post", parameters: ["a": [1, nil] as [Int?], "b": "ü"]) as? [String: Any]
        let echo = try #require(object?["json"] as? [String: Any])
        #expect(echo["b"] as? String == "ü")
        #expect((echo["a"] as? [Any])?.count == 2)
        let headers = try #require(object?["headers"] as? [String: Any])
        #expect(headers["Content-Type"] as? String == "application/json")
    }
}
