import Dispatch
import Foundation
import FoundationNetworking
import Logging
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct LoggingObserverTests {
    /// Keeps what is written.
    private struct Keeper: LogHandler {
        struct Line: Sendable {
            let level: Logger.Level
            let message: String
            let metadata: [String: String]
        }

        let lines: Recorder<Line>
        var logLevel = Logger.Level.debug
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = event.metadata?.mapValues(\.description) ?? [:]
            lines.append(Line(level: event.level, message: "\(event.message)", metadata: metadata))
        }
    }

    private let lines = Recorder<Keeper.Line>()

    private var logger: Logger {
        Logger(label: "test") { [lines] _ in Keeper(lines: lines) }
    }

    private func operation(_ request: URLRequest) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.cookieJar = nil
        operation.addObserver(LoggingObserver(logger))
        return operation
    }

    /// Runs an operation to its last callback.
    @discardableResult
    private func run(_ operation: ConnectionOperation) async throws -> [Keeper.Line] {
        let isReported = Gate()
        operation.completionBlock = { isReported.open() }
        operation.start()
        try await isReported.wait()
        return lines.elements
    }

    @Test func anOperationHasALineForEachEvent() async throws {
        let server = try ScriptedServer([.redirect(to: "/there"), .respond(body: "hello")])
        let lines = try await run(operation(URLRequest(url: server.url)))
        #expect(lines.map(\.message) == ["started", "redirected", "response", "finished"])
        #expect(
            lines.allSatisfy {
                $0.level == .debug && $0.metadata["operation"] == lines[0].metadata["operation"]
            }
        )
        #expect(lines[0].metadata["method"] == "GET" && lines[0].metadata["url"] == server.url.absoluteString)
        #expect(lines[1].metadata["status"] == "302")
        #expect(lines[1].metadata["url"] == server.url(path: "/there").absoluteString)
        #expect(lines[2].metadata["status"] == "200")
        #expect(lines[3].metadata["status"] == "200" && lines[3].metadata["bytes"] == "5")
        #expect(Double(lines[3].metadata["seconds"] ?? "") != nil)
    }

    @Test func aFailureSaysWhy() async throws {
        let server = try ScriptedServer([.respond(404, body: "x")])
        let lines = try await run(operation(URLRequest(url: server.url)))
        #expect(lines.map(\.message) == ["started", "response", "failed"])
        #expect(lines[2].metadata["error"]?.contains("404") == true)
        #expect(lines[2].metadata["status"] == "404")
    }

    /// A server's text neither ends its line nor turns it around.
    @Test(arguments: ["\u{2028}", "\u{2029}", "\u{202E}", "\u{2066}", "\u{200F}", "\u{85}"])
    func aServersTextStaysInItsLine(text: String) async throws {
        let server = try ScriptedServer([.respond(200, ["Content-Type": "text/\(text)finished"], body: "x")])
        let operation = operation(URLRequest(url: server.url))
        operation.responseSerializer = JSONResponseSerializer()
        let lines = try await run(operation)
        let error = try #require(lines.last?.metadata["error"])
        #expect(error.contains("text/ finished"))
        #expect(!error.contains(text))
    }

    @Test func aRetryIsWritten() async throws {
        let server = try ScriptedServer([.respond(503), .respond(body: "x")])
        let operation = operation(URLRequest(url: server.url))
        var policy = RetryPolicy(maximumRetries: 1)
        policy.initialDelay = 0.001
        operation.retryPolicy = policy
        let lines = try await run(operation)
        #expect(lines.map(\.message) == ["started", "retrying", "response", "finished"])
        #expect(lines[1].metadata["cause"] == "status 503")
    }

    @Test func aPauseAndACancelAreWritten() async throws {
        let server = try ScriptedServer([.silence])
        let operation = operation(URLRequest(url: server.url))
        let isReported = Gate()
        operation.completionBlock = { isReported.open() }
        operation.start()
        operation.pause()
        operation.resume()
        operation.cancel()
        try await isReported.wait()
        #expect(lines.elements.map(\.message) == ["started", "paused", "resumed", "cancelled"])
    }

    @Test func bytesThatAreKeptAndBytesThatAreNotAreWritten() async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: 1000), .currentRepresentation.breaking(after: 1000),
            .currentRepresentation,
        ])
        try await run(scene.operation())
        let second = scene.operation()
        second.addObserver(LoggingObserver(logger))
        try await run(second)
        #expect(lines.elements.map(\.message).contains("resuming"))
        scene.server.setRepresentation(
            Representation(.pattern(PatternBody(seed: 2, length: 5000)), entityTag: .strong("v2"))
        )
        let third = scene.operation()
        third.addObserver(LoggingObserver(logger))
        try await run(third)
        #expect(lines.elements.map(\.message).contains("starting over"))
        #expect(lines.elements.last?.message == "finished")
    }

    @Test func noLineHoldsASecret() async throws {
        let server = try ScriptedServer([
            .respond(302, ["Location": "/there?session=hunter2", "Set-Cookie": "a=hunter2"]),
            .respond(500, ["Set-Cookie": "a=hunter2"], body: "hunter2"),
        ])
        let url = try #require(
            URL(string: "http://user:hunter2@127.0.0.1:\(server.port)/?token=hunter2&a=1#hunter2")
        )
        var request = URLRequest(url: url)
        for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key"] {
            request.setValue("hunter2", forHTTPHeaderField: name)
        }
        let lines = try await run(operation(request))
        #expect(lines.last?.message == "failed")
        for line in lines { #expect(!"\(line)".contains("hunter2")) }
        #expect(lines.first?.metadata["url"]?.contains("a=1") == true)
    }

    @Test func aManagerWritesOfEveryOperationItMakes() async throws {
        let server = try ScriptedServer { _ in .respond(body: "x") }
        let manager = OperationManager(baseURL: server.url)
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = DispatchQueue(label: "callbacks")
        manager.cookieJar = nil
        #expect(manager.logger == nil)
        manager.logger = logger
        #expect(manager.logger?.label == "test")
        try await run(manager.operation(for: URLRequest(url: server.url)))
        let directory = try TemporaryDirectory()
        let download = manager.downloadOperation(for: URLRequest(url: server.url), to: directory.file())
        try await run(download)
        #expect(Set(lines.elements.compactMap { $0.metadata["operation"] }).count == 2)
        #expect(lines.elements.filter { $0.message == "finished" }.count == 2)
        let copy = try #require(manager.copy() as? OperationManager)
        #expect(copy.logger?.label == "test")
    }

    @Test func aLoggerAboveDebugLogsNothing() async throws {
        let server = try ScriptedServer { _ in .respond(body: "x") }
        let manager = OperationManager(baseURL: server.url)
        manager.responseSerializer = HTTPResponseSerializer()
        manager.cookieJar = nil
        var logger = logger
        logger.logLevel = .info
        manager.logger = logger
        manager.completionQueue = DispatchQueue(label: "callbacks")
        let operation = manager.operation(for: URLRequest(url: server.url))
        // Nor does it cost anything.
        #expect(operation.observerCount == 0)
        #expect(try await run(operation).isEmpty)
        manager.logger = nil
        #expect(manager.logger == nil)
    }

    @Test func operationsThatNeverFinishAreForgotten() async throws {
        let observer = LoggingObserver(logger)
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        for _ in 0..<1_000 { observer.operationDidStart(ConnectionOperation(request: URLRequest(url: url))) }
        #expect(observer.operationCount < 100)
        // Each has a number of its own, also where another one had its address.
        #expect(Set(lines.elements.compactMap { $0.metadata["operation"] }).count == 1_000)
    }
}
