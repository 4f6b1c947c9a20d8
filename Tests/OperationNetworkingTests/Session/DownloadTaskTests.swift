import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct DownloadTaskTests {
    private static let body = PatternBody(seed: 1, length: 300_000)
    private static let representation = Representation(.pattern(body), entityTag: .strong("v1"))

    private let session: URLSessionManager
    private let ends = TaskEnds()
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        session = .forTests(Self.configuration(folder))
    }

    private static func configuration(_ folder: TemporaryDirectory) -> SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.downloadDirectory = folder.url
        return configuration
    }

    /// The whole stalls after 100,000 bytes; a range does not.
    private static func stallingServer() throws -> ScriptedServer {
        try ScriptedServer { request in
            let answer = Answer.representation(representation)
            return request["Range"] == nil ? answer.stalling(after: 100_000) : answer
        }
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
    }

    /// Waits until these are in the folder: what is left is removed as the task ends.
    private func expectNames(_ expected: [String], _ location: SourceLocation = #_sourceLocation) async throws
    {
        try? await eventually { try names == expected }
        #expect(try names == expected, sourceLocation: location)
    }

    private func task(_ server: ScriptedServer, to name: String? = "file", came: Gate? = nil) -> DownloadTask
    {
        var destination: DownloadTask.DestinationHandler?
        if let name { destination = { [folder] _, _ in folder.file(name) } }
        return session.downloadTask(
            with: URLRequest(url: server.url),
            progress: { if $0.completedUnitCount > 0 { came?.open() } },
            destination: destination,
            completion: ends.fileHandler
        )
    }

    /// Resume data of a download that got a third of the file.
    private func resumeData(_ server: ScriptedServer) async throws -> Data {
        let came = Gate()
        let task = task(server, came: came)
        task.resume()
        try await came.wait()
        // The gate opens with the first piece: all that the server sends before it stalls is to be kept.
        let partial = folder.file(try #require(try names.first))
        func held() throws -> Int {
            let files = try FileManager.default.contentsOfDirectory(
                at: partial,
                includingPropertiesForKeys: nil
            )
            return files.map { (try? Data(contentsOf: $0))?.count ?? 0 }.max() ?? 0
        }
        try await eventually { try held() >= 100_000 }
        let data = Recorder<Data?>()
        task.cancelByProducingResumeData { data.append($0) }
        task.cancelByProducingResumeData { data.append($0) }
        let end = try await ends.wait()
        #expect(end.code == .cancelled && end.file == nil)
        #expect(try await data.wait(count: 2) == [task.resumeData, task.resumeData])
        return try #require(task.resumeData)
    }

    /// Resume data has no body of a request, and what a POST has done is not to be done twice.
    @Test("P15", arguments: [true, false]) func aPOSTLeavesNoResumeData(isCancelled: Bool) async throws {
        let server = try ScriptedServer([
            .respond(body: .pattern(Self.body)).stalling(after: .body(100_000))
        ])
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        request.httpBody = Data("order=1".utf8)
        let (came, data) = (Gate(), Recorder<Data?>())
        let task = session.downloadTask(
            with: request,
            progress: { if $0.completedUnitCount > 0 { came.open() } },
            destination: nil,
            completion: ends.fileHandler
        )
        task.resume()
        try await came.wait()
        if isCancelled {
            task.cancelByProducingResumeData { data.append($0) }
            #expect(try await ends.wait().code == .cancelled)
            #expect(try await data.wait() == [nil])
        } else {
            server.stop()
            #expect(try await ends.wait().code == .networkConnectionLost)
        }
        #expect(task.resumeData == nil)
        // Nothing can go on with what came.
        try await expectNames([])
        #expect(server.requests.map(\.method) == ["POST"])
    }

    // MARK: - The destination

    @Test func theFileIsMovedToWhereTheClosureSaysAndNothingIsLeft() async throws {
        let server = try ScriptedServer(serving: Self.representation)
        let asked = Recorder<String>()
        let task = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: { [folder] temporary, response in
                let isThere = FileManager.default.fileExists(atPath: temporary.path)
                asked.append("\(isThere) \(response?.statusCode ?? 0)")
                return folder.file()
            },
            completion: ends.fileHandler
        )
        let notices = TaskNotices(of: task)
        #expect(session.downloadTasks == [task])
        task.resume()
        let end = try await ends.wait()
        #expect(end.file == folder.file() && end.error == nil && asked.elements == ["true 200"])
        #expect(try Self.body.firstDifference(fromFile: folder.file()) == nil)
        let names = try await notices.names.wait(count: 3)
        #expect(names == [.taskDidResume, .urlSessionDownloadTaskDidMoveFile, .taskDidComplete])
        try await expectNames(["file"])
    }

    /// The idiom of AFNetworking 3: a folder, and the name that the response suggests.
    @Test(arguments: [
        ("attachment; filename=\"old.pdf\"; filename*=UTF-8''%E6%8A%A5.pdf", "报.pdf"),
        ("attachment; filename=\"../../up.pdf\"", "up.pdf"), (nil, "b c.iso"),
    ])
    func aDestinationGetsANameThatIsSafe(disposition: String?, expected: String) async throws {
        let fields = disposition.map { ["Content-Disposition": $0] as FieldLines } ?? [:]
        let server = try ScriptedServer([.respond(200, fields, body: "x")])
        let task = session.downloadTask(
            with: URLRequest(url: server.url(path: "a/b%20c.iso")),
            progress: nil,
            destination: { [folder] _, response in folder.file(response?.suggestedFilename ?? "none") },
            completion: ends.fileHandler
        )
        task.resume()
        #expect(try await ends.wait().file == folder.file(expected))
        try await expectNames([expected])
    }

    /// A task whose destination closure has been called, and returns once `mayAnswer` is open.
    private func taskThatAsks(_ server: ScriptedServer, _ mayAnswer: Gate) async throws -> DownloadTask {
        let asked = Gate()
        let task = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: { [folder] _, _ in
                asked.open()
                try? mayAnswer.waitSynchronously(within: .seconds(50))
                return folder.file("file")
            },
            completion: ends.fileHandler
        )
        task.resume()
        try await asked.wait()
        return task
    }

    /// There is nothing to resume: the task succeeds, whatever the destination closure takes its time for.
    @Test(arguments: [false, true])
    func resumeDataOfACompleteFileIsNoneAndTheFileIsMoved(isSuspended: Bool) async throws {
        let server = try ScriptedServer(serving: Self.representation)
        let mayAnswer = Gate()
        let data = Recorder<Data?>()
        let task = try await taskThatAsks(server, mayAnswer)
        if isSuspended {
            task.suspend()
            mayAnswer.open()
        }
        task.cancelByProducingResumeData { data.append($0) }
        mayAnswer.open()
        let end = try await ends.wait()
        #expect(end.error == nil && end.file == folder.file("file"))
        #expect(try await data.wait() == [nil])
        #expect(try Self.body.firstDifference(fromFile: folder.file("file")) == nil)
        try await expectNames(["file"])
    }

    @Test func aFileIsNotMovedForATaskThatIsCancelledBeforeTheAnswer() async throws {
        let server = try ScriptedServer(serving: Self.representation)
        let mayAnswer = Gate()
        let task = try await taskThatAsks(server, mayAnswer)
        task.cancel()
        mayAnswer.open()
        let end = try await ends.wait()
        #expect(end.code == .cancelled && end.file == nil)
        try await expectNames([])
    }

    @Test func aTaskOfAnInvalidatedSessionLeavesNothing() async throws {
        let server = try ScriptedServer([])
        session.invalidateSession(cancelingTasks: true)
        let task = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: nil,
            completion: nil
        )
        let notices = TaskNotices(of: task)
        task.resume()
        #expect(try await notices.names.wait() == [.taskDidComplete])
        #expect(task.error as? SessionError == .invalidated)
        try await expectNames([])
    }

    @Test func aFileWithoutADestinationIsThereUntilTheHandlerHasReturned() async throws {
        let server = try ScriptedServer(serving: Self.representation)
        let lengths = Recorder<Int>()
        let task = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: nil,
            completion: { _, file, _ in
                lengths.append(file.flatMap { try? Data(contentsOf: $0).count } ?? -1)
            }
        )
        let notices = TaskNotices(of: task)
        task.resume()
        #expect(try await lengths.wait() == [300_000])
        // It is removed in the same turn as this is posted.
        #expect(try await notices.names.wait(count: 2).last == .taskDidComplete)
        try await expectNames([])
    }

    @Test func theTemporaryFileMayBeTheDestination() async throws {
        let server = try ScriptedServer(serving: Self.representation)
        session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: { temporary, _ in temporary },
            completion: ends.fileHandler
        ).resume()
        let file = try #require(try await ends.wait().file)
        session.completionQueue?.sync {}
        #expect(try Self.body.firstDifference(fromFile: file) == nil)
    }

    enum Obstacle: CaseIterable, Sendable {
        case file, danglingLink, noFolder, noFileURL
    }

    @Test("F44 a failed move is an error, and the file is not lost", arguments: Obstacle.allCases)
    func failedMove(_ obstacle: Obstacle) async throws {
        let server = try ScriptedServer(serving: Self.representation)
        var target = folder.file()
        switch obstacle {
        case .file: try Data("old".utf8).write(to: target)
        case .danglingLink:
            try FileManager.default.createSymbolicLink(
                atPath: target.path,
                withDestinationPath: folder.file("nothing").path
            )
        case .noFolder: target = folder.url.appendingPathComponent("none/file")
        case .noFileURL: target = server.url
        }
        let task = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: { [target] _, _ in target },
            completion: ends.fileHandler
        )
        let notices = TaskNotices(of: task)
        task.resume()
        let end = try await ends.wait()
        guard case .fileNotMoved(let temporary, target, _)? = end.error as? SessionError else {
            Issue.record("\(String(describing: end.error))")
            return
        }
        #expect(end.file == nil && task.error is SessionError && task.state == .completed)
        let names = try await notices.names.wait(count: 3)
        #expect(names[1...] == [.urlSessionDownloadTaskDidFailToMoveFile, .taskDidComplete])
        #expect(notices.userInfos.elements[1][TaskDidCompleteKey.error] is SessionError)
        #expect(try Self.body.firstDifference(fromFile: temporary) == nil)
        if obstacle == .file { #expect(try Data(contentsOf: target) == Data("old".utf8)) }
        #expect(!FileManager.default.fileExists(atPath: folder.file("nothing").path))
    }

    @Test func anErrorPageIsNotAFile() async throws {
        let server = try ScriptedServer([.respond(404, body: "nothing")])
        let asked = Gate()
        session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: { [folder] _, _ in
                asked.open()
                return folder.file()
            },
            completion: ends.fileHandler
        ).resume()
        let end = try await ends.wait()
        #expect(end.error is ResponseSerializationError && end.file == nil && !asked.isOpen)
        #expect(end.response?.statusCode == 404)
        try await expectNames([])
    }

    @Test func aTaskWithoutClosuresLeavesNothing() async throws {
        let server = try ScriptedServer(serving: Self.representation)
        // Nothing runs the main queue for it.
        session.completionQueue = nil
        let complete = Gate()
        let task = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: { [folder] _, _ in folder.file() },
            completion: nil
        )
        session.setTaskDidComplete { _, _ in complete.open() }
        task.resume()
        try await complete.wait()
        try await expectNames(["file"])
    }

    @Test func aSuspendedTaskThatIsReleasedLeavesNothing() async throws {
        let server = try Self.stallingServer()
        do {
            let session = URLSessionManager.forTests(Self.configuration(folder))
            let came = Gate()
            let task = session.downloadTask(
                with: URLRequest(url: server.url),
                progress: { _ in came.open() },
                destination: nil,
                completion: nil
            )
            task.resume()
            try await came.wait()
            task.suspend()
            try await server.waitForOpenConnections(0)
            #expect(try names.count == 1)
        }
        try await expectNames([])
    }

    // MARK: - Suspending and cancelling

    @Test func aSuspendedDownloadRequestsTheRest() async throws {
        let server = try Self.stallingServer()
        let (came, offsets) = (Gate(), Recorder<Int64>())
        session.setDownloadTaskDidResume { _, offset, _ in offsets.append(offset) }
        let task = task(server, came: came)
        task.resume()
        try await came.wait()
        task.suspend()
        try await server.waitForOpenConnections(0)
        task.resume()
        #expect(try await ends.wait().error == nil)
        #expect(try Self.body.firstDifference(fromFile: folder.file()) == nil)
        #expect(server.requests.last?["If-Range"] == "\"v1\"" && offsets.elements.count == 1)
    }

    @Test func aCancelledDownloadLeavesNothing() async throws {
        let server = try Self.stallingServer()
        let came = Gate()
        let task = task(server, came: came)
        task.resume()
        try await came.wait()
        #expect(try names.count == 1)
        task.cancel()
        let data = Recorder<Data?>()
        task.cancelByProducingResumeData { data.append($0) }
        #expect(try await ends.wait().code == .cancelled)
        #expect(try await data.wait() == [nil])
        try await expectNames([])
        #expect(task.resumeData == nil)
    }

    @Test func aDownloadThatWasNeverResumedHasNoResumeData() async throws {
        let server = try ScriptedServer([])
        let task = task(server)
        let data = Recorder<Data?>()
        task.cancelByProducingResumeData { data.append($0) }
        #expect(try await ends.wait().code == .cancelled)
        #expect(try await data.wait() == [nil])
        // One that has ended has none either.
        task.cancelByProducingResumeData { data.append($0) }
        #expect(try await data.wait(count: 2) == [nil, nil])
    }

    // MARK: - Resume data

    @Test func resumeDataContinuesInAnotherSession() async throws {
        let server = try Self.stallingServer()
        let data = try await resumeData(server)
        let other = URLSessionManager.forTests()
        let others = TaskEnds()
        let offsets = Recorder<[Int64]>()
        other.setDownloadTaskDidResume { offsets.append([$1, $2]) }
        let task = other.downloadTask(
            withResumeData: data,
            progress: nil,
            destination: { [folder] _, _ in folder.file() },
            completion: others.fileHandler
        )
        #expect(task.originalRequest.url == server.url && task.state == .suspended)
        task.resume()
        let end = try await others.wait()
        #expect(end.file == folder.file() && end.error == nil)
        #expect(try Self.body.firstDifference(fromFile: folder.file()) == nil)
        #expect(
            server.requests.last?["If-Range"] == "\"v1\""
                && offsets.elements == [[100_000, Int64(Self.body.length)]]
        )
        try await expectNames(["file"])
    }

    @Test func resumeDataContinuesWithTheSettingsOfTheSession() async throws {
        let server = try Self.stallingServer()
        let data = try await resumeData(server)
        let other = URLSessionManager.forTests()
        let others = TaskEnds()
        let policy = RetryPolicy(maximumRetries: 7)
        other.tokenSource = TokenSource(TokenSource.Token("other")) { _ in throw CancellationError() }
        other.requestAdapters = [
            ClosureRequestAdapter { request, _ in
                var request = request
                request.setValue("adapted", forHTTPHeaderField: "X-Adapted")
                return request
            }
        ]
        other.retryPolicy = policy
        let policies = Recorder<RetryPolicy?>()
        other.addObserver(PolicyReader(policies))
        other.downloadTask(
            withResumeData: data,
            progress: nil,
            destination: { [folder] _, _ in folder.file() },
            completion: others.fileHandler
        ).resume()
        #expect(try await others.wait().error == nil)
        let request = try #require(server.requests.last)
        // The token may be another user's: the last 64 KiB are compared.
        #expect(request["Range"] == "bytes=34464-" && request["X-Adapted"] == "adapted")
        #expect(request["Authorization"] == "Bearer other")
        #expect(policies.elements.first == policy)
    }

    private final class PolicyReader: OperationObserver {
        private let policies: Recorder<RetryPolicy?>

        init(_ policies: Recorder<RetryPolicy?>) { self.policies = policies }

        func operationDidStart(_ operation: ConnectionOperation) {
            policies.append(operation.retryPolicy)
        }
    }

    @Test func resumeDataContinuesInAnotherProcess() async throws {
        let server = try Self.stallingServer()
        let data = try await resumeData(server)
        let target = folder.file().path
        await #expect(processExitsWith: .success) { [data = data as Data, target = target as String] in
            alarm(50)
            let session = URLSessionManager()
            session.completionQueue = DispatchQueue(label: "callbacks")
            let ended = Recorder<Bool>()
            session.downloadTask(
                withResumeData: data,
                progress: nil,
                destination: { _, _ in URL(fileURLWithPath: target) },
                completion: { _, file, error in ended.append(error == nil && file?.path == target) }
            ).resume()
            guard try await ended.wait() == [true] else { exit(2) }
            session.completionQueue?.sync {}
            // What the closure holds would be a leak to a sanitizer.
            _exit(0)
        }
        #expect(try Self.body.firstDifference(fromFile: folder.file()) == nil)
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=100000-"])
        try await expectNames(["file"])
    }

    @Test func resumeDataOfAChangedFileStartsOver() async throws {
        let server = try ScriptedServer(
            serving: Self.representation,
            answers: [.currentRepresentation.stalling(after: 100_000), .currentRepresentation]
        )
        let data = try await resumeData(server)
        let new = PatternBody(seed: 2, length: 200_000)
        server.setRepresentation(Representation(.pattern(new), entityTag: .strong("v2")))
        let others = TaskEnds()
        session.downloadTask(
            withResumeData: data,
            progress: nil,
            destination: { [folder] _, _ in folder.file() },
            completion: others.fileHandler
        ).resume()
        #expect(try await others.wait().error == nil)
        #expect(try new.firstDifference(fromFile: folder.file()) == nil)
    }

    /// The secret is not in the data: another user might get what it stands for.
    @Test(arguments: [true, false])
    func resumeDataIsThereAfterAFailureAndNeedsTheSecretFieldsAgain(hasSecret: Bool) async throws {
        let server = try ScriptedServer(
            serving: Self.representation,
            answers: [.currentRepresentation.breaking(after: 100_000), .currentRepresentation]
        )
        session.retryPolicy = RetryPolicy(maximumRetries: 0)
        let secret = ["Authorization": "Bearer a"]
        var request = URLRequest(url: server.url)
        request.allHTTPHeaderFields = secret
        let task = session.downloadTask(
            with: request,
            progress: nil,
            destination: nil,
            completion: ends.fileHandler
        )
        task.resume()
        #expect(try await ends.wait().error != nil)
        let data = try #require(task.resumeData)
        #expect(!String(decoding: data, as: UTF8.self).contains("Bearer"))
        let others = TaskEnds()
        session.downloadTask(
            withResumeData: data,
            headers: hasSecret ? secret : [:],
            progress: nil,
            destination: { [folder] _, _ in folder.file() },
            completion: others.fileHandler
        ).resume()
        #expect(try await others.wait().error == nil)
        // Without it another user asks, and the end of what came is compared under the strong tag.
        #expect(server.requests.last?["Range"] == (hasSecret ? "bytes=100000-" : "bytes=34464-"))
        #expect(server.requests.last?["Authorization"] == (hasSecret ? "Bearer a" : nil))
        #expect(try Self.body.firstDifference(fromFile: folder.file()) == nil)
    }

    @Test(arguments: ["", "nonsense", #"{"resumeData": 2, "checkpoint": "/a"}"#])
    func invalidResumeDataIsTheErrorOfTheTask(_ text: String) async throws {
        session.downloadTask(
            withResumeData: Data(text.utf8),
            progress: nil,
            destination: nil,
            completion: ends.fileHandler
        ).resume()
        #expect(try await ends.wait().error as? SessionError == .resumeDataUnreadable)
    }

    @Test func resumeDataWithoutItsCheckpointIsTheErrorOfTheTask() async throws {
        let server = try Self.stallingServer()
        let data = try await resumeData(server)
        for name in try names { try FileManager.default.removeItem(at: folder.file(name)) }
        let others = TaskEnds()
        session.downloadTask(
            withResumeData: data,
            progress: nil,
            destination: nil,
            completion: others.fileHandler
        ).resume()
        #expect(try await others.wait().error != nil)
    }

    /// The task waits for the only connection when it is cancelled: the data is as good as before.
    @Test(arguments: [true, false])
    func resumeDataOfATaskThatWaitsForAConnectionIsKept(isWanted: Bool) async throws {
        let server = try Self.stallingServer()
        let data = try await resumeData(server)
        var configuration = Self.configuration(folder)
        configuration.maximumConnectionsPerHost = 1
        let other = URLSessionManager.forTests(configuration)
        let came = Gate()
        let first = other.downloadTask(
            with: URLRequest(url: server.url),
            progress: { if $0.completedUnitCount > 0 { came.open() } },
            destination: nil,
            completion: nil
        )
        first.resume()
        try await came.wait()
        let others = TaskEnds()
        let waiting = other.downloadTask(
            withResumeData: data,
            progress: nil,
            destination: { [folder] _, _ in folder.file() },
            completion: others.fileHandler
        )
        waiting.resume()
        try await eventually { waiting.isUnderWay }
        try await networkThreadIsDone()
        if isWanted {
            let again = Recorder<Data?>()
            waiting.cancelByProducingResumeData { again.append($0) }
            #expect(try await again.wait() == [data])
        } else {
            waiting.cancel()
        }
        #expect(try await others.wait().code == .cancelled)
        #expect(waiting.resumeData == (isWanted ? data : nil))
        first.cancel()
        other.completionQueue?.sync {}
        // What is not wanted is gone, part and checkpoint.
        try? await eventually { try names.count == (isWanted ? 1 : 0) }
        #expect(try names.count == (isWanted ? 1 : 0))
    }

    @Test func aResumedTaskHasTheTimeLimitAndFieldsOfItsSession() async throws {
        let server = try Self.stallingServer()
        let data = try await resumeData(server)
        var configuration = Self.configuration(folder)
        configuration.requestTimeout = 7
        configuration.additionalHeaders = ["X-A": "session", "X-B": "session"]
        let other = URLSessionManager.forTests(configuration)
        let task = other.downloadTask(
            withResumeData: data,
            headers: ["X-B": "task"],
            progress: nil,
            destination: nil,
            completion: nil
        )
        #expect(task.originalRequest.timeoutInterval == 7)
        #expect(task.originalRequest.value(forHTTPHeaderField: "X-A") == "session")
        #expect(task.originalRequest.value(forHTTPHeaderField: "X-B") == "task")
    }

    /// The notifications of a task without closures wait for the main queue, which this test holds, when it gets its
    /// first closure.
    @MainActor @Test func aClosureThatATaskGetsLateIsInTheGroup() async throws {
        let server = try ScriptedServer([.silence])
        let session = URLSessionManager(configuration: Self.configuration(folder))
        let group = DispatchGroup()
        session.completionGroup = group
        let events = Recorder<String>()
        let task = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: nil,
            completion: nil
        )
        task.resume()
        task.cancelByProducingResumeData { _ in events.append("handler") }
        // It enters the group when the task has ended.
        try eventuallySynchronously { group.wait(timeout: .now()) == .timedOut }
        group.notify(queue: .global()) { @Sendable in events.append("group") }
        #expect(try await events.wait(count: 2) == ["handler", "group"])
    }

    /// The released manager has let go of the suspended task.
    @Test func aTaskThatIsCancelledAfterItsManagerWasReleasedGivesResumeData() async throws {
        let server = try Self.stallingServer()
        let data = Recorder<Data?>()
        let came = Gate()
        do {
            var session: URLSessionManager? = .forTests(Self.configuration(folder))
            var task = session?.downloadTask(
                with: URLRequest(url: server.url),
                progress: { if $0.completedUnitCount > 0 { came.open() } },
                destination: nil,
                completion: ends.fileHandler
            )
            task?.resume()
            try await came.wait()
            task?.suspend()
            session = nil
            task?.cancelByProducingResumeData { data.append($0) }
            task = nil
        }
        #expect(try await ends.wait().code == .cancelled)
        let resumeData = try #require(try await data.wait()[0])
        let others = TaskEnds()
        session.downloadTask(
            withResumeData: resumeData,
            progress: nil,
            destination: { [folder] _, _ in folder.file() },
            completion: others.fileHandler
        ).resume()
        #expect(try await others.wait().error == nil)
        #expect(try Self.body.firstDifference(fromFile: folder.file()) == nil)
        #expect(server.requests.last?["If-Range"] == "\"v1\"")
    }

    /// Of two tasks from one resume data one waits for a connection when the other has the file whole.
    @Test func aTaskThatHadOpenedNothingLeavesTheFileOfAnotherOne() async throws {
        let server = try Self.stallingServer()
        let data = try await resumeData(server)
        var configuration = Self.configuration(folder)
        configuration.maximumConnectionsPerHost = 1
        let session = URLSessionManager.forTests(configuration)
        let (asked, came) = (Gate(), Gate())
        let mayGoOn = DispatchSemaphore(value: 0)
        let (complete, cancelled) = (TaskEnds(), TaskEnds())
        let first = session.downloadTask(
            withResumeData: data,
            progress: nil,
            destination: { [folder] _, _ in
                asked.open()
                mayGoOn.wait()
                return folder.file()
            },
            completion: complete.fileHandler
        )
        let second = session.downloadTask(
            withResumeData: data,
            progress: nil,
            destination: nil,
            completion: cancelled.fileHandler
        )
        first.resume()
        try await asked.wait()
        let other = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: { if $0.completedUnitCount > 0 { came.open() } },
            destination: nil,
            completion: nil
        )
        other.resume()
        try await came.wait()
        second.resume()
        try await eventually { second.isUnderWay }
        try await networkThreadIsDone()
        second.cancel()
        #expect(try await cancelled.wait().code == .cancelled)
        mayGoOn.signal()
        #expect(try await complete.wait().error == nil)
        #expect(try Self.body.firstDifference(fromFile: folder.file()) == nil)
        other.cancel()
    }
}
