import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RedirectTests {
    private func operation(_ request: URLRequest) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        return operation
    }

    @Test func aRefusedRedirectIsTheResponse() async throws {
        let server = try ScriptedServer([.respond(302, ["Location": "/there"], body: "moved")])
        let operation = operation(URLRequest(url: server.url))
        operation.setRedirect { _, _, _ in nil }
        operation.start()
        await #expect(throws: ResponseSerializationError.self) { try await operation.value }
        #expect(operation.response?.statusCode == 302)
        #expect(operation.responseString == "moved")
        #expect(server.requests.count == 1)
    }

    @Test func aRedirectCanBeRewritten() async throws {
        let server = try ScriptedServer(routes: [
            "/": [.redirect(to: "/there")], "/elsewhere": [.respond(body: "x")],
        ])
        let elsewhere = server.url(path: "/elsewhere")
        let operation = operation(URLRequest(url: server.url))
        operation.setRedirect { _, request, _ in
            var request = request
            request.url = elsewhere
            request.setValue("yes", forHTTPHeaderField: "X-Rewritten")
            return request
        }
        operation.start()
        #expect(try await operation.value as? Data == Data("x".utf8))
        #expect(operation.request.url == server.url)
        #expect(operation.response?.url == elsewhere)
        #expect(server.requests.last?["X-Rewritten"] == "yes")
    }

    @Test func aLoopEnds() async throws {
        let server = try ScriptedServer { _ in .redirect(to: "/again") }
        let operation = operation(URLRequest(url: server.url))
        operation.start()
        await #expect(throws: URLError.self) { try await operation.value }
        #expect((operation.error as? URLError)?.code == .httpTooManyRedirects)
        #expect(server.requests.count == 21)
    }

    @Test func credentialsStayWithTheirOrigin() async throws {
        let other = try ScriptedServer { _ in .respond(body: "x") }
        let server = try ScriptedServer([
            .redirect(to: "/same"), .redirect(to: other.url.absoluteString),
        ])
        var request = URLRequest(url: server.url)
        for name in ["Authorization", "Cookie", "X-Other"] {
            request.setValue("secret", forHTTPHeaderField: name)
        }
        let operation = operation(request)
        operation.start()
        _ = try await operation.value
        #expect(server.requests.allSatisfy { $0["Authorization"] == "secret" && $0["Cookie"] == "secret" })
        let crossed = try #require(other.requests.first)
        #expect(crossed["Authorization"] == nil && crossed["Cookie"] == nil && crossed["X-Other"] == "secret")
    }

    @Test(arguments: [
        (301, "GET", ""), (302, "GET", ""), (303, "GET", ""), (307, "POST", "body"), (308, "POST", "body"),
    ])
    func methodsAndBodiesFollowTheStatus(_ status: Int, _ method: String, _ body: String) async throws {
        let server = try ScriptedServer([.redirect(to: "/there", status: status), .respond(body: "x")])
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        let operation = operation(request)
        operation.start()
        _ = try await operation.value
        let second = try #require(server.requests.last)
        #expect(second.method == method && second.text == body)
    }
}
