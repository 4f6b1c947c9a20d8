import Foundation
import OperationNetworkingTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AnswerTests {
    /// Everything the server sends to one request that asks for the connection to be closed.
    private func wire(
        _ answer: Answer,
        method: String = "GET",
        version: String = "HTTP/1.1",
        connection: String = "close"
    ) throws -> String {
        let server = try ScriptedServer([answer])
        let client = try RawClient(port: server.port)
        try client.send("\(method) / \(version)\r\nHost: localhost\r\nConnection: \(connection)\r\n\r\n")
        return try client.receiveAll()
    }

    // MARK: - Heads

    @Test func anAnswerHasItsFieldsInOrderAndAsSpelledAndALength() throws {
        let answer = Answer.respond(
            201,
            ["x-ONE": "1", "Set-Cookie": "a=1", "Set-Cookie": "b=2"],
            body: "abc"
        )
        #expect(
            try wire(answer) == "HTTP/1.1 201 Created\r\nx-ONE: 1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
                + "Content-Length: 3\r\nConnection: close\r\n\r\nabc"
        )
    }

    @Test func aLengthOfTheScriptIsNotCorrected() throws {
        let answer = Answer.respond(200, ["content-length": "9"], body: "abc")
        #expect(try wire(answer) == "HTTP/1.1 200 OK\r\ncontent-length: 9\r\nConnection: close\r\n\r\nabc")
    }

    @Test func theReasonPhraseAndTheVersionCanBeChosen() throws {
        let answer = Answer.respond(200).reason("Fine by me").http10()
        #expect(try wire(answer) == "HTTP/1.0 200 Fine by me\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func interimResponsesComeFirst() throws {
        let answer = Answer.respond(204).after(interim: 103, ["Link": "</a>"]).after(interim: 102)
        #expect(
            try wire(answer)
                == "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
                + "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
        )
    }

    @Test(arguments: [204, 304])
    func someStatusesHaveNoBody(status: Int) throws {
        #expect(try wire(.respond(status, body: "abc")).hasSuffix("\r\n\r\n"))
    }

    @Test func theAnswerToHeadSaysTheLengthAndHasNoBody() throws {
        let text = try wire(.respond(body: "abc"), method: "HEAD")
        #expect(text == "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n")
    }

    @Test func aRedirectSaysWhere() throws {
        let text = try wire(.redirect(to: "/b", statusCode: 307))
        #expect(text.contains("307 Temporary Redirect\r\nLocation: /b\r\n"))
    }

    // MARK: - Bodies

    @Test func aChunkedBodyHasChunksAndTrailers() throws {
        let answer = Answer.respond(body: "0123456789").chunked(size: 4, trailers: ["X-Sum": "45"])
        #expect(
            try wire(answer) == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                + "4\r\n0123\r\n4\r\n4567\r\n2\r\n89\r\n0\r\nX-Sum: 45\r\n\r\n"
        )
    }

    @Test func aChunkedBodyCanLackItsLastChunk() throws {
        let text = try wire(.respond(body: "0123").chunked(isTerminated: false), connection: "keep-alive")
        #expect(text == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n")
    }

    @Test func aBodyCanEndWithTheConnection() throws {
        let text = try wire(.respond(body: "0123").untilClose(), connection: "keep-alive")
        #expect(text == "HTTP/1.1 200 OK\r\n\r\n0123")
    }

    @Test func rawBytesAreSentAsTheyAre() throws {
        let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"
        #expect(try wire(.raw(.text(bytes)), connection: "keep-alive") == bytes)
    }

    @Test func aGeneratedBodyArrivesWhole() throws {
        let pattern = PatternBody(seed: 7, length: 300_001)
        let server = try ScriptedServer([.respond(body: .pattern(pattern))])
        let client = try RawClient(port: server.port)
        try client.get()
        _ = try client.receive(through: "\r\n\r\n")
        #expect(pattern.firstDifference(from: try client.receiveData(pattern.length)) == nil)
        #expect(server.bodyBytesSent == pattern.length)
    }

    @Test func aBodyCanTurnIntoAnotherWhileItIsSent() throws {
        let body = AnswerBody.text("aaaaaa").switching(after: 2, to: "bbbbbb")
        #expect(try wire(.respond(body: body)).hasSuffix("\r\n\r\naabbbb"))
    }

    @Test func aThrottledBodyArrivesWhole() throws {
        #expect(try wire(.respond(body: "0123456789").throttled(to: 1000)).hasSuffix("\r\n\r\n0123456789"))
    }

    // MARK: - Connections

    @Test func aConnectionIsUsedAgain() throws {
        let server = try ScriptedServer([.respond(body: "a"), .respond(body: "bc")])
        let client = try RawClient(port: server.port)
        try client.get("/1")
        #expect(try client.response().body == "a")
        try client.get("/2")
        #expect(try client.response().body == "bc")
        #expect(server.requests.map(\.connectionNumber) == [1, 1])
        #expect(server.connectionsAccepted == 1)
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let server = try ScriptedServer { .respond(body: .text($0.target)) }
        let client = try RawClient(port: server.port)
        let requests = (1...50).map { "POST /\($0) HTTP/1.1\r\nContent-Length: 2\r\n\r\nxy" }
        try client.send(requests.joined())
        for number in 1...50 { #expect(try client.response().body == "/\(number)") }
    }

    @Test func anAnswerCanCloseTheConnection() throws {
        let said = try wire(.respond().closing(), connection: "keep-alive")
        #expect(said == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        let silent = try wire(.respond().closing(silently: true), connection: "keep-alive")
        #expect(silent == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let scripted = try wire(.respond(200, ["connection": "Close"]), connection: "keep-alive")
        #expect(scripted == "HTTP/1.1 200 OK\r\nconnection: Close\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func anOldClientIsKeptOnlyIfItAsks() throws {
        #expect(try wire(.respond(), version: "HTTP/1.0", connection: "x").contains("Connection: close"))
        let server = try ScriptedServer([.respond()])
        let client = try RawClient(port: server.port)
        for _ in 1...2 {
            try client.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
            #expect(try client.response()["Connection"] == "keep-alive")
        }
    }
}
