import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A head that is answered later: the body waits in its connection, and others go on.
@Suite(.timeLimit(.minutes(1)))
struct HeadAnswerTests {
    static let versions = [TransferOptions.HTTPVersion.http1, .http2PriorKnowledge]

    /// A transfer from a server that has one answer.
    private struct Subject {
        let transfer: TestTransfer
        private let server: any Sendable

        init(_ version: TransferOptions.HTTPVersion, bodyLength: Int) throws {
            let body = String(repeating: "x", count: bodyLength)
            let url: URL
            if version == .http2PriorKnowledge {
                let fields: FieldLines = ["content-length": "\(bodyLength)"]
                let server = try HTTP2Server([.respond(200, fields, body: .text(body), ending: .whole)])
                (self.server, url) = (server, server.url)
            } else {
                let server = try ScriptedServer([.respond(200, body: .text(body))])
                (self.server, url) = (server, server.url)
            }
            transfer = TestTransfer.answeredLater(.plain(url, version: version)).start()
        }

        func receive() { transfer.receive() }
        func cancelReceiving() { transfer.cancelReceiving() }
    }

    /// Long enough for anything that might come in spite of it to have come.
    private func waitForPasses() async throws {
        for _ in 0..<20 { try await networkThreadIsDone() }
    }

    @Test(arguments: versions, [10, 1_000_000])
    func noByteComesBeforeTheAnswer(version: TransferOptions.HTTPVersion, length: Int) async throws {
        let subject = try Subject(version, bodyLength: length)
        let transfer = subject.transfer
        try await transfer.headCame.wait()
        try await waitForPasses()
        #expect(transfer.body.isEmpty)
        // What goes on by itself, a sink that has room again, is no answer.
        transfer.release()
        try await waitForPasses()
        #expect(transfer.body.isEmpty)
        subject.receive()
        let end = try await transfer.end()
        #expect(end.operationError == nil, "\(end)")
        #expect(transfer.body.utf8.count == length)
    }

    @Test(arguments: versions)
    func aRefusalThatComesLaterEndsTheTransfer(version: TransferOptions.HTTPVersion) async throws {
        let subject = try Subject(version, bodyLength: 1_000_000)
        let transfer = subject.transfer
        try await transfer.headCame.wait()
        subject.cancelReceiving()
        #expect(try await transfer.end().sentence == "The response was rejected.")
        #expect(transfer.body.isEmpty)
    }

    @Test(arguments: versions)
    func aResponseWithoutABodyEndsBeforeTheAnswer(version: TransferOptions.HTTPVersion) async throws {
        let subject = try Subject(version, bodyLength: 0)
        let transfer = subject.transfer
        #expect(try await transfer.end().operationError == nil)
        subject.receive()
        try await networkThreadIsDone()
        #expect(transfer.body.isEmpty)
    }
}
