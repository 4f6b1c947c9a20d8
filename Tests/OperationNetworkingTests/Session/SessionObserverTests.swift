import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Observers of the operations behind a session's tasks.
@Suite(.timeLimit(.minutes(1)))
struct SessionObserverTests {
    private let session = URLSessionManager.forTests()
    private let listener = EventListener()
    private let ends = TaskEnds()

    private static let usual = ["started", "response", "finished"]

    init() {
        session.responseSerializer = HTTPResponseSerializer()
    }

    /// Notes whether it is called on the completion queue.
    private final class QueueWatcher: OperationObserver {
        static let key = DispatchSpecificKey<Bool>()
        let places = Recorder<Bool>()

        func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
            places.append(DispatchQueue.getSpecific(key: Self.key) ?? false)
        }
    }

    @Test func aTaskIsReportedInOrderOnTheCompletionQueue() async throws {
        let server = try ScriptedServer([.redirect(to: "/there"), .respond(body: "four")])
        session.completionQueue?.setSpecific(key: QueueWatcher.key, value: true)
        let watcher = QueueWatcher()
        session.addObserver(listener)
        session.addObserver(watcher)
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        #expect(
            try await listener.events.wait(count: 4) == ["started", "redirected", "response", "finished"]
        )
        #expect(try await watcher.places.wait() == [true])
        #expect(try await ends.wait().text == "four")
        #expect(listener.downloaded.elements.last == 4)
    }

    @Test func aTaskWhoseDataIsObservedIsReportedToo() async throws {
        let server = try ScriptedServer([.respond(body: "four")])
        session.setDataTaskDidReceiveData { _, _ in }
        session.addObserver(listener)
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        #expect(try await listener.events.wait(count: 3) == Self.usual)
        #expect(try await ends.wait().error == nil)
    }

    @Test func aSuspensionIsReportedAsAPause() async throws {
        let server = try ScriptedServer([.silence])
        session.addObserver(listener)
        let task = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        task.resume()
        try await listener.events.wait()
        task.suspend()
        try await listener.events.wait(count: 2)
        task.resume()
        try await listener.events.wait(count: 3)
        task.cancel()
        #expect(
            try await listener.events.wait(count: 4) == ["started", "paused", "resumed", "finished"]
        )
        #expect(try await ends.wait().code == .cancelled)
    }

    @Test func downloadsAreReportedThoseFromResumeDataToo() async throws {
        let folder = try TemporaryDirectory()
        let body = PatternBody(seed: 1, length: 300_000)
        let representation = Representation(.pattern(body), entityTag: .strong("v1"))
        let server = try ScriptedServer { request in
            let answer = Answer.representation(representation)
            return request["Range"] == nil ? answer.stalling(after: 100_000) : answer
        }
        var configuration = SessionConfiguration()
        configuration.downloadDirectory = folder.url
        let session = URLSessionManager.forTests(configuration)
        session.addObserver(listener)
        let came = Gate()
        let first = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: { if $0.completedUnitCount > 0 { came.open() } },
            destination: nil,
            completion: ends.fileHandler
        )
        first.resume()
        try await came.wait()
        let data = Recorder<Data?>()
        first.cancelByProducingResumeData { data.append($0) }
        let resumeData = try #require(try await data.wait()[0])
        #expect(try await listener.events.wait(count: 3) == Self.usual)
        let others = TaskEnds()
        // Added before the task is made.
        let late = EventListener()
        session.addObserver(late)
        let second = session.downloadTask(
            withResumeData: resumeData,
            progress: nil,
            destination: { _, _ in folder.file() },
            completion: others.fileHandler
        )
        second.resume()
        #expect(try await others.wait().error == nil)
        let events = try await late.events.wait(count: 4)
        #expect(events.first == "started" && events.last == "finished" && events.contains("resuming"))
        #expect(try await listener.events.wait(count: 7).suffix(4) == events[...])
    }

    @Test(arguments: [true, false])
    func aRemovedObserverIsNotNotifiedOfRunningTasks(hasObservation: Bool) async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "four").held(after: .wire(0), by: gate)])
        let observation = session.addObserver(listener)
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        try await listener.events.wait()
        if hasObservation { observation.end() } else { session.removeObserver(listener) }
        gate.open()
        #expect(try await ends.wait().text == "four")
        #expect(listener.events.elements == ["started"])
    }

    /// Keeps the operations that have begun.
    private final class OperationCatcher: OperationObserver {
        let operations = Recorder<ConnectionOperation>()

        func operationDidStart(_ operation: ConnectionOperation) { operations.append(operation) }
    }

    @Test(arguments: [true, false])
    func aCopyOfATasksOperationIsReportedAndIsNotTheTask(hasEnded: Bool) async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            .respond(body: "four").held(after: .body(1), by: gate), .redirect(to: "/there"),
            .respond(body: "other"),
        ])
        let catcher = OperationCatcher()
        session.addObserver(catcher)
        session.addObserver(listener)
        let task = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        task.resume()
        let operation = try await catcher.operations.wait()[0]
        if hasEnded {
            gate.open()
            #expect(try await ends.wait().text == "four")
        }
        let own = try await listener.events.wait(count: hasEnded ? 3 : 2)
        // The operation releases its observers after it has called them.
        for _ in 0..<2 { session.completionQueue?.sync {} }
        operation.copied().start()
        let events = try await listener.events.wait(count: own.count + 4)
        #expect(events.suffix(4) == ["started", "redirected", "response", "finished"])
        gate.open()
        #expect(try await ends.wait().text == "four")
        #expect(task.currentRequest.url == server.url)
    }

    @Test func aCopyHasTheObserversAndRemovesThemApart() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        session.addObserver(listener)
        let copy = session.copied()
        session.removeObserver(listener)
        copy.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        #expect(try await listener.events.wait(count: 3) == Self.usual)
        #expect(try await ends.wait().error == nil)
    }
}
