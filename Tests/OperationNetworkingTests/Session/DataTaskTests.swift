import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct DataTaskTests {
    @Test func aTaskIsMadeSuspendedAndSendsNothingUntilItIsResumed() async throws {
        let server = try ScriptedServer([.respond(body: "hello")])
        let session = URLSessionManager.forTests()
        session.responseSerializer = HTTPResponseSerializer()
        let ends = TaskEnds()
        let task = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        #expect(task.state == .suspended && task.taskIdentifier == 1)
        #expect(session.tasks == [task] && session.dataTasks == [task])
        #expect(task.originalRequest.url == server.url && task.currentRequest.url == server.url)

        // The next one is asked for, and comes: nothing was asked for by the first.
        let other = session.dataTask(with: URLRequest(url: server.url(path: "other")), completion: nil)
        #expect(other.taskIdentifier == 2)
        other.resume()
        try await server.waitForAnswers(count: 1)
        #expect(server.requests.map(\.target) == ["/other"])
        #expect(task.state == .suspended && ends.recorder.elements.isEmpty)

        task.resume()
        let end = try await ends.wait()
        #expect(end.text == "hello" && end.error == nil && end.response?.statusCode == 200)
        #expect(task.state == .completed && task.error == nil)
        #expect(task.response?.statusCode == 200 && task.countOfBytesReceived == 5)
        #expect(!session.tasks.contains(task))
    }

    @Test func tasksRunInTheQueueOfTheSession() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "hello").held(by: gate) }
        let session = URLSessionManager.forTests()
        session.responseSerializer = HTTPResponseSerializer()
        session.operationQueue.maxConcurrentOperationCount = 1
        let ends = TaskEnds()
        let tasks = (0..<2).map { _ in
            session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        }
        for task in tasks { task.resume() }
        try await gate.waitForArrivals()
        #expect(session.operationQueue.operationCount == 2 && tasks.allSatisfy { $0.state == .running })
        #expect(server.requests.count == 1)
        // One that is suspended makes room.
        tasks[0].suspend()
        try await gate.waitForArrivals(2)
        tasks[0].resume()
        gate.open()
        #expect(try await ends.recorder.wait(count: 2).allSatisfy { $0.text == "hello" })
        try await session.operationQueue.waitUntilEmpty()
    }

    @Test func aSuspendedTaskRequestsTheRestAndIsValidated() async throws {
        let body = PatternBody(seed: 1, length: 200_000)
        let representation = Representation(.pattern(body), entityTag: .strong("v1"))
        let server = try ScriptedServer { request in
            let answer = Answer.representation(representation)
            return request["Range"] == nil ? answer.stalling(after: 60_000) : answer
        }
        let session = URLSessionManager.forTests()
        session.responseSerializer = HTTPResponseSerializer()
        let ends = TaskEnds()
        let came = Gate()
        let task = session.dataTask(
            with: URLRequest(url: server.url),
            downloadProgress: { _ in came.open() },
            completion: ends.handler
        )
        task.resume()
        try await came.wait()
        // Not counted: one resume undoes both.
        task.suspend()
        task.suspend()
        #expect(task.state == .suspended)
        try await server.waitForOpenConnections(0)
        #expect(ends.recorder.elements.isEmpty)
        task.resume()
        #expect(task.state == .running)
        let end = try await ends.wait()
        #expect(end.error == nil && end.object as? Data == body.data)
        let last = try #require(server.requests.last)
        #expect(last["If-Range"] == "\"v1\"" && last["Range"]?.hasPrefix("bytes=") == true)
    }

    @Test func aTaskThatIsSuspendedAndResumedAtOnceRuns() async throws {
        let server = try ScriptedServer([.respond(body: "hello")])
        let session = URLSessionManager.forTests()
        session.responseSerializer = HTTPResponseSerializer()
        for _ in 0..<50 {
            let ends = TaskEnds()
            let task = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
            for _ in 0..<3 {
                task.resume()
                task.suspend()
            }
            task.resume()
            #expect(try await ends.wait().text == "hello")
        }
    }

    @Test func cancellingARunningTaskEndsIt() async throws {
        let server = try ScriptedServer([.silence])
        let session = URLSessionManager.forTests()
        let ends = TaskEnds()
        let task = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        task.resume()
        try await server.waitForRequests()
        task.cancel()
        #expect(task.state == .canceling || task.state == .completed)
        let end = try await ends.wait()
        #expect(end.code == .cancelled && (task.error as? URLError)?.code == .cancelled)
        #expect(task.state == .completed && session.tasks.isEmpty)
        task.resume()
        #expect(task.state == .completed && ends.recorder.elements.count == 1)
    }

    @Test func cancellingATaskThatWasNeverResumedEndsItWithoutARequest() async throws {
        let server = try ScriptedServer([.respond()])
        let session = URLSessionManager.forTests()
        let ends = TaskEnds()
        let task = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        task.cancel()
        #expect(try await ends.wait().code == .cancelled)
        #expect(task.state == .completed && server.requests.isEmpty && session.tasks.isEmpty)
    }

    @Test func aSuspendedTaskCanBeCancelled() async throws {
        let server = try ScriptedServer([.silence])
        let session = URLSessionManager.forTests()
        let ends = TaskEnds()
        let task = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        task.resume()
        try await server.waitForRequests()
        task.suspend()
        task.cancel()
        #expect(try await ends.wait().code == .cancelled)
    }

    @Test func manyThreadsCommandOneTask() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 10_000))])
        let session = URLSessionManager.forTests()
        session.responseSerializer = HTTPResponseSerializer()
        for _ in 0..<20 {
            let ends = TaskEnds()
            let task = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
            DispatchQueue.concurrentPerform(iterations: 4) { number in
                for _ in 0..<10 { number.isMultiple(of: 2) ? task.resume() : task.suspend() }
            }
            task.resume()
            let end = try await ends.wait()
            #expect(end.error == nil && (end.object as? Data)?.count == 10_000)
        }
        #expect(session.tasks.isEmpty)
    }

    @Test func theSerializersErrorComesWithItsObject() async throws {
        let server = try ScriptedServer([
            .respond(404, ["Content-Type": "application/json"], body: #"{"reason": "none"}"#)
        ])
        let session = URLSessionManager.forTests()
        let ends = TaskEnds()
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        let end = try await ends.wait()
        #expect(end.error is ResponseSerializationError && end.response?.statusCode == 404)
        #expect((end.object as? [String: any Sendable])?["reason"] as? String == "none")
    }

    @Test func closuresAreReleasedAfterTheEnd() async throws {
        final class Owner: Sendable {}
        let server = try ScriptedServer([.respond(body: "hello")])
        let session = URLSessionManager.forTests()
        let done = Gate()
        weak var owner: Owner?
        let task: DataTask
        do {
            let kept = Owner()
            owner = kept
            task = session.dataTask(
                with: URLRequest(url: server.url),
                downloadProgress: { _ in _ = kept },
                completion: { _, _, _ in
                    _ = kept
                    done.open()
                }
            )
        }
        task.resume()
        try await done.wait()
        // After the completion, some time later.
        try await eventually { owner == nil }
        withExtendedLifetime(task) {}
    }

    @Test func aReleasedSessionLetsRunningTasksEndAndDropsTheOthers() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "hello").held(by: gate)])
        let ends = TaskEnds()
        weak var manager: URLSessionManager?
        weak var unresumed: DataTask?
        do {
            let session = URLSessionManager.forTests()
            session.responseSerializer = HTTPResponseSerializer()
            manager = session
            session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
            unresumed = session.dataTask(with: URLRequest(url: server.url), completion: nil)
            try await gate.waitForArrivals()
            #expect(unresumed != nil)
        }
        #expect(manager == nil && unresumed == nil)
        gate.open()
        #expect(try await ends.wait().text == "hello")
    }

    @Test func aTaskThatIsResumedAfterItsManagerWasReleasedEnds() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "hello").held(by: gate)])
        let ends = TaskEnds()
        do {
            var session: URLSessionManager? = .forTests()
            session?.responseSerializer = HTTPResponseSerializer()
            let task = session?.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
            task?.resume()
            try await gate.waitForArrivals()
            task?.suspend()
            session = nil
            task?.resume()
        }
        gate.open()
        #expect(try await ends.wait().text == "hello")
    }

    @Test func tasksBecomeChildrenOfOneProgressWhileOthersEnd() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let session = URLSessionManager.forTests()
        session.responseSerializer = HTTPResponseSerializer()
        let count = 200
        let parent = Progress(totalUnitCount: Int64(count))
        let ends = TaskEnds()
        let makeChild = {
            parent.becomeCurrent(withPendingUnitCount: 1)
            defer { parent.resignCurrent() }
            return session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        }
        for _ in 1...count { makeChild().resume() }
        try await ends.recorder.wait(count: count)
        session.completionQueue?.sync {}
        #expect(parent.completedUnitCount == Int64(count))
    }

    @Test("F45 many sessions need no additional descriptors")
    func manySessions() async throws {
        func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        }
        let server = try ScriptedServer([.respond(200, ["Content-Type": "application/json"], body: "[1]")])
        _ = try await HTTPSessionManager.forTests(server.url).get("x")
        let before = try descriptors()
        var sessions: [HTTPSessionManager] = []
        for _ in 0..<200 {
            let session = HTTPSessionManager.forTests(server.url)
            _ = try await session.get("x")
            sessions.append(session)
        }
        #expect(try descriptors() < before + 50)
        withExtendedLifetime(sessions) {}
    }

    @Test func theTasksAreListedFromAClosure() async throws {
        let server = try ScriptedServer([.respond(body: "hello")])
        let session = URLSessionManager.forTests()
        let counts = Recorder<[Int]>()
        session.setDataTaskDidReceiveResponse { [weak session] _, _ in
            counts.append([session?.tasks.count ?? -1, session?.dataTasks.count ?? -1])
            return .allow
        }
        session.dataTask(with: URLRequest(url: server.url), completion: nil).resume()
        #expect(try await counts.wait() == [[1, 1]])
    }

    @Test func theCompletionGroupIsLeftAfterTheHandler() async throws {
        let server = try ScriptedServer([.respond(body: "hello")])
        let session = URLSessionManager.forTests()
        let group = DispatchGroup()
        session.completionGroup = group
        let ends = TaskEnds()
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        _ = try await ends.wait()
        let left = Gate()
        group.notify(queue: .global()) { left.open() }
        try await left.wait()
    }

    @Test func additionalHeadersDoNotReplaceThoseOfTheRequest() async throws {
        let server = try ScriptedServer([.respond()])
        var configuration = SessionConfiguration()
        configuration.additionalHeaders = ["X-A": "session", "X-B": "session"]
        configuration.requestTimeout = 7
        let session = URLSessionManager.forTests(configuration)
        var request = URLRequest(url: server.url)
        request.setValue("request", forHTTPHeaderField: "X-A")
        let task = session.dataTask(with: request, completion: nil)
        #expect(task.originalRequest.timeoutInterval == 7)
        task.resume()
        let sent = try await server.nextRequest()
        #expect(sent["X-A"] == "request" && sent["X-B"] == "session")
        request.timeoutInterval = 9
        #expect(session.dataTask(with: request, completion: nil).originalRequest.timeoutInterval == 9)
    }

    @Test func thePriorityIsThatOfTheOperation() {
        let task = URLSessionManager().dataTask(
            with: URLRequest(url: URL(fileURLWithPath: "/")),
            completion: nil
        )
        #expect(task.priority == SessionTask.defaultPriority)
        task.priority = SessionTask.highPriority
        task.taskDescription = "mine"
        #expect(task.priority == 0.75 && task.taskDescription == "mine")
        #expect(task.description.hasPrefix("<DataTask 1: GET "))
    }
}
