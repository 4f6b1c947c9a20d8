import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A stream that is closed, or that another operation uses, is an error. Foundation ends the process for less.
@Suite(.timeLimit(.minutes(1)))
struct StreamClaimTests {
    private static let body = PatternBody(seed: 1, length: 300_000)
    private static let beginning = 100_000

    private func operation(_ url: URL) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        return operation
    }

    private func error(of operation: HTTPRequestOperation) async -> (any Error)? {
        operation.start()
        _ = try? await operation.value
        return operation.error
    }

    // MARK: - Closed

    /// Leaves everything to Foundation.
    private final class Heir: OutputStream {}

    enum Output: CaseIterable, Sendable {
        case memory, file, heir

        func make(in folder: TemporaryDirectory) -> OutputStream {
            switch self {
            case .memory: OutputStream(toMemory: ())
            case .file: OutputStream(url: folder.file("file"), append: false) ?? OutputStream(toMemory: ())
            case .heir: Heir(toMemory: ())
            }
        }
    }

    @Test(arguments: Output.allCases, ["", "some bytes"])
    func anOutputStreamThatWasClosedIsAnError(_ output: Output, text: String) async throws {
        let server = try ScriptedServer([.respond(body: .text(text))])
        let folder = try TemporaryDirectory()
        let stream = output.make(in: folder)
        stream.open()
        stream.close()
        let operation = operation(server.url)
        operation.outputStream = stream
        #expect(await error(of: operation) as? StreamError == .closed)
        server.stop()
    }

    @Test(arguments: Output.allCases)
    func anOutputStreamThatIsOpenIsWritten(_ output: Output) async throws {
        let server = try ScriptedServer([.respond(body: .text("some bytes"))])
        let folder = try TemporaryDirectory()
        let stream = output.make(in: folder)
        stream.open()
        let operation = operation(server.url)
        operation.outputStream = stream
        #expect(await error(of: operation) == nil)
        let data = stream.property(forKey: .dataWrittenToMemoryStreamKey) as? Data
        let written = output == .file ? try Data(contentsOf: folder.file("file")) : data
        #expect(written == Data("some bytes".utf8))
    }

    enum Input: CaseIterable, Sendable {
        case stream, streamWithLength, source, form

        /// Makes it the body of an operation.
        func set(_ stream: InputStream, on operation: HTTPRequestOperation, length: Int) throws {
            switch self {
            case .stream: operation.inputStream = stream
            case .streamWithLength: operation.bodySource = .stream(stream, length: Int64(length))
            case .source: operation.bodySource = .stream(stream)
            case .form:
                var form = MultipartFormData()
                try form.appendPart(
                    withInputStream: stream,
                    name: "part",
                    fileName: "file",
                    length: Int64(length),
                    mimeType: "text/plain"
                )
                operation.bodySource = form.body
            }
        }
    }

    private func upload(_ url: URL) -> HTTPRequestOperation {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        return operation
    }

    @Test(arguments: Input.allCases, [false, true])
    func anInputStreamThatWasClosedIsAnError(_ input: Input, isFile: Bool) async throws {
        let server = try ScriptedServer { _ in .respond() }
        let stream = isFile ? InputStream(fileAtPath: "/dev/zero") : InputStream(data: Data("bytes".utf8))
        let closed = try #require(stream)
        closed.open()
        closed.close()
        let operation = upload(server.url)
        try input.set(closed, on: operation, length: 5)
        #expect(await error(of: operation) as? StreamError == .closed)
        server.stop()
    }

    @Test func aStreamThatIsTwoPartsOfAFormIsAnError() async throws {
        let server = try ScriptedServer { _ in .respond() }
        let stream = InputStream(data: Data("bytes".utf8))
        var form = MultipartFormData()
        for name in ["a", "b"] {
            try form.appendPart(
                withInputStream: stream,
                name: name,
                fileName: "file",
                length: 5,
                mimeType: "text/plain"
            )
        }
        let operation = upload(server.url)
        operation.bodySource = form.body
        #expect(await error(of: operation) as? StreamError == .closed)
        server.stop()
    }

    @Test func aProviderThatGivesTheSameStreamAgainIsAnError() async throws {
        let server = try ScriptedServer([.redirect(to: "/there", statusCode: 307), .respond()])
        let operation = upload(server.url)
        nonisolated(unsafe) let stream = InputStream(data: Data("bytes".utf8))
        operation.inputStream = stream
        operation.setBodyStreamProvider { stream }
        // The first reading closes it on a queue of its own.
        #expect(await error(of: operation) is StreamError)
        server.stop()
    }

    // MARK: - Closed meanwhile

    /// An operation that writes a file by a stream, and waits for the server.
    private func writer(
        _ server: ScriptedServer,
        _ folder: TemporaryDirectory,
        _ stream: OutputStream
    ) async throws -> HTTPRequestOperation {
        let operation = operation(server.url(path: "/slow"))
        operation.outputStream = stream
        operation.start()
        let path = folder.file("file").path
        try await eventually {
            (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) == Self.beginning
        }
        return operation
    }

    private func server(_ gate: Gate) throws -> ScriptedServer {
        try ScriptedServer { request in
            let answer = Answer.respond(body: .pattern(Self.body))
            return request.target == "/slow" ? answer.held(after: .body(Self.beginning), by: gate) : answer
        }
    }

    @Test func anOutputStreamThatItsOwnerClosesIsAnError() async throws {
        let (gate, folder) = (Gate(), try TemporaryDirectory())
        let server = try server(gate)
        let stream = try #require(OutputStream(url: folder.file("file"), append: false))
        let operation = try await writer(server, folder, stream)
        stream.close()
        gate.open()
        await #expect(throws: StreamError.closed) { try await operation.value }
    }

    // MARK: - Shared

    @Test(arguments: [false, true])
    func aSharedOutputStreamIsWrittenByTheFirstOperation(pauses: Bool) async throws {
        let (gate, folder) = (Gate(), try TemporaryDirectory())
        let server = try server(gate)
        let stream = try #require(OutputStream(url: folder.file("file"), append: false))
        let first = try await writer(server, folder, stream)
        if pauses {
            first.pause()
            try await networkThreadIsDone()
        }
        let second = operation(server.url)
        second.outputStream = stream
        #expect(await error(of: second) as? StreamError == .inUse)
        gate.open()
        if pauses { first.resume() }
        _ = try await first.value
        #expect(try Self.body.firstDifference(fromFile: folder.file("file")) == nil)

        let third = operation(server.url)
        third.outputStream = stream
        #expect(await error(of: third) as? StreamError == .closed)
    }

    @Test(arguments: Input.allCases)
    func aSharedInputStreamIsReadByTheFirstOperation(_ input: Input) async throws {
        let server = try ScriptedServer { _ in .respond() }
        let hold = Gate()
        let stream = WatchedStream(length: 200_000, heldBy: hold)
        let (first, second) = (upload(server.url), upload(server.url))
        try input.set(stream, on: first, length: 200_000)
        try input.set(stream, on: second, length: 200_000)
        first.start()
        try await stream.didRead.wait()
        #expect(await error(of: second) as? StreamError == .inUse)
        #expect(stream.closeCount == 0)
        hold.open()
        _ = try await first.value
        let received = try #require(server.requests.last { $0.body.count >= 200_000 })
        #expect(received.body.range(of: Data(repeating: 65, count: 200_000)) != nil)
        #expect(stream.closeCount == 1)
    }

    /// A stream that no byte came for is for the next one.
    @Test func aStreamThatNoByteCameForIsForTheNext() async throws {
        let server = try ScriptedServer([.respond(404), .respond(body: .pattern(Self.body))])
        let folder = try TemporaryDirectory()
        let stream = try #require(OutputStream(url: folder.file("file"), append: false))
        let first = operation(server.url)
        first.outputStream = stream
        #expect(await error(of: first) is ResponseSerializationError)
        let second = operation(server.url)
        second.outputStream = stream
        #expect(await error(of: second) == nil)
        #expect(try Self.body.firstDifference(fromFile: folder.file("file")) == nil)
    }

    /// Whatever they do to each other, one of them writes, and the process lives.
    @Test func manyThatShareAStream() async throws {
        let server = try ScriptedServer { _ in .respond(body: .pattern(Self.body)) }
        for _ in 0..<Rounds.count(50) {
            let stream = OutputStream(toMemory: ())
            let errors = Recorder<(any Error)?>()
            for _ in 0..<4 {
                let operation = operation(server.url)
                operation.outputStream = stream
                operation.setCompletion { _, _ in
                    errors.append(nil)
                } failure: { _, error in
                    errors.append(error)
                }
                operation.start()
            }
            let all = try await errors.wait(count: 4)
            #expect(all.count { $0 == nil } == 1)
            #expect(all.count { $0 is StreamError } == 3)
            let data = try #require(stream.property(forKey: .dataWrittenToMemoryStreamKey) as? Data)
            #expect(Self.body.firstDifference(from: data) == nil)
        }
    }
}
