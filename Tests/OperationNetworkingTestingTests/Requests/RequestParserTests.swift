import Foundation
import Testing

@testable import OperationNetworkingTesting

struct RequestParserTests {
    private func events(_ text: String, pieceSize: Int) throws -> [RequestParser.Event] {
        var parser = RequestParser()
        var events: [RequestParser.Event] = []
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            bytes.prefix(pieceSize).withUnsafeBytes { parser.append($0) }
            bytes = bytes.dropFirst(pieceSize)
            while let event = try parser.next() {
                if case .body(let more) = event, case .body(let data)? = events.last {
                    events[events.count - 1] = .body(data + more)
                } else {
                    events.append(event)
                }
            }
        }
        return events
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func requestsAreTheSameHoweverTheBytesCome(pieceSize: Int) throws {
        let text =
            "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
            + "POST /b HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc"
            + "PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nX: y\r\n\r\n"
            + "GET /d HTTP/1.1\r\n\r\n"
        #expect(
            try events(text, pieceSize: pieceSize) == [
                .head(method: "GET", target: "/a", version: "HTTP/1.1", headers: ["Host": "x"]),
                .end(trailers: [:]),
                .head(method: "POST", target: "/b", version: "HTTP/1.0", headers: ["Content-Length": "3"]),
                .body(Data("abc".utf8)),
                .end(trailers: [:]),
                .head(
                    method: "PUT",
                    target: "/c",
                    version: "HTTP/1.1",
                    headers: ["Transfer-Encoding": "chunked"]
                ),
                .body(Data("abc".utf8)),
                .end(trailers: ["X": "y"]),
                .head(method: "GET", target: "/d", version: "HTTP/1.1", headers: [:]),
                .end(trailers: [:]),
            ]
        )
    }

    @Test(arguments: [
        "\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET / HTTP/1.1\nHost: x\n\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
    ])
    func whatIsNotARequestIsRefused(text: String) {
        #expect(throws: MalformedRequest.self) { try events(text, pieceSize: 1000) }
    }

    @Test func otherBytesThanASCIIAreKept() throws {
        var parser = RequestParser()
        let bytes = Array("GET / HTTP/1.1\r\nA: ä\r\nB: ".utf8) + [0xE4] + Array("\r\n\r\n".utf8)
        bytes.withUnsafeBytes { parser.append($0) }
        guard case .head(_, _, _, let headers)? = try parser.next() else {
            Issue.record("There is no head")
            return
        }
        // One byte is not UTF-8, so that all is read as ISO Latin 1.
        #expect(headers["A"] == "Ã¤")
        #expect(headers["B"] == "ä")
    }
}
