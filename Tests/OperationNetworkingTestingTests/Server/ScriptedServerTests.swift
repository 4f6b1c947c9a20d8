import Foundation
import Testing

@testable import OperationNetworkingTesting

@Suite(.timeLimit(.minutes(1)))
struct ScriptedServerTests {
    private struct Unwilling: Error {}

    // MARK: - Scripts

    @Test func theLastAnswerIsRepeated() throws {
        let server = try ScriptedServer([.respond(body: "a"), .respond(body: "b")])
        #expect(try (1...4).map { _ in try server.get().body } == ["a", "b", "b", "b"])
    }

    @Test func anExhaustedScriptCanFailInstead() throws {
        let server = try ScriptedServer([.respond(body: "a")], whenExhausted: .fails)
        _ = try server.get()
        let response = try server.get()
        #expect(response.status == 500)
        #expect(response.body == "The script has 1 answers; this is request 2.\n")
    }

    @Test func aHandlerSeesTheRequest() throws {
        let server = try ScriptedServer { request in
            .respond(200, ["X-Number": "\(request.number)"], body: "\(request.path)|\(request.query ?? "")")
        }
        #expect(try server.get("/a/b?c=d").body == "/a/b|c=d")
        #expect(try server.get("/")["X-Number"] == "1")
    }

    @Test func aHandlerThatThrowsIsAnsweredWith500() throws {
        let server = try ScriptedServer { _ in throw Unwilling() }
        #expect(try server.get().status == 500)
        #expect(server.problems.count == 1)
    }

    @Test func everyRouteHasAScriptOfItsOwn() throws {
        let server = try ScriptedServer(routes: [
            "/a": [.respond(body: "1"), .respond(body: "2")],
            "/b": .handler { .respond(body: .text($0.method)) },
        ])
        #expect(try server.get("/a").body == "1")
        #expect(try server.get("/b").body == "GET")
        #expect(try server.get("/a?x=y").body == "2")
        #expect(try server.get("/c").status == 404)
    }

    @Test func urlsPointToTheServer() throws {
        let server = try ScriptedServer([.respond()])
        #expect(server.url.absoluteString == "http://127.0.0.1:\(server.port)/")
        #expect(server.url(path: "a?b").absoluteString == "http://127.0.0.1:\(server.port)/a?b")
        #expect(server.url(path: "/a").absoluteString == "http://127.0.0.1:\(server.port)/a")
    }

    // MARK: - The record

    @Test func requestsAreRecordedAsReceived() throws {
        let server = try ScriptedServer([.respond()])
        let client = try RawClient(port: server.port)
        try client.send("PUT /x?y HTTP/1.1\r\nX-a: 1\r\nx-A:  2 \r\ncontent-length: 5\r\n\r\nhello")
        _ = try client.response()
        let request = try #require(server.requests.first)
        #expect(request.method == "PUT")
        #expect(request.target == "/x?y")
        #expect(request["X-A"] == "1, 2")
        #expect(request.headers.lines.map(\.name) == ["X-a", "x-A", "content-length"])
        #expect(request.text == "hello")
        #expect(request.isComplete)
    }

    @Test func waitingForRequestsEndsWhenTheyArrive() async throws {
        let server = try ScriptedServer([.respond()])
        async let first = server.nextRequest()
        async let both = server.waitForRequests(count: 2)
        _ = try server.get("/1")
        _ = try server.get("/2")
        #expect(try await first.target == "/1")
        #expect(try await both.count == 2)
        #expect(try await server.nextRequest().target == "/2")
    }

    @Test func waitingForRequestsHasALimit() async throws {
        let server = try ScriptedServer([.respond()])
        let error = await #expect(throws: TimeLimitExceeded.self) {
            try await server.waitForRequests(within: .milliseconds(1))
        }
        #expect(error?.explanation == "0 of 1 requests were received.")
        await #expect(throws: TimeLimitExceeded.self) {
            try await server.nextRequest(within: .milliseconds(1))
        }
    }

    @Test func whatIsNotHTTPIsAnsweredWith400() throws {
        let server = try ScriptedServer([.respond()])
        let client = try RawClient(port: server.port)
        try client.send("What?\r\n\r\n")
        #expect(try client.receiveAll().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(server.requests.isEmpty)
        #expect(server.problems == ["Connection 1: \"What?\" is not a request line."])
    }

    // MARK: - Life

    @Test func aStoppedServerRefusesAndKeepsItsRecord() throws {
        let server = try ScriptedServer([.respond()])
        let client = try RawClient(port: server.port)
        try client.get()
        _ = try client.response()
        server.stop()
        server.stop()
        #expect(try client.receiveAll() == "")
        #expect(throws: RawClient.Failure.self) { try RawClient(port: server.port) }
        #expect(server.connectionsOpen == 0)
        #expect(server.requests.count == 1)
    }

    @Test func aForgottenServerStops() throws {
        var server: ScriptedServer? = try ScriptedServer([.respond()])
        let port = try #require(server?.port)
        let client = try RawClient(port: port)
        try client.get()
        _ = try client.response()
        server = nil
        #expect(try client.receiveAll() == "")
        #expect(throws: RawClient.Failure.self) { try RawClient(port: port) }
    }

    @Test func aHandlerMayStopItsServer() throws {
        let holder = Watched<ScriptedServer?>(nil)
        let server = try ScriptedServer { _ in
            holder.withLock { $0 }?.stop()
            return .respond()
        }
        holder.withLock { $0 = server }
        // The server holds its handler, and the handler holds the server.
        defer { holder.withLock { $0 = nil } }
        let client = try RawClient(port: server.port)
        try client.get()
        #expect(try client.receiveAll() == "")
    }

    @Test func connectionsCanBeClosedUnderTheServer() async throws {
        let server = try ScriptedServer([.respond(body: "a")])
        let client = try RawClient(port: server.port)
        try client.get()
        _ = try client.response()
        server.closeConnections()
        #expect(try client.receiveAll() == "")
        try await server.waitForOpenConnections(0)
        #expect(try server.get().body == "a")
    }

    @Test func manyConnectionsAreServedAtOnce() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "0123456789").held(after: 5, by: gate)])
        let clients = try (0..<300).map { _ in try RawClient(port: server.port) }
        for client in clients { try client.get() }
        try await gate.waitForArrivals(300)
        #expect(server.connectionsOpen == 300)
        gate.open()
        for client in clients { #expect(try client.response().body == "0123456789") }
    }
}
