import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Tasks that are made below a `Progress` that was cancelled, or paused, before.
@Suite(.timeLimit(.minutes(1)))
struct TaskBelowProgressTests {
    enum Kind: CaseIterable { case data, upload, download }

    private let session = URLSessionManager.forTests()
    private let ends = TaskEnds()
    private let parent = Progress(totalUnitCount: 1_000)

    init() {
        session.responseSerializer = HTTPResponseSerializer()
    }

    private func task(_ kind: Kind, _ url: URL) -> SessionTask {
        var request = URLRequest(url: url)
        return parent.performAsCurrent(withPendingUnitCount: 1) {
            switch kind {
            case .data:
                return session.dataTask(with: request, completion: ends.handler)
            case .upload:
                request.httpMethod = "PUT"
                return session.uploadTask(
                    with: request,
                    from: Data("body".utf8),
                    progress: nil,
                    completion: ends.handler
                )
            case .download:
                return session.downloadTask(
                    with: request,
                    progress: nil,
                    destination: nil,
                    completion: ends.fileHandler
                )
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func aTaskBelowACancelledProgressSendsNoRequest(_ kind: Kind) async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        parent.cancel()
        let count = Rounds.count(500)
        let tasks = (0..<count).map { _ in
            let task = task(kind, server.url)
            task.resume()
            return task
        }
        let results = try await ends.recorder.wait(count: count)
        #expect(results.allSatisfy { $0.code == .cancelled })
        #expect(tasks.allSatisfy { $0.state == .completed && $0.progress.isCancelled })
        #expect(server.requests.isEmpty && session.tasks.isEmpty)
    }

    @Test func belowACancelledProgressATaskEndsByItself() async throws {
        parent.cancel()
        let task = task(.data, URL(fileURLWithPath: "/"))
        #expect(task.state == .canceling || task.state == .completed)
        #expect(try await ends.wait().code == .cancelled)
    }

    @Test(arguments: Kind.allCases)
    func belowAPausedProgressATaskWaitsForIt(_ kind: Kind) async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        parent.pause()
        let count = Rounds.count(100)
        let tasks = (0..<count).map { _ in
            let task = task(kind, server.url)
            task.resume()
            return task
        }
        #expect(tasks.allSatisfy { $0.state == .suspended })
        // Another task goes through the same queues, to its end.
        let others = TaskEnds()
        let other = URLRequest(url: server.url(path: "other"))
        session.dataTask(with: other, completion: others.handler).resume()
        #expect(try await others.wait().error == nil)
        #expect(server.requests.map(\.target) == ["/other"])
        parent.resume()
        let results = try await ends.recorder.wait(count: count)
        #expect(results.allSatisfy { $0.error == nil })
        #expect(server.requests.count == count + 1)
    }

    @Test func aTaskThatWasNotResumedDoesNotStartWithItsProgress() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        parent.pause()
        let task = task(.data, server.url)
        parent.resume()
        #expect(task.state == .suspended)
        task.resume()
        #expect(task.state != .suspended)
        #expect(try await ends.wait().error == nil)
    }

    /// As with an operation: what is asked of the task itself, of that alone, counts.
    @Test func aSecondResumptionStartsATaskWhoseProgressIsPaused() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let task = task(.data, server.url)
        parent.pause()
        task.resume()
        #expect(task.state == .suspended)
        task.resume()
        #expect(task.state != .suspended)
        #expect(try await ends.wait().error == nil)
    }

    @Test func aTaskThatWaitsForItsProgressIsCancelledWithIt() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        parent.pause()
        task(.data, server.url).resume()
        parent.cancel()
        #expect(try await ends.wait().code == .cancelled)
        #expect(server.requests.isEmpty)
    }
}
