import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Bodies of responses that lead to another request, or that only say why there is no file.
@Suite(.timeLimit(.minutes(1)))
struct UnusedBodyTests {
    private static let limit: Int64 = 64 * 1024
    /// The bytes that may come at once, and the one byte of the response that follows.
    private static let piece: Int64 = 64 * 1024 + 1

    /// Why there is another request.
    enum Reason: CaseIterable {
        case redirect, refusal, busyServer

        var status: Int {
            switch self {
            case .redirect: 302
            case .refusal: 401
            case .busyServer: 503
            }
        }

        var fields: FieldLines {
            switch self {
            case .redirect: ["Location": "/there"]
            case .refusal: ["WWW-Authenticate": "Basic realm=x"]
            case .busyServer: [:]
            }
        }
    }

    /// The way in which the body of the first response comes.
    enum Shape: CaseIterable {
        case empty, short, long, endless, untilClose, http10, brokenOff

        func answer(_ reason: Reason, _ gate: Gate) -> Answer {
            func body(_ body: AnswerBody) -> Answer { .respond(reason.status, reason.fields, body: body) }
            return switch self {
            case .empty: body("")
            case .short: body("moved")
            case .long: body(.generated(length: 1 << 30))
            case .endless: body(.generated(length: 1 << 40)).chunked()
            // The connection stays open: curl's test cases 43, 187, 1104 and 1141.
            case .untilClose: body("moved").untilClose().held(after: 5, by: gate)
            case .http10: body("moved").untilClose().http10().held(after: 5, by: gate)
            case .brokenOff: body(.generated(length: 1000)).breaking(after: 100)
            }
        }
    }

    enum Destination: CaseIterable {
        case memory, file, stream
    }

