import Foundation
import OperationNetworkingTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct InterruptionTests {
    private let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"

    // MARK: - Breaking

    @Test(arguments: [
        (
            Answer.respond(body: "0123456789", breakingAfter: 4),
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123"
        ),
        (.respond(body: "0123456789", breakingAfter: 0), "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"),
        (.respond(body: "0123456789").breaking(after: .wire(12)), "HTTP/1.1 200"),
        (.respond(body: "0123456789").breaking(after: .wire(22)), "HTTP/1.1 200 OK\r\nConte"),
        (.hangUp, ""),
        (
            .respond(body: "0123456789").chunked(size: 4).breaking(after: 6),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n4\r\n45"
        ),
        (.raw("HTTP/1.1 200 OK\r\n\r\n0123").breaking(after: 2), "HTTP/1.1 200 OK\r\n\r\n01"),
    ])
    func aBrokenAnswerEndsAtTheByte(answer: Answer, wire: String) throws {
        let server = try ScriptedServer([answer])
        let client = try RawClient(port: server.port)
        try client.get()
        #expect(try client.receiveAll() == wire)
    }

    @Test func whatWasSentOfTheBodiesIsCounted() async throws {
        let server = try ScriptedServer([
            .respond(body: "0123456789", breakingAfter: 4), .respond(body: "ab"),
        ])
        for _ in 1...2 {
            let client = try RawClient(port: server.port)
            try client.get("/", "Connection: close\r\n")
            _ = try client.receiveAll()
        }
        try await server.waitForAnswers(count: 2)
        #expect(server.bodyBytesSent == 6)
    }

    @Test func bytesSentCanBeWaitedFor() async throws {
        let server = try ScriptedServer([.respond(body: "0123456789").stalling(after: 4)])
        let client = try RawClient(port: server.port)
        try client.get()
        try await server.waitForBodyBytes(count: 4)
        #expect(try client.receive(head.utf8.count + 4) == head + "0123")
        await #expect(throws: TimeLimitExceeded.self) {
            try await server.waitForBodyBytes(count: 5, within: .milliseconds(1))
        }
        server.release()
        try await server.waitForBodyBytes(count: 10)
    }

    /// A client that does not read takes no more than its own kernel does.
    @Test func whatTheKernelDidNotSendIsNotCounted() async throws {
        let length = 64 << 20
        let server = try ScriptedServer([.respond(body: .generated(length: length)).throttled(to: 1 << 30)])
        var client: RawClient? = try RawClient(port: server.port)
        try client?.get()
        try await server.waitForBodyBytes(count: 1 << 16)
        client = nil  // closed with unread bytes
        try await server.waitForAnswers()
        // As much as a receiving kernel keeps, at the most; not what was given to the sending one.
        #expect(server.bodyBytesSent < 8 << 20)
    }

    @Test(arguments: [Answer.respond(body: "0123456789").resetting(after: 4), .reset])
    func aResetAnswerIsAResetConnection(answer: Answer) throws {
        let server = try ScriptedServer([answer])
        let client = try RawClient(port: server.port)
        try client.get()
        #expect(throws: RawClient.Failure.self) { try client.receiveAll() }
    }

    // MARK: - Waiting

    @Test func aHeldAnswerContinuesWhenItsGateIsOpened() async throws {
        let (first, second) = (Gate(), Gate())
        let answer = Answer.respond(body: "0123456789").held(after: 4, by: first).held(after: 7, by: second)
        let server = try ScriptedServer([answer])
        let client = try RawClient(port: server.port)
        try client.get()
        try await first.waitForArrivals()
        #expect(try client.receive(head.utf8.count + 4) == head + "0123")
        first.open()
        try await second.waitForArrivals()
        #expect(try client.receive(3) == "456")
        #expect(server.bodyBytesSent == 7)
        second.open()
        #expect(try client.receive(3) == "789")
    }

    @Test func aGateHoldsTheHeadOfAnAnswerToo() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "0123456789").held(after: .wire(8), by: gate)])
        let client = try RawClient(port: server.port)
        try client.get()
        try await gate.waitForArrivals()
        #expect(try client.receive(8) == "HTTP/1.1")
        gate.open()
        #expect(try client.receive(4) == " 200")
    }

    @Test func aStalledAnswerContinuesWhenTheServerReleasesIt() async throws {
        let server = try ScriptedServer([.respond(body: "0123456789").stalling(after: 4).stalling(after: 6)])
        let client = try RawClient(port: server.port)
        try client.get()
        try await server.waitForStalls()
        #expect(try client.receive(head.utf8.count + 4) == head + "0123")
        server.release()
        try await server.waitForStalls(count: 2)
        #expect(try client.receive(2) == "45")
        server.release()
        #expect(try client.receive(4) == "6789")
    }

    @Test func aStalledAnswerEndsWhenTheClientLeaves() async throws {
        let server = try ScriptedServer([.silence])
        var client: RawClient? = try RawClient(port: server.port)
        try client?.get()
        try await server.waitForStalls()
        #expect(server.connectionsOpen == 1)
        client = nil
        try await server.waitForOpenConnections(0)
        #expect(server.answersEnded == 1)
    }

    @Test func aStalledAnswerEndsWhenTheServerIsStopped() async throws {
        let server = try ScriptedServer([.respond(body: "0123456789").stalling(after: 4)])
        let client = try RawClient(port: server.port)
        try client.get()
        try await server.waitForStalls()
        server.stop()
        #expect(try client.receiveAll() == head + "0123")
    }

    @Test func aScriptCanActInTheMiddleOfAnAnswer() throws {
        let moment = Recorder<String>()
        let server = try ScriptedServer([
            .respond(body: "0123456789").performing(after: 4) { moment.append("now") }
        ])
        #expect(try server.get().body == "0123456789")
        #expect(moment.elements == ["now"])
    }

    @Test func aClientThatLeavesInTheMiddleDoesNotKillTheProcess() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 50 << 20))])
        var client: RawClient? = try RawClient(port: server.port)
        try client?.get()
        _ = try client?.receive(100)
        client = nil
        try await server.waitForOpenConnections(0)
        #expect(server.bodyBytesSent < 50 << 20)
    }
}
