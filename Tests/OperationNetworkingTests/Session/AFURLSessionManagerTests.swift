import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// AFNetworking's own tests of `AFURLSessionManager`, replayed against httpbin by their behavior: USM are those
/// of 2.7, the others came later. `Tests/AFNetworking.md` has those that cannot be replayed, with reasons.
@Suite(.enabled(if: RealServers.httpbin != nil), .timeLimit(.minutes(1)))
struct AFURLSessionManagerTests {
    enum Kind: CaseIterable, Sendable {
        case data, upload, download
    }

    private let session = URLSessionManager.forTests()
    private let ends = TaskEnds()
    private let httpbin: URL

    init() throws {
        httpbin = try #require(RealServers.httpbin)
    }

    private func url(_ path: String) -> URL { httpbin.appendingPathComponent(path) }

    private func task(_ kind: Kind, _ url: URL) -> SessionTask {
        var request = URLRequest(url: url)
        switch kind {
        case .data:
            return session.dataTask(with: request, completion: nil)
        case .upload:
            request.httpMethod = "POST"
            return session.uploadTask(with: request, from: Data("body".utf8), progress: nil, completion: nil)
        case .download:
            return session.downloadTask(with: request, progress: nil, destination: nil, completion: nil)
        }
    }

    /// The fraction of a parent of which 80 of 100 are the task's, when the task has completed.
    private func fraction(_ kind: Kind, _ progress: (SessionTask) -> Progress) async throws -> Double {
        let overall = Progress(totalUnitCount: 100)
        let url = url(kind == .upload ? "post" : "get")
        let task = overall.performAsCurrent(withPendingUnitCount: 80) { self.task(kind, url) }
        let notices = TaskNotices(of: task)
        task.resume()
        try await notices.names.wait(count: 2)
        #expect(progress(task).fractionCompleted == 1)
        return overall.fractionCompleted
    }

    @Test("USM-01 testUploadTasksProgressBecomesPartOfCurrentProgress")
    func uploadProgress() async throws {
        #expect(try await fraction(.upload) { session.uploadProgress(for: $0) } == 0.8)
        #expect(try await fraction(.upload) { $0.progress } == 0.8)
    }

    @Test("USM-02 testDownloadTasksProgressBecomesPartOfCurrentProgress")
    func downloadProgress() async throws {
        #expect(try await fraction(.download) { session.downloadProgress(for: $0) } == 0.8)
        #expect(try await fraction(.data) { $0.progress } == 0.8)
    }

    @Test(
        """
        USM-03 testDidResumeNotificationIsReceivedByLocalDataTaskAfterResume, \
        USM-07 testDidResumeNotificationIsReceivedByLocalUploadTaskAfterResume, \
        USM-11 testDidResumeNotificationIsReceivedByLocalDownloadTaskAfterResume
        """,
        arguments: Kind.allCases
    )
    func didResume(_ kind: Kind) async throws {
        // No answer comes before the task was cancelled.
        let task = task(kind, url("delay/10"))
        let notices = TaskNotices(of: task)
        task.resume()
        task.resume()
        #expect(try await notices.names.wait() == [.taskDidResume])
        task.cancel()
        // Only a real change of the state is reported.
        #expect(try await notices.names.wait(count: 2) == [.taskDidResume, .taskDidComplete])
    }

    @Test(
        """
        USM-04 testDidSuspendNotificationIsReceivedByLocalDataTaskAfterSuspend, \
        USM-08 testDidSuspendNotificationIsReceivedByLocalUploadTaskAfterSuspend, \
        USM-12 testDidSuspendNotificationIsReceivedByLocalDownloadTaskAfterSuspend
        """,
        arguments: Kind.allCases
    )
    func didSuspend(_ kind: Kind) async throws {
        // No answer comes before the task was cancelled.
        let task = task(kind, url("delay/10"))
        let notices = TaskNotices(of: task)
        task.suspend()
        task.resume()
        #expect(try await notices.names.wait() == [.taskDidResume])
        task.suspend()
        #expect(try await notices.names.wait(count: 2) == [.taskDidResume, .taskDidSuspend])
        task.cancel()
        try await notices.names.wait(count: 3)
    }

    @Test("testUploadTaskDoesReportProgress")
    func uploadReports() async throws {
        var request = URLRequest(url: url("post"))
        request.httpMethod = "POST"
        let text = String(repeating: "AFNetworking", count: 25_000)
        let counts = Recorder<[Int64]>()
        let task = session.uploadTask(
            with: request,
            from: Data(text.utf8),
            progress: { counts.append([$0.completedUnitCount, $0.totalUnitCount]) },
            completion: ends.handler
        )
        task.resume()
        let echo = try await ends.wait().object as? [String: any Sendable]
        #expect(echo?["data"] as? String == text)
        #expect(counts.elements.last == [300_000, 300_000])
        #expect(task.countOfBytesSent == 300_000 && task.countOfBytesExpectedToSend == 300_000)
    }

