import Dispatch
import Foundation
import FoundationNetworking
import Logging
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Observers of every operation that a manager makes.
@Suite(.timeLimit(.minutes(1)))
struct ManagerObserverTests {
    private let callbacks = DispatchQueue(label: "callbacks")
    private let listener = EventListener()

    private static let usual = ["started", "response", "finished"]

    private func manager(_ server: ScriptedServer) -> OperationManager {
        let manager = OperationManager(baseURL: server.url)
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = callbacks
        return manager
    }

    /// The observers that an operation has when it is made.
    private func count(_ manager: OperationManager) throws -> Int {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        return manager.operation(for: URLRequest(url: url)).observerCount
    }

    // MARK: - The operations

    @Test func aRequestIsReportedInOrder() async throws {
        let server = try ScriptedServer([.redirect(to: "/there"), .respond(body: "four")])
        let manager = manager(server)
        manager.addObserver(listener)
        try await manager.get("a")
        #expect(
            try await listener.events.wait(count: 4) == ["started", "redirected", "response", "finished"]
        )
        #expect(listener.downloaded.elements.last == 4)
    }

    @Test func aRetryIsReported() async throws {
        let server = try ScriptedServer([.respond(503), .respond(body: "four")])
        let manager = manager(server)
        var policy = RetryPolicy(maximumRetries: 1)
        policy.initialDelay = 0.001
        manager.retryPolicy = policy
        manager.addObserver(listener)
        try await manager.get("a")
        #expect(try await listener.events.wait(count: 4) == ["started", "retrying", "response", "finished"])
    }

    @Test func anUploadIsReported() async throws {
        let server = try ScriptedServer([.respond(body: "x")])
        let manager = manager(server)
        manager.addObserver(listener)
        try await manager.upload(.data(Data("seven b".utf8)), to: "a")
        #expect(try await listener.events.wait(count: 3) == Self.usual)
        #expect(listener.uploaded.elements.last == 7)
    }

    @Test func aDownloadIsReported() async throws {
        let server = try ScriptedServer([.respond(body: "four")])
        let folder = try TemporaryDirectory()
        let manager = manager(server)
        manager.addObserver(listener)
        let download = manager.downloadOperation(for: URLRequest(url: server.url), to: folder.file())
        manager.operationQueue.addOperation(download)
        _ = try await download.savedFile
        #expect(try await listener.events.wait(count: 3) == Self.usual)
        #expect(listener.downloaded.elements.last == 4)
    }

    @Test func eachMemberOfABatchIsReported() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let folder = try TemporaryDirectory()
        let manager = manager(server)
        manager.addObserver(listener)
        let items = (0..<5).map {
            DownloadItem(url: server.url(path: "\($0)"), destination: folder.file("\($0)"))
        }
        let batch = try manager.downloads(items)
        #expect(await batch.results().count == 5)
        #expect(try await listener.paths.wait(count: 5).sorted() == (0..<5).map { "/\($0)" })
        let events = try await listener.events.wait(count: 15)
        #expect(events.sorted() == (0..<5).flatMap { _ in Self.usual }.sorted())
    }

    @Test func earlierOperationsAreNotReported() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = manager(server)
        let operation = manager.operation(for: URLRequest(url: server.url))
        manager.addObserver(listener)
        operation.start()
        _ = try await operation.value
        callbacks.sync {}
        #expect(listener.events.elements.isEmpty)
    }

    // MARK: - Several observers

    /// Writes into the record of the listeners.
    private struct Writer: LogHandler {
        let events: Recorder<String>
        var logLevel = Logger.Level.debug
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            events.append("logger \(event.message)")
        }
    }

    @Test func observersAreNotifiedInTheOrderOfAddingAndBeforeTheOperationsOwn() async throws {
        let server = try ScriptedServer([.respond(body: "four")])
        let manager = manager(server)
        let events = Recorder<String>()
        manager.addObserver(EventListener("first", in: events))
        manager.logger = Logger(label: "test") { _ in Writer(events: events) }
        manager.addObserver(EventListener("second", in: events))
        let operation = manager.operation(for: URLRequest(url: server.url))
        operation.addObserver(EventListener("own", in: events))
        operation.start()
        let names = ["first", "logger", "second", "own"]
        let expected = Self.usual.flatMap { event in names.map { "\($0) \(event)" } }
        #expect(try await events.wait(count: 12) == expected)
        manager.logger = nil
        #expect(manager.logger == nil)
        #expect(try count(manager) == 2)
    }

    @Test func anObserverThatIsAddedAgainIsNotifiedOnce() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = manager(server)
        let first = manager.addObserver(listener)
        let second = manager.addObserver(listener)
        try await manager.get("a")
        #expect(try await listener.events.wait(count: 3) == Self.usual)
        callbacks.sync {}
        #expect(listener.events.elements.count == 3)
        first.end()
        #expect(try count(manager) == 0)
        // The observation of the earlier entry does not end the later one.
        manager.addObserver(listener)
        second.end()
        #expect(try count(manager) == 1)
    }

    // MARK: - Removing

    /// A server whose answers wait for the gate, from the first byte on.
    private func held(by gate: Gate) throws -> ScriptedServer {
        try ScriptedServer([.respond(body: "four").held(after: .wire(0), by: gate)])
    }

    @Test(arguments: [true, false])
    func aRemovedObserverIsNotNotifiedOfRunningOperations(hasObservation: Bool) async throws {
        let gate = Gate()
        let server = try held(by: gate)
        let manager = manager(server)
        let leaving = EventListener()
        let observation = manager.addObserver(leaving)
        manager.addObserver(listener)
        let operation = try #require(manager.get("a", success: nil))
        try await listener.events.wait()
        if hasObservation { observation.end() } else { manager.removeObserver(leaving) }
        gate.open()
        _ = try await operation.value
        // The value comes before the end is reported.
        #expect(try await listener.events.wait(count: 3) == Self.usual)
        try await manager.get("b")
        #expect(try await listener.events.wait(count: 6) == Self.usual + Self.usual)
        #expect(leaving.events.elements == ["started"])
        observation.end()
        manager.removeObserver(leaving)
        #expect(try count(manager) == 1)
    }

    @Test func aRemovedObserverIsNotKept() async throws {
        let server = try ScriptedServer([.silence])
        let manager = manager(server)
        let events = Recorder<String>()
        weak var kept: EventListener?
        let observation: OperationObservation
        do {
            let listener = EventListener(in: events)
            kept = listener
            observation = manager.addObserver(listener)
        }
        let operation = try #require(manager.get("a", success: nil))
        try await events.wait()
        callbacks.sync {}
        #expect(kept != nil)
        observation.end()
        #expect(kept == nil)
        operation.cancel()
    }

    /// An operation of an observed manager that is gone.
    private func orphan(
        _ server: ScriptedServer,
        _ observer: EventListener
    ) -> (operation: HTTPRequestOperation, observation: OperationObservation) {
        let manager = manager(server)
        let observation = manager.addObserver(observer)
        return (manager.operation(for: URLRequest(url: server.url)), observation)
    }

    @Test func anObservationEndsAfterItsManager() async throws {
        let gate = Gate()
        let server = try held(by: gate)
        let leaving = EventListener()
        let (operation, observation) = orphan(server, leaving)
        operation.addObserver(listener)
        operation.start()
        try await listener.events.wait()
        observation.end()
        gate.open()
        #expect(try await listener.events.wait(count: 3) == Self.usual)
        #expect(leaving.events.elements == ["started"])
    }

    @Test func anOperationRemovesAnObserverOfItsManagerFromItself() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = manager(server)
        manager.addObserver(listener)
        let operation = manager.operation(for: URLRequest(url: server.url))
        operation.removeObserver(listener)
        operation.start()
        _ = try await operation.value
        callbacks.sync {}
        #expect(listener.events.elements.isEmpty)
        try await manager.get("a")
        #expect(try await listener.events.wait(count: 3) == Self.usual)
    }

    // MARK: - Copies of operations

    /// Runs an operation to its end, after which it has let go of everything.
    private func run(_ operation: HTTPRequestOperation) async throws {
        operation.start()
        _ = try await operation.value
        // The value comes before the end is reported, which may wait for a turn of its own on the queue.
        for _ in 0..<2 { callbacks.sync {} }
        #expect(operation.observerCount == 0)
    }

    @Test func aCopyOfAnEndedOperationIsReported() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = manager(server)
        let events = Recorder<String>()
        manager.addObserver(EventListener("first", in: events))
        manager.logger = Logger(label: "test") { _ in Writer(events: events) }
        let operation = manager.operation(for: URLRequest(url: server.url))
        try await run(operation)
        let expected = Self.usual.flatMap { ["first \($0)", "logger \($0)"] }
        #expect(events.elements == expected)
        let copy = operation.copied()
        try await run(copy)
        #expect(events.elements == expected + expected)
        try await run(copy.copied())
        #expect(events.elements == expected + expected + expected)
    }

    @Test func aCopyOfAnEndedDownloadIsReported() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let folder = try TemporaryDirectory()
        let manager = manager(server)
        manager.addObserver(listener)
        let download = manager.downloadOperation(for: URLRequest(url: server.url), to: folder.file())
        download.replacesFile = true
        try await run(download)
        try await run(download.copied())
        #expect(listener.events.elements == Self.usual + Self.usual)
    }

    @Test func aCopyIsReportedToTheObserversOfItsTime() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = manager(server)
        let events = Recorder<String>()
        let observation = manager.addObserver(EventListener("old", in: events))
        manager.logger = Logger(label: "test") { _ in Writer(events: events) }
        let operation = manager.operation(for: URLRequest(url: server.url))
        try await run(operation)
        observation.end()
        manager.logger = nil
        manager.addObserver(EventListener("new", in: events))
        try await run(operation.copied())
        #expect(events.elements.suffix(3) == ["new started", "new response", "new finished"])
        #expect(events.elements.count == 9)
    }

    @Test func anOperationsOwnObserversAreNotNotifiedOfItsCopies() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = manager(server)
        let events = Recorder<String>()
        manager.addObserver(EventListener("manager", in: events))
        let operation = manager.operation(for: URLRequest(url: server.url))
        operation.addObserver(EventListener("own", in: events))
        // Before the end, when it still has both.
        let copy = operation.copied()
        copy.addObserver(EventListener("copy", in: events))
        try await run(copy)
        #expect(events.elements == Self.usual.flatMap { ["manager \($0)", "copy \($0)"] })
        operation.cancel()
    }

    @Test func aCopyRunsWithoutTheManagerAndDoesNotKeepIt() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        weak var kept: OperationManager?
        func made() -> HTTPRequestOperation {
            let manager = manager(server)
            kept = manager
            manager.addObserver(listener)
            return manager.operation(for: URLRequest(url: server.url))
        }
        let operation = made()
        #expect(kept == nil)
        // Before its end the operation has them.
        try await run(operation.copied())
        try await run(operation)
        #expect(listener.events.elements == Self.usual + Self.usual)
        try await run(operation.copied())
        #expect(listener.events.elements.count == 6)
    }

    // MARK: - Copies of managers, and archives

    @Test func aCopyHasTheObserversAndRemovesThemApart() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = manager(server)
        let observation = manager.addObserver(listener)
        let copy = manager.copied()
        observation.end()
        #expect(try count(manager) == 0)
        try await copy.get("a")
        #expect(try await listener.events.wait(count: 3) == Self.usual)
        copy.removeObserver(listener)
        #expect(try count(copy) == 0)
    }

    @Test func anArchiveHasNone() throws {
        let manager = OperationManager()
        manager.addObserver(listener)
        #expect(try count(OperationManager(archive: manager.archive)) == 0)
    }

    // MARK: - Threads

    /// A listener, and the number of its events when it was removed.
    private struct Departure: Sendable {
        let listener: EventListener
        let count: Int

        init(_ listener: EventListener) {
            self.listener = listener
            count = listener.events.elements.count
        }
    }

    @Test func observersComeAndGoWhileOperationsAreMade() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = manager(server)
        manager.addObserver(listener)
        let rounds = Rounds.count(200)
        let departures = Recorder<Departure>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<2 {
                group.addTask {
                    await onDispatchThread {
                        for _ in 0..<rounds {
                            let passing = EventListener()
                            let observation = manager.addObserver(passing)
                            _ = manager.operation(for: URLRequest(url: server.url))
                            if number == 0 { observation.end() } else { manager.removeObserver(passing) }
                            // The event that was being reported to it is over then.
                            callbacks.sync {}
                            departures.append(Departure(passing))
                        }
                    }
                }
            }
            for _ in 0..<rounds { try await manager.get("a") }
            try await group.waitForAll()
        }
        let events = try await listener.events.wait(count: 3 * rounds)
        callbacks.sync {}
        #expect(events.count { $0 == "started" } == rounds && events.count { $0 == "finished" } == rounds)
        #expect(departures.elements.count == 2 * rounds)
        #expect(departures.elements.allSatisfy { $0.listener.events.elements.count == $0.count })
        #expect(try count(manager) == 1)
    }
}
