import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The closure that is asked about the response of a data task, and the tasks that become downloads by it.
@Suite(.timeLimit(.minutes(1)))
struct ResponseHookTests {
    private let session: URLSessionManager
    private let ends = TaskEnds()
    private let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory()
        var configuration = SessionConfiguration()
        configuration.downloadDirectory = temporary.url
        session = .forTests(configuration)
        session.responseSerializer = HTTPResponseSerializer()
    }

    private func task(_ server: ScriptedServer) -> DataTask {
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
    }

    // MARK: - The answer

    @Test func aResponseThatIsNotWantedCancelsTheTask() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 1000)).stalling(after: 10)])
        session.setDataTaskDidReceiveResponse { _, _ in .cancel }
        task(server).resume()
        #expect(try await ends.wait().code == .cancelled)
    }

    /// Opens a gate when the body is complete.
    private struct GateSerializer: ResponseSerializer {
        let gate: Gate

        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
            gate.open()
            return data
        }
    }

    @Test(arguments: [DataTask.ResponseDisposition.allow, .cancel])
    func theBodyWaitsForTheAnswer(_ answer: DataTask.ResponseDisposition) async throws {
        let server = try ScriptedServer { _ in .respond(body: "short") }
        let isOver = Gate()
        session.responseSerializer = GateSerializer(gate: isOver)
        let early = Recorder<Bool>()
        session.setDataTaskDidReceiveResponse { task, _ in
            // A whole other exchange has its time meanwhile, and is not held up.
            let other = HTTPRequestOperation(request: URLRequest(url: server.url))
            let isDone = Gate()
            other.completionQueue = DispatchQueue(label: "other")
            other.setCompletion(success: { _, _ in isDone.open() }, failure: nil)
            other.start()
            try? isDone.waitSynchronously()
            early.append(isOver.isOpen || task.countOfBytesReceived > 0)
            return answer
        }
        let task = task(server)
        task.resume()
        let end = try await ends.wait()
        #expect(early.elements == [false])
        if answer == .cancel {
            #expect(end.code == .cancelled && end.object == nil && task.countOfBytesReceived == 0)
        } else {
            #expect(end.text == "short" && isOver.isOpen)
        }
    }

    @Test func theResponseOfASuspendedTaskIsAskedAboutOnce() async throws {
        let representation = Representation(.generated(length: 200_000), entityTag: .strong("v1"))
        let server = try ScriptedServer { request in
            let answer = Answer.representation(representation)
            return request["Range"] == nil ? answer.stalling(after: 60_000) : answer
        }
        let (statuses, came) = (Recorder<Int>(), Gate())
        session.setDataTaskDidReceiveResponse { _, response in
            statuses.append(response.statusCode)
            return .allow
        }
        let task = session.dataTask(
            with: URLRequest(url: server.url),
            downloadProgress: { if $0.completedUnitCount > 0 { came.open() } },
            completion: ends.handler
        )
        task.resume()
        try await came.wait()
        task.suspend()
        try await server.waitForOpenConnections(0)
        task.resume()
        #expect(try await ends.wait().error == nil)
        #expect(statuses.elements == [200])
    }

    @Test(arguments: [DataTask.ResponseDisposition.allow, .becomeDownload])
    func anAnswerCountsWhenTheTaskWasSuspendedMeanwhile(_ answer: DataTask.ResponseDisposition) async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let (statuses, downloads) = (Recorder<Int>(), Recorder<DownloadTask>())
        session.setDataTaskDidReceiveResponse { task, response in
            statuses.append(response.statusCode)
            task.suspend()
            return answer
        }
        session.setDataTaskDidBecomeDownloadTask { _, download in downloads.append(download) }
        let folder = try TemporaryDirectory()
        session.setDownloadTaskDidFinishDownloading { _, _ in folder.file() }
        let task = task(server)
        task.resume()
        if answer == .becomeDownload {
            try await downloads.wait()[0].resume()
        } else {
            try await statuses.wait()
            session.operationQueue.underlyingQueue?.sync {}
            task.resume()
        }
        let end = try await ends.wait()
        #expect(end.error == nil && statuses.elements == [200])
        #expect(answer == .allow ? end.text == "hello" : end.file == folder.file())
    }

    @Test func aRedirectThatIsRefusedIsAskedAboutToo() async throws {
        let server = try ScriptedServer([.redirect(to: "/there")])
        session.setTaskWillPerformHTTPRedirection { _, _, _ in nil }
        let statuses = Recorder<Int>()
        session.setDataTaskDidReceiveResponse { _, response in
            statuses.append(response.statusCode)
            return .allow
        }
        task(server).resume()
        #expect(try await ends.wait().response?.statusCode == 302)
        #expect(statuses.elements == [302])
    }

    // MARK: - Downloads

    @Test func aDataTaskBecomesADownload() async throws {
        let body = PatternBody(seed: 1, length: 100_000)
        // JSON by its type, which it is not: any successful response is saved.
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "application/json"], body: .pattern(body))
        ])
        let folder = try TemporaryDirectory()
        session.responseSerializer = JSONResponseSerializer()
        session.setDataTaskDidReceiveResponse { _, _ in .becomeDownload }
        let became = Recorder<[Int]>()
        session.setDataTaskDidBecomeDownloadTask { task, download in
            became.append([task.taskIdentifier, download.taskIdentifier, task.state == .completed ? 1 : 0])
        }
        session.setDownloadTaskDidFinishDownloading { _, _ in folder.file() }
        let task = session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        task.resume()
        let end = try await ends.wait()
        #expect(end.error == nil && end.file == folder.file())
        #expect(became.elements == [[1, 2, 1]] && task.state == .completed && session.tasks.isEmpty)
        #expect(try body.firstDifference(fromFile: folder.file()) == nil)
    }

    @Test func aVerbWhoseTaskBecomesADownloadHasTheFile() async throws {
        let server = try ScriptedServer([.respond(body: "hello")])
        let folder = try TemporaryDirectory()
        let session = HTTPSessionManager.forTests(server.url)
        session.setDataTaskDidReceiveResponse { _, _ in .becomeDownload }
        session.setDownloadTaskDidFinishDownloading { task, _ in folder.file("\(task.taskIdentifier)") }
        let object = try await session.get("x")
        #expect(object as? URL == folder.file("2"))
        let task = session.get("x", success: ends.success, failure: ends.failure)
        let end = try await ends.wait()
        #expect(end.file == folder.file("4") && task?.taskIdentifier == 3)
        #expect(try String(contentsOf: folder.file("4"), encoding: .utf8) == "hello")
    }

    @Test func aVerbWhoseTaskHasBecomeADownloadIsCancelledWithIt() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "hello").held(after: 2, by: gate)])
        let session = HTTPSessionManager.forTests(server.url)
        session.setDataTaskDidReceiveResponse { _, _ in .becomeDownload }
        let (downloads, errors) = (Recorder<DownloadTask>(), Recorder<URLError.Code?>())
        session.setDataTaskDidBecomeDownloadTask { _, download in downloads.append(download) }
        session.setTaskDidComplete { _, error in errors.append((error as? URLError)?.code) }
        let task = Task { try await session.get("x") as? URL }
        let download = try await downloads.wait()[0]
        task.cancel()
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try await errors.wait() == [.cancelled])
        #expect(download.state == .completed)
        gate.open()
    }

    private struct Refusing: ResponseSerializer {
        struct Refusal: Error {}

        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
            throw Refusal()
        }
    }

    @Test func noSerializerCostsADownloadItsFile() async throws {
        let server = try ScriptedServer([.respond(body: "hello"), .respond(404, body: "none")])
        let folder = try TemporaryDirectory()
        session.responseSerializer = Refusing()
        session.setDataTaskDidReceiveResponse { _, _ in .becomeDownload }
        session.setDownloadTaskDidFinishDownloading { _, _ in folder.file() }
        task(server).resume()
        let end = try await ends.wait()
        #expect(end.error == nil && end.file == folder.file())
        #expect(try String(contentsOf: folder.file(), encoding: .utf8) == "hello")
        task(server).resume()
        let failure = try await ends.recorder.wait(count: 2).last
        #expect(
            (failure?.error as? ResponseSerializationError)?.reason == .unacceptableStatusCode(404)
                && failure?.file == nil
        )
    }

    /// The size of the file of a download that runs.
    private var size: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: temporary.url.path)) ?? []
        let file = names.first.map { temporary.file($0).appendingPathComponent("download") }
        return (try? file?.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
    }

    @Test func theBodyGoesToTheFileAsItComes() async throws {
        let gate = Gate()
        let body = PatternBody(seed: 2, length: 3_000_000)
        let server = try ScriptedServer([.respond(body: .pattern(body)).held(after: 2_000_000, by: gate)])
        let folder = try TemporaryDirectory()
        session.setDataTaskDidReceiveResponse { _, _ in .becomeDownload }
        session.setDownloadTaskDidFinishDownloading { _, _ in folder.file() }
        task(server).resume()
        try await gate.waitForArrivals()
        let deadline = ContinuousClock.now + .seconds(30)
        while size < 2_000_000, ContinuousClock.now < deadline { await Task.yield() }
        #expect(size == 2_000_000)
        gate.open()
        #expect(try await ends.wait().error == nil)
        #expect(try body.firstDifference(fromFile: folder.file()) == nil)
        // It goes with the operation, which the end's own thread may hold for a moment more.
        var left: [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: temporary.url.path)) ?? []
        }
        while !left.isEmpty, ContinuousClock.now < deadline { await Task.yield() }
        #expect(left == [])
    }

    @Test func aBodyThatIsTooLongForMemoryMayBecomeAFile() async throws {
        // One byte more than `maximumResponseDataLength`, of which the server sends the first.
        let server = try ScriptedServer([.respond(body: .generated(length: 256 << 20 + 1)).stalling(after: 1)]
        )
        let asked = Recorder<Int64>()
        session.setDataTaskDidReceiveResponse { _, response in
            asked.append(response.expectedContentLength)
            return .becomeDownload
        }
        let downloads = Recorder<DownloadTask>()
        session.setDataTaskDidBecomeDownloadTask { _, download in downloads.append(download) }
        session.setDownloadTaskDidWriteData { task, _, _, _ in task.cancel() }
        task(server).resume()
        try await downloads.wait()
        #expect(try await ends.wait().code == .cancelled)
        #expect(asked.elements == [256 << 20 + 1])
    }

    @Test func anErrorPageIsNoFileOfATaskThatBecameADownload() async throws {
        let server = try ScriptedServer([.respond(404, body: "nothing")])
        session.setDataTaskDidReceiveResponse { _, _ in .becomeDownload }
        task(server).resume()
        let end = try await ends.wait()
        #expect(end.error is ResponseSerializationError && end.file == nil)
        session.completionQueue?.sync {}
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.url.path) == [])
    }

    @Test func aTaskThatBecameADownloadGoesOnAfterASuspension() async throws {
        let body = PatternBody(seed: 3, length: 200_000)
        let representation = Representation(.pattern(body), entityTag: .strong("v1"))
        let server = try ScriptedServer { request in
            let answer = Answer.representation(representation)
            return request["Range"] == nil ? answer.stalling(after: 60_000) : answer
        }
        let folder = try TemporaryDirectory()
        let (downloads, came) = (Recorder<DownloadTask>(), Gate())
        session.setDataTaskDidReceiveResponse { _, _ in .becomeDownload }
        session.setDataTaskDidBecomeDownloadTask { _, download in downloads.append(download) }
        session.setDownloadTaskDidWriteData { _, _, total, _ in if total > 0 { came.open() } }
        session.setDownloadTaskDidFinishDownloading { _, _ in folder.file() }
        task(server).resume()
        let download = try await downloads.wait()[0]
        try await came.wait()
        download.suspend()
        try await server.waitForOpenConnections(0)
        download.resume()
        #expect(try await ends.wait().error == nil)
        #expect(try body.firstDifference(fromFile: folder.file()) == nil)
        #expect(server.requests.last?["Range"] != nil)
    }

    @Test func aProgressThatIsCancelledWhileItsTaskBecomesADownloadCancelsIt() async throws {
        let server = try ScriptedServer { _ in .respond(body: .generated(length: 1000)).stalling(after: 10) }
        let threads = DispatchQueue(label: "threads", attributes: .concurrent)
        session.setDataTaskDidReceiveResponse { task, _ in
            let progress = task.progress
            threads.async { progress.cancel() }
            return .becomeDownload
        }
        for round in 1...100 {
            task(server).resume()
            #expect(try await ends.recorder.wait(count: round).last?.code == .cancelled)
        }
    }
}
