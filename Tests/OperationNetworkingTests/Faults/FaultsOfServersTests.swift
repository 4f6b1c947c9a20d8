import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Servers that refuse, reset, stall, break off and talk nonsense: a typed error, exactly once, what came is kept, and
/// whatever else is in the queue goes on.
@Suite(.timeLimit(.minutes(2)))
struct FaultsOfServersTests {
    /// The action of the server, after it was held in the middle for as long as others run.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: @Sendable (Gate) -> Answer
        let code: URLError.Code
        /// Whether a body begins, and how much of it may come at most.
        var bodyCount: Int?

        init(
            _ name: String,
            _ code: URLError.Code,
            bodyCount: Int? = nil,
            _ answer: @escaping @Sendable (Gate) -> Answer
        ) {
            testDescription = name
            self.code = code
            self.bodyCount = bodyCount
            self.answer = answer
        }
    }

    private static let body = PatternBody(seed: 4, length: 300_000)

    private static var whole: Answer {
        .respond(body: .pattern(body))
    }

    static let faults: [Fault] = [
        Fault("reset before the head", .networkConnectionLost) { gate in
            whole.held(after: .wire(0), by: gate).resetting(after: .wire(0))
        },
        Fault("closed before the head", .networkConnectionLost) { gate in
            whole.held(after: .wire(0), by: gate).breaking(after: .wire(0))
        },
        Fault("reset within the head", .networkConnectionLost) { gate in
            whole.held(after: .wire(25), by: gate).resetting(after: .wire(25))
        },
        Fault("closed within the head", .networkConnectionLost) { gate in
            whole.held(after: .wire(25), by: gate).breaking(after: .wire(25))
        },
        Fault("reset within the body", .networkConnectionLost, bodyCount: 100_000) { gate in
            whole.held(after: 100_000, by: gate).resetting(after: 100_000)
        },
        Fault("a body shorter than its length", .networkConnectionLost, bodyCount: 100_000) { gate in
            whole.held(after: 100_000, by: gate).breaking(after: 100_000)
        },
        Fault("a chunk that breaks off", .networkConnectionLost, bodyCount: 100_000) { gate in
            whole.chunked().held(after: 100_000, by: gate).breaking(after: 100_000)
        },
        Fault("chunks without the last one", .networkConnectionLost, bodyCount: 300_000) { gate in
            whole.chunked(isTerminated: false).held(after: 100_000, by: gate)
        },
        Fault("not HTTP", .badServerResponse) { gate in
            .raw("SSH-2.0-OpenSSH_9.2\r\nHTTP/1.1 200 OK\r\n\r\n").held(after: .wire(0), by: gate)
        },
        Fault("random bytes", .badServerResponse) { gate in
            .raw(.generated(seed: 11, length: 50_000)).held(after: .wire(0), by: gate)
        },
        Fault("random bytes in the head", .badServerResponse) { gate in
            .raw("HTTP/1.1 200 OK\r\n\u{1}\u{2}\u{3} x\r\nContent-Length: 3\r\n\r\nabc")
                .held(after: .wire(17), by: gate)
        },
        Fault("random bytes for chunks", .networkConnectionLost, bodyCount: 0) { gate in
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n~~~\r\n~~~~~~~~")
                .held(after: .wire(10), by: gate)
        },
    ]

    @Test(arguments: faults, FaultDestination.allCases)
    func aFaultIsOneTypedErrorBesideOthersThatFinish(_ fault: Fault, _ destination: FaultDestination)
        async throws
    {
        let gate = Gate()
        let server = try ScriptedServer { _ in fault.answer(gate) }
        let directory = try TemporaryDirectory()
        let file = directory.file("body")
        try Data("precious".utf8).write(to: file)
        let faulty = WatchedOperation(server.url)
        if destination == .file { faulty.operation.outputFile = file }
        let stream = StreamRecord()
        if destination == .stream { faulty.operation.outputStream = stream.make() }
        let queue = OperationQueue.wide()
        queue.addOperation(faulty.operation)
        try await gate.waitForArrivals()

        try await Bystanders(in: queue).finish()
        #expect(!faulty.operation.isFinished)

        gate.open()
        let error = try #require(try await faulty.end() as? URLError)
        #expect(error.code == fault.code)
        #expect((faulty.operation.error as? URLError)?.code == fault.code)
        #expect(faulty.operation.responseObject == nil)
        #expect(faulty.ends.elements.count == 1)
        try await checkWhatIsThere(fault, destination, faulty.operation, file, stream)
        server.stop()
    }

    /// The received bytes are in the file, each in its place, and nothing else.
    private func checkWhatIsThere(
        _ fault: Fault,
        _ destination: FaultDestination,
        _ operation: HTTPRequestOperation,
        _ file: URL,
        _ stream: StreamRecord
    ) async throws {
        let came = Int(operation.metrics?.bytesReceived ?? -1)
        #expect(came <= fault.bodyCount ?? 0)
        let there: Data
        switch destination {
        case .memory:
            there = operation.responseData ?? Data()
            #expect(there.count == came)
        case .file:
            guard fault.bodyCount != nil else {
                return #expect(try Data(contentsOf: file) == Data("precious".utf8))
            }
            there = try Data(contentsOf: file)
            #expect(there.count == came)
            #expect(operation.responseData == nil)
        case .stream:
            // It is closed when the operation has ended; what waits for it is dropped.
            if fault.bodyCount != nil { try await stream.closings.wait() }
            if fault.bodyCount ?? 0 == 0 { #expect(stream.openings.elements.isEmpty) }
            there = stream.bytes
            #expect(there.count <= came)
            #expect(operation.responseData == nil)
        }
        #expect(there == Self.body.data.prefix(there.count))
    }

    @Test(arguments: FaultDestination.allCases)
    func aRefusedConnectionIsOneTypedErrorBesideOthersThatFinish(_ destination: FaultDestination) async throws
    {
        let closed = try ScriptedServer([.respond()])
        let url = closed.url
        closed.stop()
        let directory = try TemporaryDirectory()
        let file = directory.file("body")
        let queue = OperationQueue.wide()
        let refused = (0..<8).map { _ in WatchedOperation(url) }
        for one in refused {
            if destination == .file { one.operation.outputFile = file }
            if destination == .stream { one.operation.outputStream = OutputStream(url: file, append: false) }
            queue.addOperation(one.operation)
        }
        try await Bystanders(in: queue).finish()
        for one in refused {
            let error = try await one.end() as? URLError
            #expect(error?.code == .cannotConnectToHost)
            #expect(error?.curlCode == 7)
            #expect(one.ends.elements.count == 1)
        }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test(arguments: FaultDestination.allCases)
    func aSilentServerTimesOutAndReceivedBytesAreKept(_ destination: FaultDestination) async throws {
        let server = try ScriptedServer { _ in Self.whole.stalling(after: 100_000) }
        let directory = try TemporaryDirectory()
        let file = directory.file("body")
        let silent = WatchedOperation(server.url, timeout: 1)
        if destination == .file { silent.operation.outputFile = file }
        let stream = StreamRecord()
        if destination == .stream { silent.operation.outputStream = stream.make() }
        let queue = OperationQueue.wide()
        queue.addOperation(silent.operation)
        try await Bystanders(in: queue).finish()

        let error = try await silent.end() as? URLError
        #expect(error?.code == .timedOut)
        #expect(silent.ends.elements.count == 1)
        let body = Self.body.data.prefix(100_000)
        switch destination {
        case .memory:
            #expect(silent.operation.responseData == body)
        case .file:
            #expect(try Data(contentsOf: file) == body)
        case .stream:
            try await stream.closings.wait()
            #expect(stream.bytes == body.prefix(stream.bytes.count))
        }
        server.stop()
    }

    @Test(arguments: FaultDestination.allCases)
    func aSilentServerBlocksNobodyAndCanBeCancelledAtOnce(_ destination: FaultDestination) async throws {
        let server = try ScriptedServer { _ in .silence }
        let directory = try TemporaryDirectory()
        let file = directory.file("body")
        let silent = WatchedOperation(server.url, timeout: 0)
        if destination == .file { silent.operation.outputFile = file }
        if destination == .stream { silent.operation.outputStream = OutputStream(url: file, append: false) }
        let queue = OperationQueue.wide()
        queue.addOperation(silent.operation)
        try await server.waitForStalls()
        try await Bystanders(in: queue).finish()
        #expect(!silent.operation.isFinished)
        silent.operation.cancel()
        #expect((try await silent.end() as? URLError)?.code == .cancelled)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        server.stop()
    }

    /// As made by Python's gzip, without its last ten bytes.
    @Test func aTruncatedGzipBodyIsAnErrorAndKeepsWhatWasDecoded() async throws {
        let whole = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11HIQKIAn6HKCRMAAAA="))
        let gate = Gate()
        let server = try ScriptedServer { _ in
            .respond(200, ["Content-Encoding": "gzip"], body: .data(whole.dropLast(10))).held(
                after: 12,
                by: gate
            )
        }
        let coded = WatchedOperation(server.url)
        let queue = OperationQueue.wide()
        queue.addOperation(coded.operation)
        try await gate.waitForArrivals()
        try await Bystanders(in: queue).finish()
        #expect(!coded.operation.isFinished)
        gate.open()
        #expect((try await coded.end() as? URLError)?.code == .cannotDecodeRawData)
        #expect(coded.ends.elements.count == 1)
        let there = try #require(coded.operation.responseString)
        #expect("hello, hello, hello".hasPrefix(there))
    }
}