    @Test("testDataTaskDoesReportDownloadProgress")
    func dataReports() async throws {
        session.responseSerializer = HTTPResponseSerializer()
        let counts = Recorder<[Int64]>()
        let task = session.dataTask(
            with: URLRequest(url: url("bytes/100000")),
            downloadProgress: { counts.append([$0.completedUnitCount, $0.totalUnitCount]) },
            completion: ends.handler
        )
        task.resume()
        #expect((try await ends.wait().object as? Data)?.count == 100_000)
        #expect(counts.elements.last == [100_000, 100_000])
    }

    /// There two tasks that were made at the same time got one number.
    @Test("testRDAR17029580IsFixed")
    func tasksThatAreMadeAtTheSameTimeHaveNumbersOfTheirOwn() async throws {
        let numbers = await withTaskGroup(of: Int.self) { [session] group in
            for _ in 0..<500 {
                group.addTask {
                    let task = session.dataTask(
                        with: URLRequest(url: URL(fileURLWithPath: "/")),
                        completion: nil
                    )
                    return task.taskIdentifier
                }
            }
            return await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(numbers.count == 500)
    }

    @Test("testDownloadTaskDoesReportProgress")
    func downloadReports() async throws {
        let counts = Recorder<[Int64]>()
        let task = session.downloadTask(
            with: URLRequest(url: url("bytes/100000")),
            progress: { counts.append([$0.completedUnitCount, $0.totalUnitCount]) },
            destination: nil,
            completion: ends.fileHandler
        )
        task.resume()
        _ = try await ends.wait()
        #expect(counts.elements.last == [100_000, 100_000])
        #expect(task.countOfBytesReceived == 100_000)
    }

    @Test("several files arrive, each at its own destination")
    func severalFiles() async throws {
        let folder = try TemporaryDirectory()
        for name in ["a", "b", "c"] {
            session.downloadTask(
                with: URLRequest(url: url("anything/\(name)")),
                progress: nil,
                destination: { _, response in folder.file(response?.url?.lastPathComponent ?? "none") },
                completion: ends.fileHandler
            ).resume()
        }
        let files = try await ends.recorder.wait(count: 3).compactMap(\.file?.lastPathComponent)
        #expect(files.sorted() == ["a", "b", "c"])
        for name in files {
            #expect(try String(contentsOf: folder.file(name), encoding: .utf8).contains("/anything/\(name)"))
        }
    }

    // MARK: - 4.x

    @Test("testSessionTaskDoesReportMetrics")
    func metrics() async throws {
        let counts = Recorder<Int>()
        session.setTaskDidFinishCollectingMetrics { _, metrics in counts.append(metrics.count) }
        let task = task(.download, url("get"))
        let notices = TaskNotices(of: task)
        task.resume()
        try await notices.names.wait(count: 2)
        #expect(counts.elements == [1])
        let key = TaskDidCompleteKey.sessionTaskMetrics
        #expect((notices.userInfos.elements[1][key] as? [TransferMetrics])?.count == 1)
    }

    @Test("testSessionIsStillValid, testSessionRecreatesAgain", arguments: [false, true])
    func invalidation(resetSession: Bool) async throws {
        session.invalidateSession(cancelingTasks: true, resetSession: resetSession)
        session.dataTask(with: URLRequest(url: url("get")), completion: ends.handler).resume()
        let end = try await ends.wait()
        #expect((end.error == nil) == resetSession && (end.object != nil) == resetSession)
    }

    @Test(
        "testTaskMoveSuccessfullyAfterDownloading, testTaskMoveFailedAfterDownloading",
        arguments: [true, false]
    )
    func move(isPossible: Bool) async throws {
        let folder = try TemporaryDirectory()
        if !isPossible { try Data("old".utf8).write(to: folder.file()) }
        let task = session.downloadTask(
            with: URLRequest(url: url("get")),
            progress: nil,
            destination: { _, _ in folder.file() },
            completion: ends.fileHandler
        )
        let notices = TaskNotices(of: task)
        task.resume()
        let end = try await ends.wait()
        #expect(end.file == (isPossible ? folder.file() : nil) && (end.error is SessionError) == !isPossible)
        let names = try await notices.names.wait(count: 3)
        #expect(
            names == [
                .taskDidResume,
                isPossible ? .urlSessionDownloadTaskDidMoveFile : .urlSessionDownloadTaskDidFailToMoveFile,
                .taskDidComplete,
            ]
        )
    }

    // MARK: - Ours

    /// The server is a scripted one: httpbin gives its streams other lengths.
    @Test(
        "the progress of a transfer is a child of the current one, whatever its length",
        arguments: [true, false]
    )
    func transferIsPartOfTheCurrentProgress(hasLength: Bool) async throws {
        let answer = Answer.respond(body: .generated(length: 300_000))
        let server = try ScriptedServer([hasLength ? answer : answer.chunked()])
        let overall = Progress(totalUnitCount: 100)
        let task = overall.performAsCurrent(withPendingUnitCount: 80) {
            session.downloadTask(
                with: URLRequest(url: server.url),
                progress: nil,
                destination: nil,
                completion: ends.fileHandler
            )
        }
        task.resume()
        #expect(try await ends.wait().error == nil)
        #expect(overall.fractionCompleted == 0.8 && task.progress.completedUnitCount == 300_000)
    }
}
