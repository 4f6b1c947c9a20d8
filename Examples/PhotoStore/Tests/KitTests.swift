// The samples stand as the comments of the test kit have them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

/// The samples in the comments of the test kit.
@Suite struct KitTests {
    @Test func aGateHoldsAnAnswer() async throws {
        // MARK: Example

        let gate = Gate()
        let server = try ScriptedServer([.respond(200, body: "0123456789").held(after: 4, by: gate)])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.start()
        try await gate.waitForArrivals()        // the server has sent "0123"
        gate.open()                             // and now sends the rest
        #expect(try await operation.value as? Data == Data("0123456789".utf8))

        // MARK: End of example
    }

    @Test func aRecorderCollects() async throws {
        let server = try ScriptedServer([.respond(body: "0123456789")])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        // MARK: Example

        let progress = Recorder<Int64>()
        operation.setDownloadProgress { _, total, _ in progress.append(total) }
        operation.start()
        #expect(try await progress.wait() == [10])

        // MARK: End of example
    }

    @Test func aServerBreaksOffAndHasAnotherFileThen() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.file()
        // MARK: Example

        let server = try ScriptedServer([
            .respond(200, ["ETag": "\"v1\""], body: "0123456789", breakingAfter: 4),
            .respond(200, ["ETag": "\"v2\""], body: "abcdef"),
        ])
        let download = DownloadOperation(request: URLRequest(url: server.url), to: file)
        download.start()
        #expect(try Data(contentsOf: try await download.savedFile) == Data("abcdef".utf8))
        #expect(server.requests[1]["If-Range"] == "\"v1\"")

        // MARK: End of example
    }

    @Test func fieldsAreAsTheyAreWritten() {
        // MARK: Example

        let fields: FieldLines = ["Content-Type": "text/plain", "Set-Cookie": "a=1", "Set-Cookie": "b=2"]

        // MARK: End of example
        #expect(fields.values(of: "set-cookie") == ["a=1", "b=2"])
    }

    @Test func answersAreValues() {
        let gate = Gate()
        // MARK: Example

        let answers: [Answer] = [
            .respond(200, ["ETag": "\"v1\""], body: "0123456789", breakingAfter: 4),
            .respond(body: .generated(length: 100 << 20)).chunked().held(after: 1000, by: gate),
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        ]

        // MARK: End of example
        #expect(answers.count == 3)
    }
}
