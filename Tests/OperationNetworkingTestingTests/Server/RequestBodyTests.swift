import Foundation
import OperationNetworkingTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RequestBodyTests {
    private let expecting = "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"

    @Test func aChunkedBodyIsDecoded() throws {
        let server = try ScriptedServer([.respond()])
        let client = try RawClient(port: server.port)
        try client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        try client.send("3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n")
        _ = try client.response()
        #expect(server.requests.first?.text == "abc0123456789")
        #expect(server.requests.first?.trailers["x-sum"] == "1")
    }

    @Test func aClientThatExpectsToContinueReceives100() throws {
        let server = try ScriptedServer([.respond()])
        let client = try RawClient(port: server.port)
        try client.send(expecting)
        #expect(try client.receive(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        try client.send("hello")
        #expect(try client.response().status == 200)
        #expect(server.requests.first?.text == "hello")
    }

    @Test func aServerMayNeverSayContinue() throws {
        let server = try ScriptedServer([.respond()], requestBodies: .readWithoutContinue)
        let client = try RawClient(port: server.port)
        try client.send(expecting + "hello")
        #expect(try client.response().status == 200)
    }

    @Test func aServerMayAnswerWithoutReadingTheBody() throws {
        let server = try ScriptedServer([.respond(417, body: "no")], requestBodies: .leave)
        let client = try RawClient(port: server.port)
        try client.send(expecting)
        let response = try client.response()
        #expect(response.status == 417)
        #expect(response["Connection"] == "close")
        client.finishSending()
        #expect(try client.receiveAll() == "")
        #expect(server.requests.first?.isComplete == false)
    }

    @Test func aClientThatWaitedAndWasRefusedMayRequestSomethingElse() throws {
        let refusal = "HTTP/1.1 417 No\r\nContent-Length: 2\r\n\r\nno"
        let server = try ScriptedServer(
            [.raw(.text(refusal), keepingOpen: true), .respond(204)],
            requestBodies: .leave
        )
        let client = try RawClient(port: server.port)
        try client.send(expecting)
        #expect(try client.response().status == 417)
        try client.send("GET /second HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.response().status == 204)
        #expect(server.requests.map(\.path) == ["/", "/second"])
    }

    @Test func aServerMayHoldTheBodyHalfWay() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond()], requestBodies: .hold(after: 3, by: gate))
        let client = try RawClient(port: server.port)
        try client.send("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhel")
        try await gate.waitForArrivals()
        #expect(server.requests.isEmpty)
        gate.open()
        try client.send("lo")
        #expect(try client.response().status == 200)
        #expect(server.requests.first?.text == "hello")
    }

    @Test func aServerMayResetTheConnectionInTheMiddleOfTheBody() async throws {
        let server = try ScriptedServer([.respond()], requestBodies: .reset(after: 3))
        let client = try RawClient(port: server.port)
        try client.send("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhel")
        #expect(throws: RawClient.Failure.self) { try client.receiveAll() }
        #expect(server.requests.first?.text == "hel")
    }

    @Test func aClientThatLeavesInTheMiddleOfItsBodyIsRecorded() async throws {
        let server = try ScriptedServer([.respond()])
        let client = try RawClient(port: server.port)
        try client.send("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhel")
        client.finishSending()
        let request = try await server.nextRequest()
        #expect(request.text == "hel")
        #expect(!request.isComplete)
    }
}
