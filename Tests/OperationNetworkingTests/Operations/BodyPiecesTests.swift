import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The body as an asynchronous sequence. Pauses and servers that change their minds are in `PauseAndResumeTests`.
@Suite(.timeLimit(.minutes(1)))
struct BodyPiecesTests {
    private func operation(_ server: ScriptedServer) -> HTTPRequestOperation {
        HTTPRequestOperation(request: URLRequest(url: server.url))
    }

    @Test(arguments: [0, 1, 100_000, 3_000_000])
    func thePiecesAreTheBody(length: Int) async throws {
        let body = PatternBody(length: length)
        let server = try ScriptedServer(serving: Representation(.pattern(body), entityTag: .strong("v1")))
        let operation = operation(server)
        let pieces = operation.bodyPieces()
        operation.start()
        var data = Data()
        for try await piece in pieces {
            #expect(!piece.isEmpty)
            data.append(piece)
        }
        #expect(body.firstDifference(from: data) == nil && data.count == length)
        #expect(operation.isFinished && operation.error == nil && operation.responseData == nil)
    }

    /// A body of 64 MiB, of which nothing is read for a while.
    @Test func aSlowReaderHoldsTheTransfer() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 64 << 20))])
        let operation = operation(server)
        let pieces = operation.bodyPieces()
        let updates = operation.downloadUpdates
        operation.start()
        var reader = pieces.makeAsyncIterator()
        let first = try #require(try await reader.next())
        // Values that stay the same for a while: it stands.
        var last: Int64 = 0
        let values = Recorder<Int64>()
        let watching = Task { for await update in updates { values.append(update.bytes) } }
        _ = try await values.wait()
        repeat {
            last = values.elements.last ?? 0
            try await pause()
        } while values.elements.last != last
        #expect(last < 4 << 20)
        var total = first.count
        while let piece = try await reader.next() { total += piece.count }
        #expect(total == 64 << 20)
        await watching.value
        #expect(values.elements.last == 64 << 20)
    }

    /// Longer than six reports take.
    private func pause() async throws {
        let isOver = Gate()
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { isOver.open() }
        try await isOver.wait()
    }

    @Test func theErrorOfTheOperationIsThrown() async throws {
        let server = try ScriptedServer([.respond(404, body: "no")])
        let operation = operation(server)
        let pieces = operation.bodyPieces()
        operation.start()
        await #expect(throws: ResponseSerializationError.self) {
            for try await piece in pieces { Issue.record("\(piece)") }
        }
        #expect(operation.response?.statusCode == 404)
    }

    @Test func aLoopThatEndsEarlyCancelsTheOperation() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 1 << 20)).stalling(after: 100_000)]
        )
        let operation = operation(server)
        let pieces = operation.bodyPieces()
        operation.start()
        for try await _ in pieces { break }
        // The sequence is still there, and could be read on.
        #expect(!operation.isCancelled)
        _ = pieces.makeAsyncIterator()
        #expect(!operation.isCancelled)
        _ = consume pieces
        _ = try? await operation.value
        #expect((operation.error as? URLError)?.code == .cancelled)
    }

    @Test func theCancellationOfTheReaderCancelsTheOperation() async throws {
        let server = try ScriptedServer([.silence])
        let operation = operation(server)
        let pieces = operation.bodyPieces()
        operation.start()
        let reading = Task { for try await _ in pieces {} }
        try await server.waitForStalls(count: 1)
        reading.cancel()
        await #expect { try await reading.value } throws: { ($0 as? URLError)?.code == .cancelled }
        #expect(operation.isCancelled)
    }

    /// A server that is always ahead of the reader.
    @Test func aReaderThatIsCancelledWhilePiecesWaitStops() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 64 << 20))])
        let operation = operation(server)
        let pieces = operation.bodyPieces()
        operation.start()
        let began = Gate()
        let reading = Task {
            var count = 0
            for try await piece in pieces {
                count += piece.count
                began.open()
            }
            return count
        }
        try await began.wait()
        reading.cancel()
        await #expect { _ = try await reading.value } throws: { ($0 as? URLError)?.code == .cancelled }
        _ = try? await operation.value
        #expect((operation.error as? URLError)?.code == .cancelled)
    }

    @Test func twoReadersShareThePiecesAndBothEnd() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: .generated(length: 1 << 20)).held(by: gate)])
        let operation = operation(server)
        let pieces = operation.bodyPieces()
        operation.start()
        try await gate.waitForArrivals()
        let readers = (0..<2).map { _ in
            Task {
                var count = 0
                for try await piece in pieces { count += piece.count }
                return count
            }
        }
        gate.open()
        var total = 0
        for reader in readers { total += try await reader.value }
        #expect(total == 1 << 20)
    }

    /// The connection breaks in the middle: the rest follows what was read, or the error does.
    @Test(arguments: [false, true]) func aTruncatedBodyContinuesOrIsAnError(isRetried: Bool) async throws {
        let body = PatternBody(length: 300_000)
        let server = try ScriptedServer(
            serving: Representation(.pattern(body), entityTag: .strong("v1")),
            answers: [.currentRepresentation.breaking(after: .body(100_000)), .currentRepresentation]
        )
        let operation = operation(server)
        var policy = RetryPolicy(maximumRetries: 1)
        policy.initialDelay = 0.001
        if isRetried { operation.retryPolicy = policy }
        let pieces = operation.bodyPieces()
        operation.start()
        var data = Data()
        do {
            for try await piece in pieces { data.append(piece) }
            #expect(isRetried && body.firstDifference(from: data) == nil)
            #expect(server.requests[1]["If-Range"] == "\"v1\"")
        } catch {
            #expect(!isRetried && (error as? URLError)?.code == .networkConnectionLost, "\(error)")
            #expect(data == body.data(in: 0..<data.count) && data.count <= 100_000)
        }
    }

    @Test(.enabled(if: RealServers.httpbin != nil)) func thePiecesOfARealServer() async throws {
        let httpbin = try #require(RealServers.httpbin)
        for path in ["stream-bytes/90000?seed=7", "drip?numbytes=5&duration=1&delay=0"] {
            let request = URLRequest(url: try #require(URL(string: path, relativeTo: httpbin)).absoluteURL)
            let (whole, inPieces) = (
                HTTPRequestOperation(request: request), HTTPRequestOperation(request: request)
            )
            let (pieces, progress) = (inPieces.bodyPieces(), inPieces.downloadProgress)
            // One after the other: the server makes both from one generator of random numbers.
            whole.start()
            let expected = try await whole.value as? Data
            inPieces.start()
            var data = Data()
            for try await piece in pieces { data.append(piece) }
            #expect(data == expected && !data.isEmpty)
            #expect(progress.completedUnitCount == Int64(data.count))
        }
        let missing = HTTPRequestOperation(
            request: URLRequest(url: httpbin.appendingPathComponent("status/404"))
        )
        let pieces = missing.bodyPieces()
        missing.start()
        await #expect(throws: ResponseSerializationError.self) { for try await _ in pieces {} }
    }

    /// Taken back by another destination, and by another sequence: neither cancels.
    @Test func theLastDestinationCounts() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let folder = try TemporaryDirectory()
        let operation = operation(server)
        do {
            let first = operation.bodyPieces()
            _ = first.makeAsyncIterator()
            operation.outputFile = folder.file()
        }
        operation.start()
        _ = try await operation.value
        #expect(try String(contentsOf: folder.file(), encoding: .utf8) == "four")
    }

    @Test func aCopyHasNoReader() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let operation = operation(server)
        let pieces = operation.bodyPieces()
        let copy = try #require(operation.copy() as? HTTPRequestOperation)
        copy.start()
        #expect(try await copy.value as? Data == Data("four".utf8))
        operation.start()
        var data = Data()
        for try await piece in pieces { data.append(piece) }
        #expect(data == Data("four".utf8))
    }
}
