import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A session's own closures: those of main-actor code are called on the main queue, those of an actor on it; in one
/// order with the task's.
@Suite(.timeLimit(.minutes(1)))
struct SessionIsolationTests {
    /// Code that belongs to no actor.
    private enum Outside {
        static func observe(_ session: URLSessionManager, _ events: Recorder<String>) {
            session.setTaskDidComplete { _, _ in events.append("complete") }
            session.setSessionDidBecomeInvalid { _ in events.append("invalid") }
        }

        static func dataTask(
            _ session: URLSessionManager,
            _ url: URL,
            _ completion: @escaping @Sendable () -> Void
        ) -> DataTask {
            session.dataTask(with: URLRequest(url: url)) { _, _, _ in completion() }
        }
    }

    private let session = URLSessionManager.forTests()
    private let ends = TaskEnds()

    init() {
        session.responseSerializer = HTTPResponseSerializer()
    }

    @MainActor @Test func theHooksOfADataTaskTouchTheMainActor() async throws {
        let server = try ScriptedServer([
            .redirect(to: "/there"), .respond(200, ["Cache-Control": "max-age=60"], body: "four"),
        ])
        session.cache = ResponseCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
        let screen = MainScreen()
        session.setTaskWillPerformHTTPRedirection { _, response, request in
            screen.show("redirect \(response.statusCode)")
            return request
        }
        session.setDataTaskDidReceiveResponse { _, response in
            screen.show("response \(response.statusCode)")
            return .allow
        }
        session.setDataTaskDidReceiveData { _, data in screen.show("\(data.count) bytes") }
        session.setDataTaskWillCacheResponse { _, proposed in
            screen.show("cache \(proposed.data.count)")
            return nil
        }
        session.setTaskDidFinishCollectingMetrics { _, metrics in screen.show("metrics \(metrics.count)") }
        session.setTaskDidComplete { task, error in screen.show("complete \(error == nil)") }
        session.setSessionDidBecomeInvalid { _ in screen.show("invalid") }
        let seen = Recorder<[String]>()
        let task = session.dataTask(with: URLRequest(url: server.url)) { _, _, _ in seen.append(screen.lines)
        }
        task.resume()
        session.invalidateSession(cancelingTasks: false)
        let lines = try #require(try await seen.wait().first)
        #expect(
            lines.filter { !$0.hasPrefix("cache") && $0 != "invalid" } == [
                "redirect 302", "response 200", "4 bytes", "metrics 2", "complete true",
            ]
        )
        try await eventually { screen.lines.last == "invalid" }
        #expect(screen.lines.contains("cache 4"))
    }

    @MainActor @Test func theHooksOfADownloadTouchTheMainActor() async throws {
        let server = try ScriptedServer([.respond(body: "four")])
        let folder = try TemporaryDirectory()
        let (screen, file) = (MainScreen(), folder.file("saved"))
        session.setDownloadTaskDidWriteData { _, _, total, _ in screen.show("\(total) bytes") }
        session.setDownloadTaskDidFinishDownloading { _, _ in
            screen.show("finished")
            return file
        }
        session.setTaskDidComplete { _, _ in screen.show("complete") }
        let task = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: nil,
            completion: ends.fileHandler
        )
        task.resume()
        #expect(try await ends.wait().file == file)
        #expect(screen.lines == ["4 bytes", "finished", "complete"])
    }

    @MainActor @Test func anUploadReportsToTheMainActor() async throws {
        let server = try ScriptedServer([.respond(body: "")])
        let screen = MainScreen()
        session.setTaskDidSendBodyData { _, _, total, expected in screen.show("\(total)/\(expected)") }
        var request = URLRequest(url: server.url)
        request.httpMethod = "PUT"
        session.uploadTask(
            with: request,
            from: Data("four".utf8),
            progress: nil,
            completion: ends.handler
        ).resume()
        #expect(try await ends.wait().error == nil)
        #expect(screen.lines == ["4/4"])
    }

    /// The task's completion, of nonisolated code, comes after the hook that waits for the main queue, which
    /// this test keeps busy until the task is over.
    @MainActor @Test func aBlockedMainThreadDelaysWhatComesAfterItsHook() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let screen = MainScreen()
        let order = Recorder<String>()
        session.setTaskDidComplete { _, _ in
            screen.show("complete")
            order.append("hook")
        }
        let task = Outside.dataTask(session, server.url) { order.append("completion") }
        task.resume()
        // Another session's tasks end while this thread is blocked.
        let (other, others) = (URLSessionManager.forTests(), TaskEnds())
        other.responseSerializer = HTTPResponseSerializer()
        other.dataTask(with: URLRequest(url: server.url), completion: others.handler).resume()
        try waitHere(for: others)
        #expect(order.elements.isEmpty)
        #expect(try await order.wait(count: 2) == ["hook", "completion"])
    }

    /// Blocks the thread.
    private nonisolated func waitHere(for ends: TaskEnds) throws {
        _ = try ends.recorder.waitSynchronously(count: 1)
    }

    private actor Counter {
        private var pieces = 0

        func observe(_ session: URLSessionManager, _ done: Recorder<Int>) {
            session.setDataTaskDidReceiveData { _, data in
                self.preconditionIsolated()
                self.pieces += data.count
            }
            session.setTaskDidComplete { _, _ in
                self.preconditionIsolated()
                done.append(self.pieces)
            }
        }
    }

    /// The transfer waits for the actor; no piece is lost.
    @Test func theHooksOfAnActorRunOnIt() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 1_000_000))])
        let (counter, done) = (Counter(), Recorder<Int>())
        await counter.observe(session, done)
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        #expect(try await done.wait() == [1_000_000])
        #expect((try await ends.wait().object as? Data)?.count == 1_000_000)
    }

    @MainActor @Test func aCopyHasTheClosures() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let screen = MainScreen()
        session.setTaskDidComplete { _, _ in screen.show("complete") }
        let copy = session.copied()
        copy.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        _ = try await ends.wait()
        #expect(screen.lines == ["complete"])
    }

    @Test func tasksAreListedInTheQueueOfTheSession() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(body: "four").held(by: gate) }
        let session = session
        let lists = Recorder<[Int]>()
        let upload = session.uploadTask(
            with: URLRequest(url: server.url),
            from: Data("x".utf8),
            progress: nil,
            completion: nil
        )
        let download = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: nil,
            completion: nil
        )
        let data = session.dataTask(with: URLRequest(url: server.url), completion: nil)
        session.operationQueue.addOperation {
            lists.append([
                session.tasks.count, session.dataTasks.count, session.uploadTasks.count,
                session.downloadTasks.count,
            ])
        }
        #expect(try await lists.wait() == [[3, 1, 1, 1]])
        for task in [upload, download, data] { task.cancel() }
        gate.open()
    }

    @MainActor @Test(.enabled(if: RealServers.httpbin != nil)) func theHooksMeetARealServer() async throws {
        let httpbin = try #require(RealServers.httpbin)
        let screen = MainScreen()
        session.setTaskWillPerformHTTPRedirection { _, response, request in
            screen.show("redirect \(response.statusCode)")
            return request
        }
        session.setTaskDidReceiveAuthenticationChallenge { _, challenge in
            screen.show("challenge")
            return challenge.previousFailureCount == 0 ? .use(Credential(user: "u", password: "p")) : .refuse
        }
        session.setDataTaskDidReceiveResponse { _, response in
            screen.show("response \(response.statusCode)")
            return .allow
        }
        session.setTaskDidComplete { _, error in screen.show("complete \(error == nil)") }
        let request = URLRequest(url: httpbin.appendingPathComponent("redirect-to"))
        var redirected = request
        redirected.url = request.url?.appending(queryItems: [
            URLQueryItem(name: "url", value: "/basic-auth/u/p")
        ])
        session.dataTask(with: redirected, completion: ends.handler).resume()
        #expect(try await ends.wait().response?.statusCode == 200)
        #expect(screen.lines == ["redirect 302", "challenge", "response 200", "complete true"])
    }

    /// A parent is changed where its owner may use it, and is complete before the task's closure is called.
    @MainActor @Test func theTreeOfProgressChangesOnTheCompletionQueue() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        session.completionQueue = nil
        let parent = Progress(totalUnitCount: 1)
        let fractions = Recorder<Double>()
        let task = task(below: parent, server.url) { fractions.append(parent.fractionCompleted) }
        task.resume()
        // This thread is the main queue: nothing of the tree has changed, but the bytes are known.
        try eventuallySynchronously { task.state == .completed }
        #expect(parent.fractionCompleted == 0 && task.countOfBytesReceived == 4)
        #expect(try await fractions.wait() == [1])
    }

    /// The current progress is that of a thread.
    @MainActor private func task(
        below parent: Progress,
        _ url: URL,
        _ completion: @escaping @MainActor () -> Void
    ) -> DataTask {
        parent.becomeCurrent(withPendingUnitCount: 1)
        defer { parent.resignCurrent() }
        return session.dataTask(with: URLRequest(url: url)) { _, _, _ in completion() }
    }

    // MARK: - While a hook waits for the main queue

    @MainActor @Test func aCancelledTaskIsNoLongerListed() async throws {
        let server = try ScriptedServer([.respond(body: "0123456789").stalling(after: 4)])
        let (screen, events) = (MainScreen(), Recorder<String>())
        session.setDataTaskDidReceiveResponse { _, _ in
            screen.show("response")
            return .allow
        }
        Outside.observe(session, events)
        let task = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        task.resume()
        try eventuallySynchronously { task.response != nil }
        task.cancel()
        try eventuallySynchronously { task.state == .completed }
        #expect(session.tasks.isEmpty)
        #expect(try await ends.wait().code == .cancelled)
        #expect(screen.lines == ["response"])
        session.invalidateSession(cancelingTasks: false)
        #expect(try await events.wait(count: 2) == ["complete", "invalid"])
        #expect(ends.recorder.elements.count == 1)
    }

    @MainActor @Test func theSessionIsInvalidAfterTheLastHook() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let events = Recorder<String>()
        session.setTaskDidFinishCollectingMetrics { _, _ in events.append("metrics") }
        Outside.observe(session, events)
        let task = session.dataTask(with: URLRequest(url: server.url), completion: nil)
        task.resume()
        let other = session.dataTask(with: URLRequest(url: server.url), completion: nil)
        try eventuallySynchronously { task.state == .completed }
        session.invalidateSession(cancelingTasks: true)
        // The other one completes while the first one's closures wait.
        try eventuallySynchronously { other.state == .completed }
        session.completionQueue?.sync {}
        let all = try await events.wait(count: 4)
        #expect(all == ["complete", "metrics", "complete", "invalid"])
    }

    @MainActor @Test func aDownloadThatIsCancelledMeanwhileIsMovedNowhere() async throws {
        let server = try ScriptedServer([.respond(body: "four")])
        let folder = try TemporaryDirectory()
        let file = folder.file("saved")
        session.setDownloadTaskDidFinishDownloading { _, _ in file }
        let task = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: nil,
            completion: ends.fileHandler
        )
        task.resume()
        // The file is complete, and the closure waits for this thread.
        try eventuallySynchronously { task.hasWholeFile }
        task.cancel()
        let result = try await ends.wait()
        #expect(result.code == .cancelled && result.file == nil)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @MainActor @Test func aDownloadThatIsSuspendedMeanwhileIsMovedOnce() async throws {
        let server = try ScriptedServer([.respond(body: "four")])
        let folder = try TemporaryDirectory()
        let (screen, file) = (MainScreen(), folder.file("saved"))
        session.setDownloadTaskDidFinishDownloading { _, _ in
            screen.show("finished")
            return file
        }
        let task = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: nil,
            completion: ends.fileHandler
        )
        task.resume()
        try eventuallySynchronously { task.hasWholeFile }
        task.suspend()
        task.resume()
        #expect(try await ends.wait().file == file)
        #expect(screen.lines == ["finished"])
    }

    @MainActor @Test func pendingProgressIsReportedAtOnce() async throws {
        let server = try ScriptedServer([
            .respond(body: .generated(length: 100_000)).throttled(to: 250_000)
        ])
        let calls = Recorder<[Int64]>()
        session.setDownloadTaskDidWriteData { _, bytes, total, _ in calls.append([bytes, total]) }
        let task = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: nil,
            completion: ends.fileHandler
        )
        task.resume()
        try eventuallySynchronously { task.state == .completed }
        _ = try await ends.wait()
        // One that was on its way, and one for all that came meanwhile.
        #expect(calls.elements.count <= 2)
        #expect(calls.elements.reduce(0) { $0 + $1[0] } == 100_000 && calls.elements.last?[1] == 100_000)
    }
}
