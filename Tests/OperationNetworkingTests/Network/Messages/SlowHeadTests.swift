import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A server that sends something all the time, and never a byte of a body: a head, the extension of a chunk
/// and trailers have `timeoutInterval` from their first octet to their end.
@Suite(.timeLimit(.minutes(1)))
struct SlowHeadTests {
    /// Answers that come slowly: a test server sends at its rate everything after the first empty line.
    static let slow: [String: String] = [
        "a status line": "HTTP/1.1 200 " + String(repeating: "a", count: 3000),
        "a line": "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 3000),
        "many lines": "HTTP/1.1 200 OK\r\n" + String(repeating: "X: a\r\n", count: 500),
        "interim heads": String(repeating: "HTTP/1.1 102 P\r\n\r\n", count: 200),
        "an extension": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1;"
            + String(repeating: "a", count: 3000),
        "trailers": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
            + String(repeating: "X: a\r\n", count: 500),
    ]

    private func answer(_ text: String, bytesPerSecond: Int) -> Answer {
        .raw(.text("HTTP/1.1 103 E\r\n\r\n" + text), keepingOpen: true).throttled(to: bytesPerSecond)
    }

    @Test(arguments: slow.keys.sorted())
    func whatComesSlowlyTimesOut(kind: String) async throws {
        let text = try #require(Self.slow[kind])
        let server = try ScriptedServer([answer(text, bytesPerSecond: 100)])
        let transfer = TestTransfer(.plain(server.url, idleTimeout: 0.5)).start()
        let end = try await transfer.end()
        #expect(end.sentence?.contains("did not end within 0.5 seconds") == true)
        #expect(end.code == .timedOut)
        #expect(transfer.head == nil || transfer.body == "a")
    }

    /// Nearly always a record is there in part, and may have anything.
    @Test(arguments: ["/line", "/lines", "/extension", "/trailers"])
    func whatComesSlowlyInRecordsTimesOut(path: String) async throws {
        let server = try TLSServer("tls_slow.py")
        let transfer = TestTransfer(
            .plain(try server.url(path), anchors: .file(server.certificate), idleTimeout: 0.5)
        )
        .start()
        let end = try await transfer.end()
        #expect(end.sentence?.contains("did not end within 0.5 seconds") == true)
        #expect(transfer.head == nil || transfer.body == "a")
    }

    @Test func aRecordOfTheBodyMayComeSlowly() async throws {
        let server = try TLSServer("tls_slow.py")
        let transfer = TestTransfer(
            .plain(try server.url("/body"), anchors: .file(server.certificate), idleTimeout: 1)
        )
        .start()
        #expect(try await transfer.end().operationError == nil)
        #expect(transfer.body.count == 400)
    }

    @Test func anOperationReportsWhatDidNotEnd() async throws {
        let text = try #require(Self.slow["an extension"])
        let server = try ScriptedServer([answer(text, bytesPerSecond: 100)])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url, timeoutInterval: 0.5))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .timedOut)
        #expect(error?.localizedDescription.contains("did not end within 0.5 seconds") == true)
        #expect(operation.response?.statusCode == 200)
    }

    @Test func aBodyThatComesSlowlyDoesNot() async throws {
        let text =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            + String(repeating: "1\r\na\r\n", count: 25) + "0\r\n\r\n"
        let server = try ScriptedServer([answer(text, bytesPerSecond: 60)])
        let transfer = TestTransfer(.plain(server.url, idleTimeout: 2)).start()
        #expect(try await transfer.end().operationError == nil)
        #expect(transfer.body.count == 25)
    }
}
