import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Broken responses that libcurl 7.88 lets pass, or might: byte for byte.
@Suite(.timeLimit(.minutes(1)))
struct BrokenResponseTests {
    /// Bytes that a server sends before it closes the connection, and what has to come of them.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var bytes: String
        /// `nil`: a success.
        var code: URLError.Code?
        var body: String
        var method: String

        init(_ name: String, _ bytes: String, code: URLError.Code?, body: String = "", method: String = "GET")
        {
            testDescription = name
            self.bytes = bytes
            self.code = code
            self.body = body
            self.method = method
        }
    }

    static let lengths = [
        Case("two lengths", "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", code: .badServerResponse),
        Case("a list of two lengths", "Content-Length: 3, 4\r\n\r\nabcd", code: .badServerResponse),
        Case(
            "the same length twice",
            "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
            code: nil,
            body: "abc"
        ),
        Case("a list of the same length", "Content-Length: 3, 3\r\n\r\nabc", code: nil, body: "abc"),
        Case("no number", "Content-Length: abc\r\n\r\nabc", code: .badServerResponse),
        Case("a negative length", "Content-Length: -1\r\n\r\nabc", code: .badServerResponse),
        Case("a signed length", "Content-Length: +3\r\n\r\nabc", code: .badServerResponse),
        Case("a number and more", "Content-Length: 3x\r\n\r\nabc", code: .badServerResponse),
        Case("a CR in a length", "Content-Length: 3\r9\r\n\r\nabc", code: .badServerResponse),
        // White space, by RFC 9112 §2.2.
        Case("a CR behind a length", "Content-Length: 3\r\r\n\r\nabc", code: nil, body: "abc"),
        Case("an empty length", "Content-Length:\r\n\r\nabc", code: .badServerResponse),
        Case("a huge length", "Content-Length: 99999999999999999999\r\n\r\nabc", code: .badServerResponse),
        Case("a length with a blank in its name", "Content-Length : 3\r\n\r\nabc", code: .badServerResponse),
        Case(
            "a body shorter than declared",
            "Content-Length: 10\r\n\r\nabc",
            code: .networkConnectionLost,
            body: "abc"
        ),
        Case("no body, but a length", "Content-Length: 10\r\n\r\n", code: .networkConnectionLost),
        Case("more than declared", "Content-Length: 3\r\n\r\nabcdef", code: nil, body: "abc"),
        Case(
            "a bad length where there is no body",
            "Content-Length: x\r\n\r\n",
            code: .badServerResponse,
            method: "HEAD"
        ),
    ]

    static let chunks = [
        Case("all chunks", "3\r\nabc\r\n0\r\n\r\n", code: nil, body: "abc"),
        Case("chunk extensions", "3;a=b\r\nabc\r\n0;c\r\n\r\n", code: nil, body: "abc"),
        Case("trailers", "3\r\nabc\r\n0\r\nDigest: x\r\nContent-Length: 9\r\n\r\n", code: nil, body: "abc"),
        Case(
            "a CR in a trailer",
            "3\r\nabc\r\n0\r\nX: a\rb\r\n\r\n",
            code: .networkConnectionLost,
            body: "abc"
        ),
        Case(
            "a NUL in a trailer",
            "3\r\nabc\r\n0\r\nX: a\u{0}b\r\n\r\n",
            code: .badServerResponse,
            body: "abc"
        ),
        Case("no last chunk", "3\r\nabc\r\n", code: .networkConnectionLost, body: "abc"),
        Case("a chunk that breaks off", "5\r\nabc", code: .networkConnectionLost, body: "abc"),
        Case("no chunk", "", code: .networkConnectionLost),
        Case("half a chunk size", "3\r\nabc\r\n1", code: .networkConnectionLost, body: "abc"),
        Case("a last chunk without its end", "3\r\nabc\r\n0\r\n", code: .networkConnectionLost, body: "abc"),
        Case(
            "trailers that break off",
            "3\r\nabc\r\n0\r\nDigest: x\r\n",
            code: .networkConnectionLost,
            body: "abc"
        ),
        Case("a chunk size that is none", "xyz\r\nabc\r\n0\r\n\r\n", code: .networkConnectionLost),
        Case("an empty chunk size", "\r\nabc\r\n0\r\n\r\n", code: .networkConnectionLost),
        Case("a negative chunk size", "-3\r\nabc\r\n0\r\n\r\n", code: .networkConnectionLost),
        Case("a huge chunk size", "fffffffffffffffff\r\nabc\r\n0\r\n\r\n", code: .networkConnectionLost),
        Case(
            "a chunk longer than its size",
            "3\r\nabcdef\r\n0\r\n\r\n",
            code: .networkConnectionLost,
            body: "abc"
        ),
    ]

    static let heads = [
        Case("nothing", "", code: .networkConnectionLost),
        Case("a piece of the version", "HTT", code: .networkConnectionLost),
        Case("the version", "HTTP/1.1", code: .networkConnectionLost),
        Case("half a status line", "HTTP/1.1 200 O", code: .networkConnectionLost),
        Case("a status line", "HTTP/1.1 200 OK\r\n", code: .networkConnectionLost),
        Case("half a field", "HTTP/1.1 200 OK\r\nContent-Le", code: .networkConnectionLost),
        Case(
            "a field without its line end",
            "HTTP/1.1 200 OK\r\nContent-Length: 3",
            code: .networkConnectionLost
        ),
        Case("a field", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", code: .networkConnectionLost),
        Case(
            "half the empty line",
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r",
            code: .networkConnectionLost
        ),
        Case("only an interim head", "HTTP/1.1 103 Early Hints\r\n\r\n", code: .networkConnectionLost),
        Case(
            "an interim head and a piece",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 2",
            code: .networkConnectionLost
        ),
        Case(
            "an interim head and half a head",
            "HTTP/1.1 103 X\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n",
            code: .networkConnectionLost
        ),
        Case("no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", code: .badServerResponse),
        Case("HTTP/0.9", "<html>hello</html>", code: .badServerResponse),
        Case("status 99", "HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n", code: .badServerResponse),
        Case(
            "an unasked switch of protocols",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
            code: .badServerResponse
        ),
        Case(
            "another protocol",
            "HTTP/1.1 101 Switching Protocols\r\n\r\nabc",
            code: .badServerResponse
        ),
        Case("status 600", "HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n", code: .badServerResponse),
        Case(
            "an unasked part",
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 2-4/5\r\nContent-Length: 3\r\n\r\ncde",
            code: .badServerResponse
        ),
        Case(
            "a CR in a field",
            "HTTP/1.1 200 OK\r\nX: a\rY: b\r\nContent-Length: 3\r\n\r\nabc",
            code: .badServerResponse
        ),
        Case(
            "a CR in a reason phrase",
            "HTTP/1.1 200 O\rK\r\nContent-Length: 3\r\n\r\nabc",
            code: .badServerResponse
        ),
        Case(
            "a CR before a field, which libcurl takes for the end of the head",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\rX: y\r\n\r\nabc",
            code: .badServerResponse
        ),
        Case(
            "a CR in a folded line",
            "HTTP/1.1 200 OK\r\nX: a\r\n b\rc\r\nContent-Length: 3\r\n\r\nabc",
            code: .badServerResponse
        ),
        Case(
            "a CR in an interim head",
            "HTTP/1.1 103 E\r\nLink: a\rb\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
            code: .badServerResponse
        ),
        Case(
            "a NUL in a field",
            "HTTP/1.1 200 OK\r\nX: a\u{0}b\r\nContent-Length: 3\r\n\r\nabc",
            code: .badServerResponse
        ),
        Case(
            "other controls in a field",
            "HTTP/1.1 200 OK\r\nX: a\u{1}\u{b}\u{7f}b\r\nContent-Length: 3\r\n\r\nabc",
            code: nil,
            body: "abc"
        ),
        Case(
            "a length in an interim head",
            "HTTP/1.1 103 E\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "HTTP/1.1 200 OK\r\n\r\nabc",
            code: nil,
            body: "abc"
        ),
        Case("HTTP/2 without TLS", "HTTP/2 200 OK\r\nContent-Length: 3\r\n\r\nabc", code: .badServerResponse),
        Case("a body that lasts until the end", "HTTP/1.1 200 OK\r\n\r\nabc", code: nil, body: "abc"),
        Case("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nabc", code: nil, body: "abc"),
        Case("bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 3\n\nabc", code: nil, body: "abc"),
        Case(
            "a transfer coding that no request asked for",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc",
            code: .badServerResponse
        ),
    ]

    @Test(arguments: heads)
    func truncatedAndInvalidHeads(_ broken: Case) async throws {
        try await check(broken)
    }

    @Test(arguments: lengths)
    func lengthsThatCannotBeTrusted(_ broken: Case) async throws {
        try await check(broken, after: "HTTP/1.1 200 OK\r\n")
    }

    @Test(arguments: chunks)
    func chunksThatAreNotAll(_ broken: Case) async throws {
        try await check(broken, after: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    }

    private func check(_ broken: Case, after head: String = "") async throws {
        let answer = Answer.raw(AnswerBody(stringLiteral: head + broken.bytes))
        let outcome = try await outcome(of: answer, method: broken.method)
        try await outcome.expect(broken.code)
        #expect(outcome.transfer.body == broken.body)
    }

    /// A transfer that has ended.
    private struct Outcome {
        let server: ScriptedServer
        let transfer: TestTransfer

        /// The end is the failure with `code`; `nil`: a success.
        func expect(_ code: URLError.Code?) async throws {
            let end = try await transfer.end()
            #expect(end.code == code, "\(end)")
            if code == nil { #expect(end.operationError == nil) }
        }
    }

    /// Asks a server that gives one answer, and waits for the end.
    private func outcome(
        of answer: Answer,
        method: String = "GET",
        acceptsContentCoding: Bool = false
    ) async throws -> Outcome {
        let server = try ScriptedServer([answer])
        let transfer = TestTransfer(
            .plain(server.url, method: method, acceptsContentCoding: acceptsContentCoding)
        )
        .start()
        _ = try await transfer.end()
        return Outcome(server: server, transfer: transfer)
    }

    /// The connection ends at every single byte of a response.
    @Test func aResponseThatBreaksOffAnywhereIsNeverComplete() async throws {
        let response = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 10\r\n\r\n0123456789"
        for count in 0..<response.utf8.count {
            let outcome = try await outcome(of: .raw(.data(Data(response.utf8.prefix(count)))))
            let end = try await outcome.transfer.end()
            #expect(end.code == .networkConnectionLost, "after \(count) bytes")
        }
    }

    /// The bytes that follow are no HTTP, and need not end.
    @Test(arguments: [[:], ["Connection": "Upgrade", "Upgrade": "x"]])
    func aSwitchOfProtocolsEndsTheTransfer(fields: [String: String]) async throws {
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"
        let server = try ScriptedServer([.raw(.text(head), keepingOpen: true)])
        let transfer = TestTransfer(.plain(server.url).with(fields)).start()
        let end = try await transfer.end()
        #expect(end.code == .badServerResponse, "\(end)")
        #expect(transfer.head == nil)
        #expect(server.requests.first?["Upgrade"] == fields["Upgrade"])
    }

    // MARK: - Content codings

    private func outcome(ofCoding coding: String, _ body: Data) async throws -> Outcome {
        let answer = Answer.respond(200, ["Content-Encoding": coding], body: .data(body))
        let outcome = try await outcome(of: answer, acceptsContentCoding: true)
        #expect(outcome.server.requests.first?["Accept-Encoding"] == "gzip, deflate, br, zstd")
        return outcome
    }

    @Test func aCodedBodyIsDecodedAndCountedAsSent() async throws {
        let outcome = try await outcome(ofCoding: "gzip", CodedBody.gzip)
        try await outcome.expect(nil)
        #expect(outcome.transfer.body == CodedBody.text)
        #expect(try await outcome.transfer.end().measured.bytesReceived == Int64(CodedBody.gzip.count))
    }

    @Test(arguments: CodedBody.all)
    func aTruncatedCodedBodyIsAnErrorThoughItsLengthIsRight(coding: String, body: Data) async throws {
        try await outcome(ofCoding: coding, body.dropLast(3)).expect(.cannotDecodeRawData)
    }

    @Test(arguments: CodedBody.all)
    func dataAfterACodedBodyIsAnError(coding: String, body: Data) async throws {
        try await outcome(ofCoding: coding, body + Data("<html>".utf8)).expect(.cannotDecodeRawData)
    }

    @Test func aBodyThatIsNotItsCodingIsAnError() async throws {
        try await outcome(ofCoding: "gzip", Data("plain".utf8)).expect(.cannotDecodeRawData)
    }

    @Test func anUnrequestedCodingIsAnError() async throws {
        try await outcome(ofCoding: "compress", Data("?".utf8)).expect(.cannotDecodeContentData)
    }

    @Test func aBodyStaysEncodedUnlessDecodingIsRequested() async throws {
        let answer = Answer.respond(200, ["Content-Encoding": "gzip"], body: .data(CodedBody.gzip))
        let outcome = try await outcome(of: answer)
        try await outcome.expect(nil)
        #expect(outcome.transfer.bytes == CodedBody.gzip)
        #expect(outcome.server.requests.first?["Accept-Encoding"] == nil)
    }

    // MARK: - Connections

    @Test func aResetIsAnError() async throws {
        let answer = Answer.respond(body: "0123456789").resetting(after: 4)
        try await outcome(of: answer).expect(.networkConnectionLost)
    }

    @Test func aReusedConnectionThatTheServerClosedIsReplacedSilently() async throws {
        let server = try ScriptedServer([.respond(body: "a"), .respond(body: "b")])
        #expect(try await TestTransfer(.plain(server.url)).start().end().operationError == nil)
        server.closeConnections()
        try await server.waitForOpenConnections(0)
        let second = TestTransfer(.plain(server.url)).start()
        #expect(try await second.end().operationError == nil)
        #expect(second.body == "b")
        #expect(server.connectionsAccepted == 2)
    }

    @Test func aResponseThatWantsTheRequestRepeatedIsTheResponse() async throws {
        // libcurl would send the request again by itself (RFC 9110 §15.5.18), and two heads would come.
        let server = try ScriptedServer([.respond(417, body: "no"), .respond(200, body: "yes")])
        let transfer = TestTransfer(
            .plain(
                server.url,
                method: "PUT",
                fields: ["Expect": "100-continue"],
                body: .bytes(Data("0123456789".utf8))
            )
        ).start()
        let end = try await transfer.end()
        #expect(end.operationError == nil, "\(end)")
        let statuses = transfer.statuses
        #expect(statuses.count == 1)
        #expect((statuses == [417]) == (transfer.body == "no"), "\(statuses) \(transfer.body)")
    }

    /// libcurl would throw the answer's body away, and send all again with the same `Expect`.
    @Test(arguments: ["PUT", "POST"], ["no", ""])
    func aResponseThatRefusesTheBodyIsTheResponse(method: String, text: String) async throws {
        let refusal = "HTTP/1.1 417 No\r\nContent-Length: \(text.utf8.count)\r\n\r\n" + text
        let isFirst = Locked(true)
        let policy = RequestBodyPolicy.each { _ in
            isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? .leave : .read
            }
        }
        let server = try ScriptedServer(
            [.raw(.text(refusal), keepingOpen: true), .respond(body: "yes")],
            requestBodies: policy
        )
        let transfer = TestTransfer(
            .plain(
                server.url,
                method: method,
                fields: ["Expect": "100-Continue"],
                body: .bytes(Data("0123456789".utf8)),
                mayBeSentAgain: method == "PUT"
            )
        ).start()
        let end = try await transfer.end()
        #expect(end.sentence == "The response was rejected.")
        #expect(transfer.statuses == [417] && transfer.bytes.isEmpty)
        #expect(transfer.received.withLock { $0.sent } == 0)
        #expect(server.requests.count == 1)
    }
}

/// "hello, hello, hello", as Python's gzip and zlib, libbrotlienc and zstd(1) code it.
enum CodedBody {
    static let text = "hello, hello, hello"
    static let gzip = Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11HIQKIAn6HKCRMAAAA=") ?? Data()
    static let deflate = Data(base64Encoded: "eNrLSM3JyddRyECiAEQoBtU=") ?? Data()
    static let brotli = Data(base64Encoded: "GxIA+I2Ubt5ECVKGlmwsbxFPJNBxAA==") ?? Data()
    static let zstd = Data(base64Encoded: "KLUv/QRYbQAAOGhlbGxvLCABAOKKEXXzmI4=") ?? Data()
    static let all = [("gzip", gzip), ("deflate", deflate), ("br", brotli), ("zstd", zstd)]
}
