import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Destinations that fill up, close, fail or take nothing, beside operations that go on.
@Suite(.timeLimit(.minutes(2)))
struct FaultsOfSinksTests {
    private static let body = PatternBody(seed: 5, length: 2_000_000)
    private static let fullDevice = URL(fileURLWithPath: "/dev/full")

    private func server(_ gate: Gate? = nil) throws -> ScriptedServer {
        try ScriptedServer { _ in
            let answer = Answer.respond(body: .pattern(Self.body))
            return gate.map { answer.held(after: 100_000, by: $0) } ?? answer
        }
    }

    /// An operation whose body goes to `file`, by itself or by a stream.
    private func operation(
        _ server: ScriptedServer,
        to file: URL,
        usesStream: Bool = false
    ) -> WatchedOperation {
        let watched = WatchedOperation(server.url)
        if usesStream {
            watched.operation.outputStream = OutputStream(toFileAtPath: file.path, append: true)
        } else {
            watched.operation.outputFile = file
        }
        return watched
    }

    /// Puts `operation` into a queue: it is still waiting when others have finished.
    private func expectWait(_ operation: WatchedOperation, at server: ScriptedServer) async throws {
        let queue = OperationQueue.wide()
        queue.addOperation(operation.operation)
        try await server.waitForRequests()
        try await Bystanders(in: queue).finish()
        #expect(!operation.operation.isFinished)
    }

    /// The error of an operation, which ends once.
    private func onlyEnd(_ operation: WatchedOperation) async throws -> (any Error)? {
        let error = try await operation.end()
        #expect(operation.ends.elements.count == 1)
        return error
    }

    private func expectCancel(_ waiting: WatchedOperation) async throws {
        waiting.operation.cancel()
        #expect((try await onlyEnd(waiting) as? URLError)?.code == .cancelled)
    }

    private func expectPrefix(_ data: Data) {
        #expect(data == Self.body.data.prefix(data.count))
    }

    // MARK: - Full

    /// The server waits in the middle of the body: the error does not wait for it.
    @Test(arguments: [false, true]) func aFullDeviceIsAnErrorAtOnceBesideOthersThatFinish(usesStream: Bool)
        async throws
    {
        let gate = Gate()
        let server = try server(gate)
        let full = operation(server, to: Self.fullDevice, usesStream: usesStream)
        let queue = OperationQueue.wide()
        queue.addOperation(full.operation)
        let error = try #require(try await onlyEnd(full))
        #expect(error.posixCode == 28)
        if !usesStream {
            #expect((error as? CocoaError)?.code == .fileWriteOutOfSpace)
            #expect((error as? CocoaError)?.filePath == "/dev/full")
            #expect(error.localizedDescription.contains("/dev/full"))
        }
        try await Bystanders(in: queue).finish()
        gate.open()
    }

    @Test(arguments: [false, true]) func aSmallBodyThatDoesNotFitIsAnErrorToo(usesStream: Bool) async throws {
        let server = try ScriptedServer([.respond(body: "x")])
        let full = operation(server, to: Self.fullDevice, usesStream: usesStream)
        full.operation.start()
        #expect(try await onlyEnd(full)?.posixCode == 28)
        server.stop()
    }

