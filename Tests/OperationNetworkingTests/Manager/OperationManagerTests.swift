import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct OperationManagerTests {
    struct Join: Sendable {
        let base: String
        let path: String
        let joined: String
    }

    /// The examples of AFNetworking's documentation, and a few more.
    @Test(arguments: [
        Join(base: "http://example.com/v1/", path: "foo", joined: "http://example.com/v1/foo"),
        Join(
            base: "http://example.com/v1/",
            path: "foo?bar=baz",
            joined: "http://example.com/v1/foo?bar=baz"
        ),
        Join(base: "http://example.com/v1/", path: "/foo", joined: "http://example.com/foo"),
        Join(base: "http://example.com/v1/", path: "foo/", joined: "http://example.com/v1/foo/"),
        Join(base: "http://example.com/v1/", path: "/foo/", joined: "http://example.com/foo/"),
        Join(
            base: "http://example.com/v1/",
            path: "http://example2.com/foo/",
            joined: "http://example2.com/foo/"
        ),
        Join(base: "http://example.com/v1", path: "foo", joined: "http://example.com/v1/foo"),
        Join(base: "http://example.com", path: "foo", joined: "http://example.com/foo"),
        Join(base: "http://example.com/v1", path: "", joined: "http://example.com/v1/"),
    ])
    func joins(_ join: Join) throws {
        let manager = OperationManager(baseURL: URL(string: join.base))
        #expect(try manager.url(for: join.path).absoluteString == join.joined)
    }

    @Test(arguments: ["a", "?page=2", "/a?b=c"]) func aQueryOfTheBaseURLIsNotPartOfItsPaths(path: String)
        throws
    {
        let manager = OperationManager(baseURL: URL(string: "http://h/v1/?lang=1"))
        #expect { try manager.url(for: path) } throws: { error in
            (error as? URLError)?.code == .badURL && error.localizedDescription.contains("lang=1")
        }
        do throws(URLError) {
            _ = try manager.url(for: path)
            try manager.cancelAllOperations(method: nil, path: path)
            Issue.record("a path without the query")
        } catch {
            #expect(error.code == .badURL)
        }
        #expect(try manager.url(for: "").absoluteString == "http://h/v1/?lang=1")
        #expect(try manager.url(for: "http://other/a").absoluteString == "http://other/a")
    }

    @Test func aPathWithoutABaseIsAnErrorOnTheCompletionQueue() async throws {
        let manager = OperationManager()
        manager.completionQueue = DispatchQueue(label: "callbacks")
        let failures = Recorder<Bool>()
        let operation = manager.get(
            "users",
            success: nil,
            failure: { operation, error in
                failures.append(operation == nil && (error as? URLError)?.code == .badURL)
            }
        )
        #expect(operation == nil)
        #expect(try await failures.wait() == [true])
        await #expect(throws: URLError.self) { try await manager.get("users") }
    }

    @Test func everyVerbSendsItsParametersWhereTheyBelong() async throws {
        let server = try ScriptedServer { request in
            .respond(
                200,
                ["Content-Type": "application/json"],
                body: .text("[\"\(request.method)\", \"\(request.query ?? "")\", \"\(request.text)\"]")
            )
        }
        let manager = OperationManager(baseURL: server.url)
        manager.completionQueue = DispatchQueue(label: "callbacks")
        let parameters: [String: any Sendable] = ["b": true, "a": [1, 2]]
        let encoded = "a%5B%5D=1&a%5B%5D=2&b=1"
        func strings(_ object: (any Sendable)?) -> [String]? { object as? [String] }

        #expect(strings(try await manager.get("x", parameters: parameters)) == ["GET", encoded, ""])
        #expect(strings(try await manager.delete("x", parameters: parameters)) == ["DELETE", encoded, ""])
        #expect(strings(try await manager.post("x", parameters: parameters)) == ["POST", "", encoded])
        #expect(strings(try await manager.put("x", parameters: parameters)) == ["PUT", "", encoded])
        #expect(strings(try await manager.patch("x", parameters: parameters)) == ["PATCH", "", encoded])
        #expect(try await manager.head("x", parameters: parameters) == nil)
        #expect(server.requests.last?.query == encoded)
        #expect(server.requests.last?.method == "HEAD")
    }

    @Test func headersOfARequestWinAndCallbacksComeOnTheQueue() async throws {
        let server = try ScriptedServer { _ in .respond(200, ["Content-Type": "application/json"], body: "{}")
        }
        let manager = OperationManager(baseURL: server.url)
        let queue = DispatchQueue(label: "callbacks")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        manager.completionQueue = queue
        var serializer = HTTPRequestSerializer()
        try serializer.setValue("manager", forHTTPHeaderField: "X-Who")
        serializer.setAuthorization(username: "user", password: "password")
        manager.requestSerializer = serializer
        let events = Recorder<Bool>()
        manager.get(
            "x",
            headers: ["x-who": "request"],
            success: { _, _ in events.append(DispatchQueue.getSpecific(key: key) == true) },
            failure: nil
        )
        #expect(try await events.wait() == [true])
        #expect(server.requests.first?["X-Who"] == "request")
        #expect(server.requests.first?["Authorization"] == "Basic dXNlcjpwYXNzd29yZA==")
    }

    @Test func anErrorExplainedInJSONIsAvailable() async throws {
        let server = try ScriptedServer([
            .respond(422, ["Content-Type": "application/json"], body: "{\"reason\":\"no\"}")
        ])
        let manager = OperationManager(baseURL: server.url)
        manager.completionQueue = DispatchQueue(label: "callbacks")
        let explained = Recorder<String?>()
        manager.post(
            "x",
            success: nil,
            failure: { operation, _ in
                explained.append((operation?.responseObject as? [String: any Sendable])?["reason"] as? String)
            }
        )
        #expect(try await explained.wait() == ["no"])
    }

    /// Foundation encodes every percent sign of a path in which a character has to be encoded.
    @Test(arguments: [
        ("My%20File[1].zip", "/api/My%20File%5B1%5D.zip"), ("a b", "/api/a%20b"),
        ("/x?q[]=a%2Fb", "/x?q%5B%5D=a%2Fb"),
        ("\u{fc}%C3%BC", "/api/%C3%BC%C3%BC"), ("a%2Fb", "/api/a%2Fb"), ("a:b c", nil),
        ("100%", "/api/100%25"),
    ])
    func escapesInAPathStay(path: String, expected: String?) async throws {
        let server = try ScriptedServer {
            .respond(200, ["Content-Type": "application/json"], body: .text("[\"\($0.target)\"]"))
        }
        let manager = OperationManager(baseURL: server.url(path: "api/"))
        manager.completionQueue = DispatchQueue(label: "callbacks")
        let target = try? await manager.get(path) as? [String]
        #expect(target == expected.map { [$0] })
    }

    @Test(.enabled(if: RealServers.httpbin != nil)) func httpbinEchoesAForm() async throws {
        let manager = OperationManager(baseURL: RealServers.httpbin)
        let echo = try await manager.post(
            "anything",
            parameters: ["name": "Ada Lovelace", "tags": ["x", "y"]]
        )
        let form = (echo as? [String: any Sendable])?["form"] as? [String: any Sendable]
        #expect(form?["name"] as? String == "Ada Lovelace")
        #expect(form?["tags[]"] as? [String] == ["x", "y"])
    }
}
