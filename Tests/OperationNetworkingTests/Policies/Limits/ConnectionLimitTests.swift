import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Connections to one server, as the server counts them.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionLimitTests {
    private let callbacks = DispatchQueue(label: "callbacks")
    /// For a test that expects an order of starts: a queue of its own starts operations on several threads.
    private let starts = DispatchQueue(label: "starts")

    fileprivate func manager(limit: Int? = nil) -> OperationManager {
        let manager = OperationManager()
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = callbacks
        if let limit { manager.maximumConnectionsPerHost = limit }
        return manager
    }

    fileprivate func operation(_ manager: OperationManager, _ url: URL) -> HTTPRequestOperation {
        let operation = manager.operation(for: URLRequest(url: url))
        manager.operationQueue.addOperation(operation)
        return operation
    }

    @Test func sixIsTheDefaultOfOperationsAndManagers() {
        #expect(ConnectionOperation.maximumConnectionsPerHost == 6)
        let manager = manager()
        #expect(manager.maximumConnectionsPerHost == 6)
        manager.maximumConnectionsPerHost = 3
        let copy = manager.copy() as? OperationManager
        #expect(copy?.maximumConnectionsPerHost == 3)
        manager.maximumConnectionsPerHost = 0
        #expect(manager.maximumConnectionsPerHost == 1)
        #expect(copy?.maximumConnectionsPerHost == 3)
        #expect(ConnectionOperation.maximumConnectionsPerHost == 6)
    }

    @Test(arguments: [1, 3])
    func theRestWaitsAndStartsInOrder(limit: Int) async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "hello").held(by: gate)])
        let manager = manager(limit: limit)
        // Started here: a queue starts several at once, in any order.
        let operations = (0..<30).map {
            manager.operation(for: URLRequest(url: server.url(path: "/\($0)")))
        }
        for operation in operations { operation.start() }
        try await server.waitForRequests(count: limit)
        #expect(operations.count { $0.isExecuting } == 30)
        gate.open()
        for operation in operations { #expect(try await operation.value != nil) }
        #expect(server.connectionsAccepted == limit)
        // Of several connections the server may read any first.
        let order = server.requests.compactMap { Int($0.path.dropFirst()) }
        #expect((limit == 1 ? order : order.sorted()) == Array(0..<30))
    }

    @Test func eachManagerCountsItsOwn() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "hello").held(by: gate)])
        let managers = [manager(limit: 2), manager(limit: 3)]
        let alone = (0..<10).map { _ in HTTPRequestOperation(request: URLRequest(url: server.url)) }
        for operation in alone {
            operation.completionQueue = callbacks
            operation.start()
        }
        let operations = managers.flatMap { manager in (0..<10).map { _ in operation(manager, server.url) } }
        try await server.waitForRequests(count: 2 + 3 + 6)
        try await networkThreadIsDone()
        #expect(server.connectionsAccepted == 11)
        gate.open()
        for operation in operations + alone { #expect(try await operation.value != nil) }
        #expect(server.connectionsAccepted == 11)
    }

    @Test func waitingTransfersStartByPriority() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "hello").held(by: gate), .respond(body: "hello")])
        let manager = manager(limit: 1)
        let first = operation(manager, server.url(path: "/first"))
        try await server.waitForRequests()
        let waiting = [("/low", Operation.QueuePriority.low), ("/normal", .normal), ("/high", .veryHigh)].map
        {
            let operation = manager.operation(for: URLRequest(url: server.url(path: $0.0)))
            operation.queuePriority = $0.1
            operation.start()
            return operation
        }
        try await networkThreadIsDone()
        gate.open()
        for operation in waiting + [first] { #expect(try await operation.value != nil) }
        #expect(server.requests.map(\.path) == ["/first", "/high", "/normal", "/low"])
    }

    @Test func waitingTransfersCanBeCancelledAndPaused() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "hello").held(by: gate), .respond(body: "hello")])
        let manager = manager(limit: 1)
        manager.operationQueue.underlyingQueue = starts
        let operations = (0..<5).map { operation(manager, server.url(path: "/\($0)")) }
        try await server.waitForRequests()
        operations[1].cancel()
        operations[2].pause()
        await #expect(throws: URLError.self) { try await operations[1].value }
        gate.open()
        for index in [0, 3, 4] { #expect(try await operations[index].value != nil) }
        operations[2].resume()
        #expect(try await operations[2].value != nil)
        #expect(server.requests.map(\.path) == ["/0", "/3", "/4", "/2"])
        #expect(server.connectionsAccepted == 1)
    }

    /// Five seconds without a byte are too long, and more pass while the server keeps the first waiting: one that
    /// began after the others, and has a connection, is out of time.
    @Test func waitingIsNotATimeWithoutAByte() async throws {
        let gate = Gate()
        let silent = try ScriptedServer([.silence])
        let server = try ScriptedServer([.respond(body: "hello").held(by: gate)])
        let manager = manager(limit: 1)
        let first = operation(manager, server.url)
        try await server.waitForRequests()
        let waiting = (0..<5).map { _ in
            manager.operation(for: URLRequest(url: server.url, timeoutInterval: 5))
        }
        for operation in waiting { operation.start() }
        try await networkThreadIsDone()
        let late = HTTPRequestOperation(request: URLRequest(url: silent.url, timeoutInterval: 5))
        late.completionQueue = callbacks
        late.start()
        let error = await #expect(throws: URLError.self) { try await late.value }
        #expect(error?.code == .timedOut)
        gate.open()
        for operation in [first] + waiting { #expect(try await operation.value != nil) }
        #expect(server.connectionsAccepted == 1)
    }

    @Test func aRedirectCountsForTheServerThatItLeadsTo() async throws {
        let gate = Gate()
        let target = try ScriptedServer([.respond(body: "hello").held(by: gate)])
        let server = try ScriptedServer([.respond(302, ["Location": target.url.absoluteString])])
        let manager = manager(limit: 2)
        let operations = (0..<6).map { _ in operation(manager, server.url) }
        try await target.waitForRequests(count: 2)
        // All have left the first server, although the other one has its two.
        try await server.waitForAnswers(count: 6)
        #expect(server.connectionsAccepted <= 2)
        gate.open()
        for operation in operations { #expect(try await operation.value != nil) }
        #expect(target.connectionsAccepted == 2)
    }

    @Test func aHigherLimitCountsAtOnce() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "hello").held(by: gate)])
        let manager = manager(limit: 1)
        let operations = (0..<5).map { _ in operation(manager, server.url) }
        try await server.waitForRequests(count: 1)
        manager.maximumConnectionsPerHost = 4
        try await server.waitForRequests(count: 4)
        #expect(server.connectionsAccepted == 4)
        gate.open()
        for operation in operations { #expect(try await operation.value != nil) }
    }

    /// The body of the first goes to a stream without a reader.
    @Test func aHeldConnectionDelaysNobody() async throws {
        let directory = try TemporaryDirectory()
        let body = AnswerBody.generated(seed: 1, length: 8 << 20)
        let server = try ScriptedServer(routes: [
            "/long": [.respond(body: body)], "/short": [.respond(body: "hello")],
        ])
        let manager = manager(limit: 1)
        let fifo = try FIFO(in: directory)
        let long = manager.operation(for: URLRequest(url: server.url(path: "/long")))
        long.outputFile = fifo.url
        manager.operationQueue.addOperation(long)
        try await server.waitForRequests()
        #expect(try await operation(manager, server.url(path: "/short")).value != nil)
        #expect(!long.isFinished)
        long.cancel()
        _ = try? await long.value
    }
}

