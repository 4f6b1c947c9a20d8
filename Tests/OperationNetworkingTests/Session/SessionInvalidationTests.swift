import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct SessionInvalidationTests {
    private let session = URLSessionManager.forTests()
    private let ends = TaskEnds()

    @Test func cancellingTasksEndsThemAndThenTheSession() async throws {
        let server = try ScriptedServer([.silence])
        let events = Recorder<String>()
        session.setTaskDidComplete { task, _ in events.append("complete \(task.taskIdentifier)") }
        session.setSessionDidBecomeInvalid { events.append("invalid \($0 == nil)") }
        let notices = TaskNotices(of: session)
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        _ = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        try await server.waitForRequests(count: 2)
        session.invalidateSession(cancelingTasks: true)
        let errors = try await ends.recorder.wait(count: 3)
        #expect(errors.allSatisfy { $0.code == .cancelled } && session.tasks.isEmpty)
        let all = try await events.wait(count: 4)
        #expect(all.last == "invalid true" && Set(all.dropLast()).count == 3)
        #expect(try await notices.names.wait() == [.urlSessionDidInvalidate])
    }

    /// The notification, for which nothing waits, is all that is left of it.
    @Test func theGroupWaitsForTheClosureOfAnInvalidSessionOnly() async throws {
        let queue = DispatchQueue(label: "callbacks")
        for hasClosure in [false, true] {
            let (session, group) = (URLSessionManager(), DispatchGroup())
            (session.completionQueue, session.completionGroup) = (queue, group)
            let notices = TaskNotices(of: session)
            if hasClosure { session.setSessionDidBecomeInvalid { _ in } }
            queue.suspend()
            session.invalidateSession(cancelingTasks: false)
            #expect((group.wait(timeout: .now()) == .success) == !hasClosure)
            queue.resume()
            #expect(try await notices.names.wait() == [.urlSessionDidInvalidate])
        }
    }

    @Test func tasksThatAreNotCancelledContinue() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "[1]").held(by: gate)])
        session.responseSerializer = HTTPResponseSerializer()
        let invalid = Gate()
        session.setSessionDidBecomeInvalid { _ in invalid.open() }
        let suspended = session.dataTask(with: URLRequest(url: server.url), completion: nil)
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        try await gate.waitForArrivals()
        session.invalidateSession(cancelingTasks: false)
        gate.open()
        #expect(try await ends.wait().text == "[1]")
        #expect(!invalid.isOpen && session.tasks == [suspended])
        suspended.resume()
        try await invalid.wait()
    }

    @Test func aTaskThatIsMadeAfterwardsAndNeverResumedIsNotWaitedFor() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "[1]").held(by: gate)])
        let invalid = Gate()
        session.setSessionDidBecomeInvalid { _ in invalid.open() }
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        try await gate.waitForArrivals()
        session.invalidateSession(cancelingTasks: false)
        let late = session.dataTask(with: URLRequest(url: server.url), completion: nil)
        gate.open()
        try await invalid.wait()
        #expect(late.state == .suspended)
    }

    @Test func aTaskThatIsMadeAfterwardsFailsClearly() async throws {
        let server = try ScriptedServer([])
        let invalid = Gate()
        session.setSessionDidBecomeInvalid { _ in invalid.open() }
        session.invalidateSession(cancelingTasks: false)
        session.invalidateSession(cancelingTasks: true)
        try await invalid.wait()
        let task = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        #expect(task.state == .suspended && session.tasks.isEmpty)
        task.resume()
        #expect(try await ends.wait().error as? SessionError == .invalidated)
        #expect(task.state == .completed && server.requests.isEmpty)
    }

    @Test func aSessionThatIsResetTakesNewTasks() async throws {
        let server = try ScriptedServer([.silence, .respond(body: "hello")])
        session.responseSerializer = HTTPResponseSerializer()
        let events = Recorder<String>()
        session.setSessionDidBecomeInvalid { _ in events.append("invalid") }
        session.setTaskDidComplete { task, error in events.append("complete \(error == nil)") }
        let old = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        old.resume()
        try await server.waitForRequests()
        session.invalidateSession(cancelingTasks: true, resetSession: true)
        #expect(session.tasks.isEmpty)
        #expect(try await events.wait(count: 2) == ["complete false", "invalid"])
        let new = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        #expect(session.tasks == [new] && new.taskIdentifier == 1)
        new.resume()
        #expect(try await ends.recorder.wait(count: 2).last?.text == "hello")
        #expect(events.elements == ["complete false", "invalid", "complete true"])
    }

    /// A reset makes another session with the same closures: the first one's tasks still end after the second
    /// one is invalid.
    @Test func theClosuresLastUntilTheLastSessionIsInvalid() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "hello").held(by: gate)])
        session.responseSerializer = HTTPResponseSerializer()
        let events = Recorder<String>()
        session.setSessionDidBecomeInvalid { _ in events.append("invalid") }
        session.setTaskDidComplete { _, error in events.append("complete \(error == nil)") }
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        try await gate.waitForArrivals()
        session.invalidateSession(cancelingTasks: false, resetSession: true)
        session.invalidateSession(cancelingTasks: false)
        #expect(try await events.wait() == ["invalid"])
        gate.open()
        #expect(try await ends.wait().text == "hello")
        #expect(try await events.wait(count: 3) == ["invalid", "complete true", "invalid"])
    }

    /// Opens a gate when it is released.
    private final class EndingManager: URLSessionManager, @unchecked Sendable {
        // @unchecked: its only property is an immutable Sendable.
        let end = Gate()

        deinit { end.open() }
    }

    @Test func theSessionIsReleasedWhenItIsInvalid() async throws {
        let (reported, released): (Gate, Gate)
        do {
            let session = EndingManager(configuration: SessionConfiguration())
            session.completionQueue = DispatchQueue(label: "callbacks")
            (reported, released) = (Gate(), session.end)
            session.setSessionDidBecomeInvalid { [session, reported] _ in
                _ = session
                reported.open()
            }
            session.invalidateSession(cancelingTasks: true)
        }
        try await reported.wait()
        try await released.wait()
    }

    @Test func aTaskThatIsResumedWhenItHasEndedIsNotListedAgain() async throws {
        let server = try ScriptedServer { _ in .respond(body: "[1]") }
        session.responseSerializer = HTTPResponseSerializer()
        let task = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        task.resume()
        #expect(try await ends.wait().text == "[1]")
        task.suspend()
        task.resume()
        task.cancel()
        #expect(task.state == .completed && task.error == nil && session.tasks.isEmpty)
        let invalid = Gate()
        session.setSessionDidBecomeInvalid { _ in invalid.open() }
        session.invalidateSession(cancelingTasks: false)
        try await invalid.wait()
    }

    @Test func aTaskThatIsMadeDuringAResetIsOfOneSession() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let count = 400
        async let resets: Void = onDispatchThread { [session] in
            for _ in 0..<count { session.invalidateSession(cancelingTasks: false, resetSession: true) }
        }
        for _ in 0..<count {
            session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        }
        await resets
        _ = try await ends.recorder.wait(count: count)
        try await eventually { session.tasks.isEmpty }
    }

    @Test func aTaskThatIsSuspendedAfterItsManagerWasReleasedIsItsOwners() async throws {
        let server = try ScriptedServer([.silence])
        weak var kept: DataTask?
        do {
            var session: URLSessionManager? = .forTests()
            let task = session?.dataTask(with: URLRequest(url: server.url), completion: nil)
            kept = task
            task?.resume()
            try await server.waitForRequests()
            session = nil
            task?.suspend()
        }
        try await eventually { kept == nil }
    }
}