    @Test(.enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func aDiskThatFillsUpIsAnErrorAndKeepsWhatFitted() async throws {
        let disk = try SmallDisk()
        let server = try server()
        let operation = WatchedOperation(server.url)
        let file = disk.file("body")
        operation.operation.outputFile = file
        let queue = OperationQueue.wide()
        queue.addOperation(operation.operation)
        try await Bystanders(in: queue).finish()
        let error = try #require(try await operation.end() as? CocoaError)
        #expect(error.code == .fileWriteOutOfSpace)
        #expect(error.posixCode == 28)
        #expect(error.filePath == file.path)
        let there = try Data(contentsOf: file)
        #expect(there.count == SmallDisk.capacity)
        expectPrefix(there)

        // There is room again: nothing of the failure sticks to the file.
        try FileManager.default.removeItem(at: file)
        let small = try ScriptedServer([.respond(body: "fits")])
        let next = WatchedOperation(small.url)
        next.operation.outputFile = file
        next.operation.start()
        #expect(try await next.end() == nil)
        #expect(try Data(contentsOf: file) == Data("fits".utf8))
        server.stop()
    }

    /// A failure while the operation is paused is its error when it is resumed: nothing is asked for behind
    /// bytes that are not there.
    @Test func aWriteThatFailsDuringAPauseFailsTheOperationWhenItContinues() async throws {
        let gate = Gate()
        let server = try server(gate)
        let stream = ScriptedStream(toMemory: ())
        let room = Gate()
        stream.room = room
        stream.answers = [.takes(10), .returns(-1, CocoaError(.fileWriteUnknown))]
        let (looks, closings) = (stream.looks, stream.record.closings)
        let operation = WatchedOperation(server.url)
        operation.operation.outputStream = stream
        operation.operation.start()
        try await looks.wait()
        operation.operation.pause()
        // Nothing names what the stream has: its connection is held, until there is nothing to hold it for.
        try await server.waitForOpenConnections(1)
        room.open()
        try await closings.wait()
        try await server.waitForOpenConnections(0)
        #expect(!operation.operation.isFinished)
        operation.operation.resume()
        #expect((try await operation.end() as? CocoaError)?.code == .fileWriteUnknown)
        #expect(server.requests.count == 1)
        gate.open()
    }

    // MARK: - FIFOs

    @Test func aFIFOWaitsForAReaderWhileOthersFinishAndGetsEveryByte() async throws {
        let server = try server()
        let directory = try TemporaryDirectory()
        let fifo = try FIFO(in: directory)
        let waiting = operation(server, to: fifo.url)
        try await expectWait(waiting, at: server)

        let received = fifo.read()
        #expect(try await waiting.end() == nil)
        #expect(Self.body.firstDifference(from: try await received.wait()[0]) == nil)
        server.stop()
    }

    @Test func aSmallBodyWaitsForAReaderToo() async throws {
        let server = try ScriptedServer([.respond(body: "small")])
        let directory = try TemporaryDirectory()
        let fifo = try FIFO(in: directory)
        let waiting = operation(server, to: fifo.url)
        waiting.operation.start()
        try await server.waitForAnswers()
        let received = fifo.read()
        #expect(try await waiting.end() == nil)
        #expect(try await received.wait()[0] == Data("small".utf8))
        server.stop()
    }

    /// Neither operation could end otherwise: there is no reader.
    @Test(arguments: [5, 2_000_000]) func aFIFOThatNobodyReadsIsCancelled(count: Int) async throws {
        let server = try ScriptedServer { _ in .respond(body: .generated(length: count)) }
        let directory = try TemporaryDirectory()
        let fifo = try FIFO(in: directory)
        let waiting = operation(server, to: fifo.url)
        try await expectWait(waiting, at: server)
        try await expectCancel(waiting)
        server.stop()
    }

    @Test func aFIFOThatIsOpenAndFullIsCancelled() async throws {
        let server = try server()
        let directory = try TemporaryDirectory()
        let fifo = try FIFO(in: directory)
        let reader = open(fifo.url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        let waiting = operation(server, to: fifo.url)
        try await expectWait(waiting, at: server)
        try await expectCancel(waiting)
        server.stop()
    }

    @Test(arguments: [false, true]) func aReaderThatGoesAwayIsAnError(usesStream: Bool) async throws {
        let server = try server()
        let directory = try TemporaryDirectory()
        let fifo = try FIFO(in: directory)
        let broken = operation(server, to: fifo.url, usesStream: usesStream)
        let received = fifo.read(atMost: 10_000)
        broken.operation.start()
        #expect(try await onlyEnd(broken)?.posixCode == 32)
        expectPrefix(try await received.wait()[0])
        server.stop()
    }

    /// The pipe is full when its reader goes: nothing will ever make room in it.
    @Test func aReaderThatGoesAwayFromAFullFIFOIsAnError() async throws {
        let server = try server()
        let directory = try TemporaryDirectory()
        let fifo = try FIFO(in: directory)
        let reader = open(fifo.url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let broken = operation(server, to: fifo.url)
        try await expectWait(broken, at: server)
        close(reader)
        #expect(try await onlyEnd(broken)?.posixCode == 32)
        server.stop()
    }

    // MARK: - Streams

    @Test func aStreamWithoutRoomForLongGetsEverythingInTheEnd() async throws {
        let server = try server()
        let stream = ScriptedStream(toMemory: ())
        let room = Gate()
        stream.room = room
        stream.answers = [.takes(70_000)]
        let (looks, written, closings) = (stream.looks, stream.record.written, stream.record.closings)
        let slow = WatchedOperation(server.url, timeout: 1)
        slow.operation.outputStream = stream
        let queue = OperationQueue.wide()
        queue.addOperation(slow.operation)
        // Longer than its timeout, which is the server's only.
        try await looks.wait(count: 35)
        try await Bystanders(in: queue).finish()
        #expect(!slow.operation.isFinished)
        room.open()
        #expect(try await slow.end() == nil)
        #expect(Self.body.firstDifference(from: written.elements.reduce(Data(), +)) == nil)
        #expect(closings.elements.count == 1)
        server.stop()
    }

    struct StreamFault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answers: [ScriptedStream.Answer]
        /// `nil`: ``StreamError/closed``.
        let code: CocoaError.Code?
    }

    static let streamFaults = [
        StreamFault(
            testDescription: "returns 0",
            answers: [.takes(1000), .returns(0, nil)],
            code: .fileWriteOutOfSpace
        ),
        StreamFault(
            testDescription: "fails",
            answers: [.takes(1000), .returns(-1, CocoaError(.fileWriteNoPermission))],
            code: .fileWriteNoPermission
        ),
        StreamFault(
            testDescription: "fails without saying why",
            answers: [.takes(1000), .returns(-1, nil)],
            code: .fileWriteUnknown
        ),
        StreamFault(testDescription: "closes", answers: [.takes(1000), .closes], code: nil),
    ]

    /// The server waits in the middle of the body: the error does not wait for it.
    @Test(arguments: streamFaults) func aStreamThatFailsMidwayIsAnErrorAtOnce(_ fault: StreamFault)
        async throws
    {
        let gate = Gate()
        let server = try server(gate)
        let stream = ScriptedStream(toMemory: ())
        stream.answers = fault.answers
        let (written, closings) = (stream.record.written, stream.record.closings)
        let operation = WatchedOperation(server.url)
        operation.operation.outputStream = stream
        let queue = OperationQueue.wide()
        queue.addOperation(operation.operation)
        let error = try await onlyEnd(operation)
        #expect((error as? CocoaError)?.code == fault.code)
        #expect((error as? StreamError == .closed) == (fault.code == nil))
        expectPrefix(written.elements.reduce(Data(), +))
        try await closings.wait()
        try await Bystanders(in: queue).finish()
        gate.open()
    }

    /// Nothing is written that could fail.
    @Test func aStreamThatCannotBeOpenedIsAnErrorForAnEmptyBodyToo() async throws {
        let server = try ScriptedServer([.respond(200, [:], body: "")])
        let operation = WatchedOperation(server.url)
        operation.operation.outputStream = OutputStream(
            toFileAtPath: "/does/not/exist/file",
            append: false
        )
        operation.operation.start()
        #expect(try await onlyEnd(operation) != nil)
        server.stop()
    }

    @Test func aStreamToABufferThatIsTooSmallIsAnError() async throws {
        let server = try server()
        let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: 50_000)
        defer { buffer.deallocate() }
        let operation = WatchedOperation(server.url)
        operation.operation.outputStream = OutputStream(toBuffer: buffer, capacity: 50_000)
        operation.operation.start()
        #expect(try await onlyEnd(operation) != nil)
        server.stop()
    }
}