    private func operation(_ url: URL) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.cookieJar = nil
        operation.credential = Credential(user: UUID().uuidString, password: "p")
        operation.retryPolicy = RetryPolicy()
        operation.retryPolicy?.initialDelay = 0
        return operation
    }

    @Test(arguments: Reason.allCases, Shape.allCases)
    func itDelaysNothing(reason: Reason, shape: Shape) async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer([shape.answer(reason, gate), .respond(body: "x")])
        let operation = operation(server.url)
        operation.start()
        #expect(try await operation.value as? Data == Data("x".utf8))
        #expect(try #require(operation.metrics).bytesReceived <= Self.limit + Self.piece)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: Destination.allCases, [Shape.endless, .untilClose])
    func itDelaysNothingForAnyDestination(destination: Destination, shape: Shape) async throws {
        let gate = Gate()
        defer { gate.open() }
        let directory = try TemporaryDirectory()
        let file = directory.url.appendingPathComponent("file")
        let server = try ScriptedServer([shape.answer(.redirect, gate), .respond(body: "x")])
        let operation = operation(server.url)
        let stream = OutputStream(toMemory: ())
        switch destination {
        case .memory: break
        case .file: operation.outputFile = file
        case .stream: operation.outputStream = stream
        }
        operation.start()
        _ = try await operation.value
        let written: Any? =
            switch destination {
            case .memory: operation.responseData
            case .file: try Data(contentsOf: file)
            case .stream: stream.property(forKey: .dataWrittenToMemoryStreamKey)
            }
        #expect(written as? Data == Data("x".utf8))
    }

    /// The time limit: the only case that takes it.
    @Test func aSlowBodyIsCutOff() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer([
            .respond(302, ["Location": "/there"], body: "moved").held(after: 1, by: gate),
            .respond(body: "x"),
        ])
        #expect(try await operation(server.url).started.value as? Data == Data("x".utf8))
    }

    /// The ways in which the explanation of an error does not come to its end.
    enum Explanation: CaseIterable {
        case silent, trickling, cut, reset, tooShort

        func answer(_ status: Int, _ gate: Gate) -> Answer {
            let answer = Answer.respond(status, body: .generated(length: 60_000))
            return switch self {
            case .silent: answer.held(after: .body(10), by: gate)
            case .trickling: answer.throttled(to: 100)
            case .cut: answer.breaking(after: .body(10))
            case .reset: answer.resetting(after: .body(10))
            case .tooShort: answer.breaking(after: .body(59_999))
            }
        }
    }

    /// The status is the reason why there is no file, and not what becomes of the page that explains it.
    @Test(arguments: Explanation.allCases, [401, 404, 410])
    func anErrorBesideAFileNeedsNoEnd(explanation: Explanation, status: Int) async throws {
        let gate = Gate()
        defer { gate.open() }
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer { _ in explanation.answer(status, gate) }
        let toFile = operation(server.url)
        toFile.outputFile = directory.file("a")
        let download = DownloadOperation(request: URLRequest(url: server.url), to: directory.file("b"))
        for operation in [toFile, download] {
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.credential = nil
            operation.retryPolicy = RetryPolicy()
            operation.start()
        }
        for operation in [toFile, download] {
            let error = await #expect(throws: ResponseSerializationError.self) { try await operation.value }
            #expect(error?.reason == .unacceptableStatusCode(status))
        }
        #expect(server.requests.count == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == [])
    }

    @Test(arguments: [(0, 1), (1000, 1), (65536, 1), (65537, 2)])
    func afterAShortBodyTheConnectionIsReused(length: Int, connections: Int) async throws {
        let server = try ScriptedServer([
            .respond(302, ["Location": "/there"], body: .generated(length: length)), .respond(body: "x"),
        ])
        _ = try await operation(server.url).started.value
        #expect(server.connectionsAccepted == connections)
    }

    // MARK: - Bombs

    @Test(arguments: Reason.allCases, [60, 300])
    func itIsNotInflated(reason: Reason, megabytes: Int) async throws {
        var fields = reason.fields
        fields.append("Content-Encoding", "gzip")
        let bomb = AnswerBody.data(Zeros.inGzip(megabytes: megabytes))
        let server = try ScriptedServer([
            .respond(reason.status, fields, body: bomb).chunked(), .respond(body: "x"),
        ])
        let operation = operation(server.url)
        // Asking changes nothing.
        if megabytes == 60 { operation.setRedirect { _, request, _ in request } }
        _ = try await operation.started.value
        #expect(try #require(operation.metrics).bytesDecoded <= Self.limit + Self.piece)
    }

    @Test func aBombIsNotInflatedBeyondTheKeptBytesWhileAClosureDecides() async throws {
        let server = try ScriptedServer([
            .respond(
                401,
                ["WWW-Authenticate": "Basic realm=x", "Content-Encoding": "gzip"],
                body: .data(Zeros.inGzip(megabytes: 60))
            )
        ])
        let operation = operation(server.url)
        operation.setAuthenticationChallenge { _, _ in .continueWithoutCredential }
        _ = try? await operation.started.value
        #expect(operation.response?.statusCode == 401)
        #expect(operation.responseData?.count == 1 << 20)
        #expect(try #require(operation.metrics).bytesDecoded <= 1 << 20 + Self.piece)
    }

    // MARK: - Closures

    @Test(arguments: [Shape.long, .endless, .untilClose])
    func aClosureIsAskedAtTheHead(shape: Shape) async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer([shape.answer(.redirect, gate), .respond(body: "x")])
        let operation = operation(server.url)
        operation.setRedirect { _, request, _ in request }
        #expect(try await operation.started.value as? Data == Data("x".utf8))
    }

    @Test(arguments: [0, 5, 3 << 20])
    func aRedirectThatAClosureRefusesHasItsBody(length: Int) async throws {
        let server = try ScriptedServer([
            .respond(302, ["Location": "/there"], body: .generated(length: length))
        ])
        let operation = operation(server.url)
        operation.setRedirect { _, _, _ in nil }
        await #expect(throws: ResponseSerializationError.self) { try await operation.started.value }
        #expect(operation.responseData == PatternBody(seed: 1, length: length).data)
        #expect(server.requests.count == 1)
    }

    @Test func anOperationCanBeCancelledWhileAClosureThinks() async throws {
        let server = try ScriptedServer([Shape.endless.answer(.redirect, Gate())])
        let operation = operation(server.url)
        let isAsked = Gate()
        let mayAnswer = Gate()
        operation.setRedirect { _, request, _ in
            isAsked.open()
            try? mayAnswer.waitSynchronously()
            return request
        }
        operation.start()
        try await isAsked.wait()
        operation.cancel()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        mayAnswer.open()
        #expect(error?.code == .cancelled)
        #expect(server.requests.count == 1)
    }

    // MARK: - Errors

    @Test(arguments: [Destination.file, .stream])
    func anErrorBesideAFileIsCut(destination: Destination) async throws {
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer([.respond(404, body: .generated(length: 1 << 40)).chunked()])
        let operation = operation(server.url)
        if destination == .file { operation.outputFile = directory.url.appendingPathComponent("file") }
        if destination == .stream { operation.outputStream = OutputStream(toMemory: ()) }
        await #expect(throws: ResponseSerializationError.self) { try await operation.started.value }
        #expect(operation.responseData?.count == Int(Self.limit))
        #expect(try #require(operation.metrics).bytesReceived <= Self.limit + Self.piece)
    }
}

extension ConnectionOperation {
    /// The operation, started.
    fileprivate var started: Self {
        start()
        return self
    }
}
