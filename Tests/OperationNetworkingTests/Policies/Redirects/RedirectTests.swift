import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct RedirectTests {
    private func operation(_ request: URLRequest) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        // Other tests put cookies of this machine into the shared one.
        operation.cookieJar = nil
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

    /// As they came, also when the redirect could have been stored.
    @Test func octetsThatAreNotUTF8AreSentUnchanged() async throws {
        let start = "HTTP/1.1 301 M\r\nContent-Length: 0\r\nCache-Control: max-age=60\r\nLocation: /"
        let redirect = Data(start.utf8) + [0xE4] + Data("x\r\n\r\n".utf8)
        let server = try ScriptedServer { request in
            request.target == "/" ? .raw(.data(redirect)) : .respond(body: "x")
        }
        let cache = ResponseCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
        for _ in 0..<2 {
            let operation = operation(URLRequest(url: server.url))
            operation.cache = cache
            operation.start()
            #expect(try await operation.value as? Data == Data("x".utf8))
        }
        #expect(server.requests.map(\.target) == ["/", "/%E4x", "/", "/%E4x"])
    }

    private final class Follower: OperationObserver {
        let events = Recorder<String>()
        func operation(
            _ operation: ConnectionOperation,
            didFollow redirect: HTTPURLResponse,
            to request: URLRequest
        ) {
            events.append("follow \(request.url?.path ?? "")")
        }
        func operationDidPause(_ operation: ConnectionOperation) { events.append("pause") }
        func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
            events.append("finish")
        }
    }

    /// Whatever the redirect closures did before has reached the network thread, and been reported.
    private func redirectsAreDecided(_ operation: HTTPRequestOperation) async throws {
        await processingIsDone()
        try await networkThreadIsDone()
        operation.completionQueue?.sync {}
    }

    @Test func aRedirectIsAnnouncedWhenItIsFollowed() async throws {
        let server = try ScriptedServer([.redirect(to: "/there"), .respond(body: "x")])
        let operation = operation(URLRequest(url: server.url))
        let follower = Follower()
        operation.addObserver(follower)
        operation.start()
        _ = try await operation.value
        #expect(try await follower.events.wait(count: 2) == ["follow /there", "finish"])
    }

    @Test func aRedirectThatAPauseOvertakesIsNotAnnounced() async throws {
        let server = try ScriptedServer([
            .redirect(to: "/old"), .redirect(to: "/new"), .respond(body: "x"),
        ])
        let operation = operation(URLRequest(url: server.url))
        let follower = Follower()
        operation.addObserver(follower)
        let decided = Gate()
        operation.setRedirect { operation, request, _ in
            if request.url?.path == "/old" { operation.pause() }
            decided.open()
            return request
        }
        operation.start()
        try await decided.wait()
        try await redirectsAreDecided(operation)
        operation.resume()
        _ = try await operation.value
        #expect(try await follower.events.wait(count: 3) == ["pause", "follow /new", "finish"])
    }

    @Test func aRedirectIsNotAnnouncedAfterTheEnd() async throws {
        let server = try ScriptedServer([.redirect(to: "/there"), .respond(body: "x")])
        let operation = operation(URLRequest(url: server.url))
        let follower = Follower()
        operation.addObserver(follower)
        let ended = Gate()
        operation.setRedirect { operation, request, _ in
            operation.cancel()
            operation.waitUntilFinished()
            ended.open()
            return request
        }
        // Nothing is reported before the closure has answered.
        operation.completionQueue?.suspend()
        operation.start()
        try await ended.wait()
        await processingIsDone()
        operation.completionQueue?.resume()
        try await redirectsAreDecided(operation)
        #expect(follower.events.elements == ["finish"])
    }

    @Test func aRedirectThatCannotBeFollowedIsNotAnnounced() async throws {
        let server = try ScriptedServer([.redirect(to: "/there"), .respond(body: "x")])
        let operation = operation(URLRequest(url: server.url))
        let follower = Follower()
        operation.addObserver(follower)
        operation.setRedirect { _, request, _ in
            var request = request
            request.url = URL(string: "ftp://example.org/")
            return request
        }
        operation.start()
        _ = try? await operation.value
        try await redirectsAreDecided(operation)
        #expect((operation.error as? URLError)?.code == .unsupportedURL)
        #expect(follower.events.elements == ["finish"])
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
        let server = try ScriptedServer([.redirect(to: "/there", statusCode: status), .respond(body: "x")])
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