extension ConnectionLimitTests {
    /// The pause's stream cannot begin anew, so it keeps the connection.
    @Test func aConnectionHeldByAPauseDelaysNobody() async throws {
        let gate = Gate()
        let server = try ScriptedServer(routes: [
            "/long": [.respond(body: "0123456789").held(after: 5, by: gate)],
            "/short": [.respond(body: "hello")],
        ])
        let manager = manager(limit: 1)
        let long = manager.operation(for: URLRequest(url: server.url(path: "/long")))
        long.outputStream = OutputStream(toMemory: ())
        let progress = Recorder<Int64>()
        long.setDownloadProgress { _, total, _ in progress.append(total) }
        manager.operationQueue.addOperation(long)
        _ = try await progress.wait()
        long.pause()
        #expect(try await operation(manager, server.url(path: "/short")).value != nil)
        gate.open()
        long.resume()
        _ = try await long.value
        #expect(server.requests.count == 2)
    }
}

/// Connections to nginx, according to its log.
@Suite(.timeLimit(.minutes(3)), .enabled(if: RealServers.nginxTLS != nil))
struct RealConnectionLimitTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    /// When a connection carried a request.
    private struct Span {
        let connection: String
        let start: Double
        let end: Double
    }

    /// When requests with this mark were carried; nginx writes its log when they have ended.
    private func spans(_ mark: String, count: Int) async throws -> [Span] {
        let log = try #require(RealServers.nginxLog).deletingLastPathComponent()
            .appendingPathComponent("times.log")
        var lines: [[Substring]] = []
        try await eventually {
            lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
                .filter { $0.hasSuffix("?\(mark)") }.map { $0.split(separator: " ") }
            return lines.count >= count
        }
        return lines.compactMap { line in
            guard let end = Double(line[1]), let time = Double(line[2]) else { return nil }
            // Its clock has milliseconds.
            return Span(connection: String(line[0]), start: end - time + 0.002, end: end - 0.002)
        }
    }

    /// The connections that requests with this mark came over.
    private func connections(_ mark: String, count: Int) async throws -> Set<String> {
        Set(try await spans(mark, count: count).map(\.connection))
    }

    /// The number of connections that carried requests with this mark at once.
    private func most(_ mark: String, count: Int) async throws -> Int {
        let spans = try await spans(mark, count: count)
        return spans.map { one in
            Set(spans.filter { $0.start <= one.start && one.start < $0.end }.map(\.connection)).count
        }.max() ?? 0
    }

    private func manager(_ name: String) throws -> (OperationManager, TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        let copy = directory.file(name)
        try FileManager.default.copyItem(at: try #require(RealServers.authorities), to: copy)
        let manager = OperationManager()
        manager.trustAnchors = .file(copy)
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = callbacks
        return (manager, directory)
    }

    private func get(_ manager: OperationManager, _ url: URL, _ path: String, count: Int) async throws {
        let address = try #require(URL(string: path, relativeTo: url))
        let operations = (0..<count).map { _ in manager.operation(for: URLRequest(url: address)) }
        for operation in operations { manager.operationQueue.addOperation(operation) }
        for operation in operations { #expect(try await operation.value != nil) }
    }

    @Test func thousandRequestsOverHTTP1TakeSixConnectionsAtMost() async throws {
        let (manager, directory) = try manager("plain.pem")
        let mark = UUID().uuidString
        try await get(manager, try #require(RealServers.nginx), "/1k.bin?\(mark)", count: 1000)
        let count = try await connections(mark, count: 1000).count
        // Fewer where the operations come more slowly than nginx answers.
        #expect(count > 1 && count <= 6)
        withExtendedLifetime(directory) {}
    }

    @Test func thousandRequestsOverTLSWithHTTP1TakeSixConnectionsAtMost() async throws {
        let (manager, directory) = try manager("http1.pem")
        let mark = UUID().uuidString
        try await get(manager, try #require(NginxTLSServer.http1.url), "/1k.bin?\(mark)", count: 1000)
        let count = try await connections(mark, count: 1000).count
        // Fewer where the operations come more slowly than nginx answers.
        #expect(count > 1 && count <= 6)
        withExtendedLifetime(directory) {}
    }

    /// nginx takes 128 streams over each, libcurl 100; a request of those goes quickly.
    @Test func aConnectionOfHTTP2CountsOnceWhateverItCarries() async throws {
        let (manager, directory) = try manager("http2.pem")
        manager.maximumConnectionsPerHost = 1
        let mark = UUID().uuidString
        try await get(manager, try #require(RealServers.nginxTLS), "/1k.bin?\(mark)", count: 1000)
        #expect(try await connections(mark, count: 1000).count == 1)
        withExtendedLifetime(directory) {}
    }

    /// The server takes four streams over each connection: a request that finds none left goes back into the
    /// line.
    @Test(arguments: [1, 2, 6]) func aServerThatTakesFewStreamsGetsNoMoreConnections(limit: Int) async throws
    {
        let (manager, directory) = try manager("few.pem")
        manager.maximumConnectionsPerHost = limit
        let mark = UUID().uuidString
        try await get(manager, try #require(NginxTLSServer.tls13.url), "/64k.bin?\(mark)", count: 200)
        #expect(try await most(mark, count: 200) <= limit)
        // It refuses what it has not announced yet, and libcurl then leaves the connection.
        #expect(try await connections(mark, count: 200).count <= 3 * limit)
        withExtendedLifetime(directory) {}
    }
}
