import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Where the body goes, and what happens when it cannot.
@Suite(.timeLimit(.minutes(1)))
struct SinkTests {
    private func operation(_ server: ScriptedServer) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        return operation
    }

    /// Has no room until a gate opens, and hands over what it gets.
    private final class SlowStream: OutputStream {
        var gate = Gate()
        var written = Recorder<Data>()

        override var hasSpaceAvailable: Bool { gate.isOpen }
        override var streamError: (any Error)? { nil }
        override var streamStatus: Stream.Status { .open }
        override func open() {}
        override func close() {}
        override func write(_ buffer: UnsafePointer<UInt8>, maxLength: Int) -> Int {
            let count = min(maxLength, 10_000)
            written.append(Data(bytes: buffer, count: count))
            return count
        }
    }

    @Test func aStreamWithoutRoomHoldsOnlyItsOwnTransfer() async throws {
        let body = PatternBody(length: 4 << 20)
        let server = try ScriptedServer { _ in .respond(body: .pattern(body)) }
        let (gate, written) = (Gate(), Recorder<Data>())
        let held = operation(server)
        let stream = SlowStream(toMemory: ())
        stream.gate = gate
        stream.written = written
        held.outputStream = stream
        let progress = Recorder<Int64>()
        held.setDownloadProgress { _, total, _ in progress.append(total) }
        held.start()
        _ = try await progress.wait()

        for _ in 0..<5 {
            let other = operation(server)
            other.start()
            #expect(body.firstDifference(from: try #require(try await other.value as? Data)) == nil)
        }
        #expect(!held.isFinished && progress.elements.reduce(0, max) < 4 << 20)

        gate.open()
        _ = try await held.value
        #expect(body.firstDifference(from: written.elements.reduce(Data(), +)) == nil)
    }

    @Test func aFIFOWithoutAReaderBlocksNobodyAndCanBeCancelled() async throws {
        let server = try ScriptedServer { _ in .respond(body: .generated(length: 1 << 20)) }
        let directory = try TemporaryDirectory()
        let fifo = directory.file("fifo")
        #expect(mkfifo(fifo.path, 0o600) == 0)
        let held = operation(server)
        held.outputStream = OutputStream(url: fifo, append: false)
        held.start()
        try await server.waitForRequests(count: 1)
        let other = operation(server)
        other.start()
        #expect((try await other.value as? Data)?.count == 1 << 20)
        held.cancel()
        await #expect(throws: URLError.self) { try await held.value }
        // Let the stream's queue out of open(2).
        let reader = Thread { _ = try? FileHandle(forReadingFrom: fifo).readToEnd() }
        reader.start()
    }

    @Test func aFullDiskIsAnError() async throws {
        let server = try ScriptedServer { _ in .respond(body: .generated(length: 1 << 20)) }
        let toFile = operation(server)
        toFile.outputFile = URL(fileURLWithPath: "/dev/full")
        toFile.start()
        await #expect(throws: CocoaError.self) { try await toFile.value }
        #expect((toFile.error as? CocoaError)?.code == .fileWriteOutOfSpace)

        let toStream = operation(server)
        toStream.outputStream = OutputStream(toFileAtPath: "/dev/full", append: true)
        toStream.start()
        await #expect(throws: (any Error).self) { try await toStream.value }
        #expect((toStream.error as NSError?)?.code == 28)
    }

    @Test(arguments: [false, true]) func anErrorResponseLeavesTheDestinationAlone(usesStream: Bool)
        async throws
    {
        let server = try ScriptedServer([.respond(404, ["Content-Type": "text/plain"], body: "no such thing")]
        )
        let directory = try TemporaryDirectory()
        let file = directory.file("body")
        try Data("precious".utf8).write(to: file)
        let operation = operation(server)
        if usesStream {
            operation.outputStream = OutputStream(url: file, append: false)
        } else {
            operation.outputFile = file
        }
        operation.start()
        await #expect(throws: ResponseSerializationError.self) { try await operation.value }
        #expect(try Data(contentsOf: file) == Data("precious".utf8))
        #expect(operation.responseString == "no such thing")
    }

    @Test func aFileIsReplacedByASuccess() async throws {
        let server = try ScriptedServer([.respond(body: "new")])
        let directory = try TemporaryDirectory()
        let file = directory.file("body")
        try Data("something longer".utf8).write(to: file)
        let operation = operation(server)
        operation.outputFile = file
        operation.start()
        _ = try await operation.value
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(operation.responseData == nil)
        #expect(server.requests[0]["Accept-Encoding"] == "identity")
    }

    @Test func aDirectoryAndOneThatIsNotThereAreErrorsThatNameTheFile() async throws {
        let server = try ScriptedServer { _ in .respond(body: "new") }
        let directory = try TemporaryDirectory()
        for file in [directory.file("nowhere/body"), directory.url] {
            let operation = operation(server)
            operation.outputFile = file
            operation.start()
            await #expect(throws: CocoaError.self) { try await operation.value }
            #expect("\(String(describing: operation.error))".contains(file.path))
        }
    }

    @Test func aBodyOverTheMemoryLimitIsAnError() async throws {
        let server = try ScriptedServer([
            .respond(body: .generated(length: 1001)), .respond(body: .generated(length: 1001)).chunked(),
            .respond(body: .generated(length: 1000)),
        ])
        for expected in [URLError.Code.dataLengthExceedsMaximum, .dataLengthExceedsMaximum, nil] {
            let operation = operation(server)
            operation.maximumResponseDataLength = 1000
            operation.start()
            _ = try? await operation.value
            #expect((operation.error as? URLError)?.code == expected)
        }
    }

    @Test func uploadsFromDataAndStreamsEndAtTheTotal() async throws {
        let server = try ScriptedServer { request in .respond(body: .text("\(request.body.count)")) }
        let body = PatternBody(length: 700_000).data
        for usesStream in [false, true] {
            for declares in [false, true] {
                var request = URLRequest(url: server.url)
                request.httpMethod = "PUT"
                if declares { request.setValue("\(body.count)", forHTTPHeaderField: "Content-Length") }
                if !usesStream { request.httpBody = body }
                let operation = HTTPRequestOperation(request: request)
                operation.completionQueue = DispatchQueue(label: "callbacks")
                if usesStream { operation.inputStream = InputStream(data: body) }
                let progress = Recorder<[Int64]>()
                operation.setUploadProgress { _, total, expected in progress.append([total, expected]) }
                operation.start()
                #expect(try await operation.value as? Data == Data("700000".utf8))
                operation.completionQueue?.sync {}
                #expect(progress.elements.last == [700_000, usesStream && !declares ? -1 : 700_000])
                let received = try #require(server.requests.last)
                #expect(received.body == body)
                #expect((received["Transfer-Encoding"] == "chunked") == (usesStream && !declares))
            }
        }
    }
}
