import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

/// AFNetworking's own tests of `AFURLSessionManager`, replayed by their behavior: USM are those of 2.7, the
/// others came with 3.x. Those of background sessions, of swizzling and of KVO of a `Progress` have nothing
/// to be replayed on.
@Suite(.timeLimit(.minutes(1)))
struct AFURLSessionManagerTests {
    enum Kind: CaseIterable, Sendable {
        case data, upload, download
    }

    private let session = URLSessionManager.forTests()

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

    /// The fraction of a parent of which 80 of 100 are the task's, when the task's progress is whole.
    private func fraction(_ kind: Kind, _ progress: (SessionTask) -> Progress) -> Double {
        let overall = Progress(totalUnitCount: 100)
        overall.becomeCurrent(withPendingUnitCount: 80)
        let task = task(kind, URL(fileURLWithPath: "/"))
        overall.resignCurrent()
        let own = progress(task)
        own.totalUnitCount = 1
        own.completedUnitCount = 1
        #expect(own.fractionCompleted == 1)
        return overall.fractionCompleted
    }

    @Test("USM-01 testUploadTasksProgressBecomesPartOfCurrentProgress")
    func uploadProgress() {
        #expect(fraction(.upload) { session.uploadProgress(for: $0) } == 0.8)
        #expect(fraction(.upload) { $0.progress } == 0.8)
    }

    @Test("USM-02 testDownloadTasksProgressBecomesPartOfCurrentProgress")
    func downloadProgress() {
        #expect(fraction(.download) { session.downloadProgress(for: $0) } == 0.8)
        #expect(fraction(.data) { $0.progress } == 0.8)
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
        let server = try ScriptedServer([.silence])
        let task = task(kind, server.url)
        let notices = TaskNotices(of: task)
        task.resume()
        task.resume()
        #expect(try await notices.names.wait() == [.taskDidResume])
        task.cancel()
        // A real change of the state alone is told.
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
        let server = try ScriptedServer([.silence])
        let task = task(kind, server.url)
        let notices = TaskNotices(of: task)
        task.suspend()
        task.resume()
        task.suspend()
        #expect(try await notices.names.wait(count: 2) == [.taskDidResume, .taskDidSuspend])
        task.cancel()
        try await notices.names.wait(count: 3)
    }

    @Test("testUploadTaskDoesReportProgress")
    func uploadReports() async throws {
        let server = try ScriptedServer([.respond()])
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        let ends = TaskEnds()
        let counts = Recorder<[Int64]>()
        let task = session.uploadTask(
            with: request,
            from: PatternBody(seed: 1, length: 300_000).data,
            progress: { counts.append([$0.completedUnitCount, $0.totalUnitCount]) },
            completion: ends.handler
        )
        task.resume()
        _ = try await ends.wait()
        #expect(counts.elements.last == [300_000, 300_000])
        #expect(task.countOfBytesSent == 300_000 && task.countOfBytesExpectedToSend == 300_000)
        #expect(server.requests.first?.body.count == 300_000)
    }

    @Test("testDataTaskDoesReportDownloadProgress")
    func dataReports() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 300_000))])
        session.responseSerializer = HTTPResponseSerializer()
        let ends = TaskEnds()
        let counts = Recorder<[Int64]>()
        let task = session.dataTask(
            with: URLRequest(url: server.url),
            downloadProgress: { counts.append([$0.completedUnitCount, $0.totalUnitCount]) },
            completion: ends.handler
        )
        task.resume()
        #expect((try await ends.wait().object as? Data)?.count == 300_000)
        #expect(counts.elements.last == [300_000, 300_000])
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
        let server = try ScriptedServer([.respond(body: .generated(length: 300_000))])
        let ends = TaskEnds()
        let counts = Recorder<[Int64]>()
        let task = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: { counts.append([$0.completedUnitCount, $0.totalUnitCount]) },
            destination: nil,
            completion: ends.fileHandler
        )
        task.resume()
        _ = try await ends.wait()
        #expect(counts.elements.last == [300_000, 300_000])
        #expect(task.countOfBytesReceived == 300_000)
    }

    @Test("progress of a transfer is part of the current one, whatever its length", arguments: [true, false])
    func transferIsPartOfTheCurrentProgress(hasLength: Bool) async throws {
        let answer = Answer.respond(body: .generated(length: 300_000))
        let server = try ScriptedServer([hasLength ? answer : answer.chunked()])
        let overall = Progress(totalUnitCount: 100)
        let ends = TaskEnds()
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

    @Test("testDownloadingMultipleFiles: each to its own destination")
    func severalFiles() async throws {
        let server = try ScriptedServer { request in .respond(body: .text(request.path)) }
        let folder = try TemporaryDirectory()
        let ends = TaskEnds()
        for name in ["a", "b", "c"] {
            session.downloadTask(
                with: URLRequest(url: server.url(path: name)),
                progress: nil,
                destination: { _, response in folder.file(response?.url?.lastPathComponent ?? "none") },
                completion: ends.fileHandler
            ).resume()
        }
        let files = try await ends.recorder.wait(count: 3).compactMap(\.file?.lastPathComponent)
        #expect(files.sorted() == ["a", "b", "c"])
        for name in files {
            #expect(try String(contentsOf: folder.file(name), encoding: .utf8) == "/\(name)")
        }
    }
}
