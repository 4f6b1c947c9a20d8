import Foundation
import Testing

@testable import OperationNetworkingTesting

@Suite(.timeLimit(.minutes(1)))
struct HTTP2ServerTests {
    private let settings = HTTP2Frame(type: HTTP2Frame.settings)
    private let acknowledgment = HTTP2Frame(type: HTTP2Frame.settings, flags: HTTP2Frame.acknowledgment)

    /// The bytes of a client that opens a stream.
    private var opening: Data {
        let fields = Data([0x82, 0x84, 0x86])
        let open = HTTP2Frame(type: HTTP2Frame.headers, flags: 5, stream: 1, payload: fields)
        return Data("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + settings.bytes + open.bytes
    }

    /// The frames of the server, up to one of type `last`, for a client that opens a stream.
    private func frames(_ answers: [HTTP2Answer], through last: UInt8) throws -> [HTTP2Frame] {
        let server = try HTTP2Server(answers)
        let client = try RawClient(port: server.port)
        try client.send(opening)
        var frames: [HTTP2Frame] = []
        while frames.last?.type != last || frames.last?.flags == 0 && last == HTTP2Frame.data {
            let head = try client.receiveData(9)
            var bytes = head
            bytes += try client.receiveData(Int(head[1]) << 8 | Int(head[2]))
            frames.append(try #require(HTTP2Frame.take(from: &bytes)))
        }
        #expect(server.streams == 1)
        return frames
    }

    private func head(_ block: String) -> HTTP2Frame {
        HTTP2Frame(
            type: HTTP2Frame.headers,
            flags: HTTP2Frame.endHeaders,
            stream: 1,
            payload: Data(block.utf8)
        )
    }

    @Test func aWholeStreamEnds() throws {
        let frames = try frames([.respond(200, ["X-A": "b"], body: "0123")], through: HTTP2Frame.data)
        #expect(
            frames == [
                settings, acknowledgment, head("\0\u{7}:status\u{3}200\0\u{3}x-a\u{1}b"),
                HTTP2Frame(type: HTTP2Frame.data, stream: 1, payload: Data("0123".utf8)),
                HTTP2Frame(type: HTTP2Frame.data, flags: HTTP2Frame.endStream, stream: 1),
            ]
        )
    }

    @Test func aStreamIsReset() throws {
        let answer = HTTP2Answer.respond(body: "0123", ending: .reset(code: 2, after: 3))
        #expect(
            try frames([answer], through: HTTP2Frame.reset).suffix(2) == [
                HTTP2Frame(type: HTTP2Frame.data, stream: 1, payload: Data("012".utf8)),
                HTTP2Frame(type: HTTP2Frame.reset, stream: 1, payload: Data([0, 0, 0, 2])),
            ]
        )
    }

    @Test func aStreamIsDisowned() throws {
        let answer = HTTP2Answer.respond(body: "0123", ending: .goAway(code: 1, after: 0))
        #expect(
            try frames([answer], through: HTTP2Frame.goAway).last
                == HTTP2Frame(type: HTTP2Frame.goAway, payload: Data([0, 0, 0, 0, 0, 0, 0, 1]))
        )
    }

    @Test func aConnectionEndsInTheMiddle() throws {
        let answer = HTTP2Answer.respond(body: "0123", ending: .close(after: 1))
        #expect(throws: RawClient.Failure.ended) { try frames([answer], through: HTTP2Frame.goAway) }
    }

    @Test func theEndOfAStreamCanBeHeld() async throws {
        let gate = Gate()
        let server = try HTTP2Server([
            .respond(body: "0123", ending: .reset(code: 2, after: 4), endingAfter: gate)
        ])
        let client = try RawClient(port: server.port)
        try client.send(opening)
        try await gate.waitForArrivals()
        #expect(try client.receive(through: "0123").hasSuffix("0123"))
        gate.open()
        let reset = HTTP2Frame(type: HTTP2Frame.reset, stream: 1, payload: Data([0, 0, 0, 2]))
        #expect(try client.receiveData(13) == reset.bytes)
    }

    @Test func longFieldsHaveLongLengths() {
        let block = HTTP2Frame.fieldBlock(["a": String(repeating: "x", count: 300)])
        #expect(block.prefix(5) == Data([0, 1, 0x61, 127, 173]))
        #expect(block[5] == 1)
    }

    @Test func aServerWithoutClientsStops() throws {
        try HTTP2Server([.respond()]).stop()
    }
}
