import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A batch that did not complete, and the one that goes on with it.
@Suite(.timeLimit(.minutes(1)))
struct BatchResumeTests {
    private static let body = PatternBody(seed: 1, length: 100_000)
    private static let representation = Representation(.pattern(body), entityTag: .strong("v1"))

    /// Leaves a journal: 0 and 1 are complete, of 2 came a part, the others have not begun.
    private static func leave(_ scene: BatchScene, of server: ScriptedServer, count: Int = 5) async throws {
        let batch = try scene.batch(scene.items(0..<count, of: server), journal: scene.journal) { options in
            options.maximumActiveDownloadsPerHost = 1
            options.policy = .stopAtFirstFailure
        }
        #expect(await batch.results().map(\.isSuccess) == (0..<count).map { $0 < 2 })
    }

    private static func server() throws -> ScriptedServer {
        let whole = Answer.currentRepresentation
        return try ScriptedServer(
            serving: representation,
            answers: [whole, whole, whole.breaking(after: .body(60_000)), whole]
        )
    }

    @Test func whatIsCompleteIsNotFetchedAgainAndWhatIsNotContinues() async throws {
        let (server, scene) = (try Self.server(), try BatchScene())
        try await Self.leave(scene, of: server)
        #expect(scene.names == ["0", "1", "2.part", "2.part.resume", "batch.journal"])
        #expect(server.requests.count == 3)

        let batch = try scene.resumed()
        #expect(batch.items.map(\.url) == (0..<5).map { server.url(path: "\($0)") })
        #expect(batch.options.maximumActiveDownloadsPerHost == 1 && batch.options.retryPolicy == nil)
        let downloads = try await batch.results().map { try $0.get() }
        #expect(server.requests.map(\.target) == ["/0", "/1", "/2", "/2", "/3", "/4"])
        #expect(server.requests[3]["Range"] == "bytes=60000-")
        #expect(downloads.map(\.bytesRecovered) == [100_000, 100_000, 60_000, 0, 0])
        #expect(downloads.map(\.proof) == Array(repeating: .length, count: 5))
        for index in 0..<5 {
            #expect(try Self.body.firstDifference(fromFile: scene.folder.file("\(index)")) == nil)
        }
        #expect(scene.names == ["0", "1", "2", "3", "4"])
        #expect(batch.completedBytes == 500_000)
        #expect(throws: DownloadBatchError.journalMissing(scene.journal)) { try scene.resumed() }
    }

    /// The option is in the journal: what another program made meanwhile counts, and what is not there is fetched.
    @Test func existingFilesAreKeptByTheNextProcessToo() async throws {
        let (server, scene) = (try Self.server(), try BatchScene())
        let items = scene.items(0..<5, of: server)
        let batch = try scene.batch(items, journal: scene.journal) { options in
            options.maximumActiveDownloadsPerHost = 1
            options.policy = .stopAtFirstFailure
            options.existingFiles = .keep
        }
        #expect(await batch.results().map(\.isSuccess) == [true, true, false, false, false])
        try Data("another's".utf8).write(to: scene.folder.file("3"))
        let files = try await scene.resumed().results().map { try $0.get() }
        #expect(files.map(\.proof) == [.length, .length, .length, .existing, .length])
        #expect(server.requests.map(\.target) == ["/0", "/1", "/2", "/2", "/4"])
        #expect(scene.names == ["0", "1", "2", "3", "4"])
    }

    @Test func whatWasRemovedIsFetchedAgain() async throws {
        let (server, scene) = (try Self.server(), try BatchScene())
        try await Self.leave(scene, of: server)
        try FileManager.default.removeItem(at: scene.folder.file("1"))
        #expect(await (try scene.resumed()).results().allSatisfy(\.isSuccess))
        #expect(server.requests.map(\.target).filter { $0 == "/1" }.count == 2)
    }

    @Test func aFileChangedByOthersIsNotAccepted() async throws {
        let (server, scene) = (try Self.server(), try BatchScene())
        try await Self.leave(scene, of: server)
        try Data("mine".utf8).write(to: scene.folder.file("1"))
        let results = await (try scene.resumed()).results()
        #expect(results[1].error as? DownloadError == .destinationExists(scene.folder.file("1")))
        #expect(try scene.text("1") == "mine")
        // The policy came back, too: the first failure stops the others.
        #expect(results.map(\.isSuccess) == [true, false, false, false, false])
    }

    @Test func aBatchThatRunsCannotBeResumed() async throws {
        let server = try ScriptedServer([Answer.respond(body: "x").stalling(after: .wire(0))])
        let scene = try BatchScene()
        let batch = try scene.batch(scene.items(0..<5, of: server), journal: scene.journal) {
            $0.maximumActiveDownloadsPerHost = 1
        }
        try await server.waitForStalls()
        #expect(throws: DownloadBatchError.journalInUse(scene.journal)) { try scene.resumed() }
        #expect(throws: DownloadBatchError.journalExists(scene.journal)) {
            try scene.batch(scene.items(0..<1, of: server), journal: scene.journal)
        }
        batch.cancel()
        _ = await batch.results()
    }

    @Test func failedMembersAreRetriedByDefault() async throws {
        let server = try ScriptedServer { request in
            request.path == "/1" ? .respond(404) : .respond(body: .text(request.path))
        }
        let scene = try BatchScene()
        let first = await (try scene.batch(scene.items(0..<3, of: server), journal: scene.journal)).results()
        #expect(first.map(\.isSuccess) == [true, false, true])
        #expect(server.requests.count == 3)

        let kept = try scene.manager.downloads(resuming: scene.journal, retriesFailed: false)
        guard case .failedBefore(let sentence)? = await kept.results()[1].error as? DownloadBatchError else {
            Issue.record("it was tried again")
            return
        }
        #expect(sentence.contains("404"))
        #expect(server.requests.count == 3)

        let again = await (try scene.resumed()).results()
        #expect(again.map(\.isSuccess) == [true, false, true])
        #expect(server.requests.map(\.target).last == "/1" && server.requests.count == 4)
    }

    @Test func secretsMustBeProvidedAgain() async throws {
        let server = try ScriptedServer { request in
            guard request["Authorization"] == "Bearer tea", request["X-Open"] == "1" else {
                return .respond(401)
            }
            let answer = Answer.representation(Self.representation)
            return request["Range"] == nil ? answer.breaking(after: .body(60_000)) : answer
        }
        let scene = try BatchScene()
        var items = scene.items(0..<1, of: server)
        items[0].headers = ["Authorization": "Bearer tea", "X-Open": "1"]
        let first = await (try scene.batch(items, journal: scene.journal)).results()
        #expect(first[0].error is URLError)
        #expect(try !scene.text("batch.journal").contains("tea"))
        let resumed = try scene.manager.downloads(
            resuming: scene.journal,
            headers: { item in
                #expect(item.withheldHeaders == ["Authorization"])
                return ["Authorization": "Bearer tea"]
            }
        )
        #expect(await resumed.results().allSatisfy(\.isSuccess))
        #expect(server.requests.last?["Range"] == "bytes=60000-")
    }

    @Test func theFilesAndTheJournalCanBeMovedTogether() async throws {
        let (server, scene) = (try Self.server(), try BatchScene())
        try await Self.leave(scene, of: server)
        let other = try BatchScene()
        for name in scene.names {
            try FileManager.default.moveItem(at: scene.folder.file(name), to: other.folder.file(name))
        }
        #expect(await (try other.resumed()).results().allSatisfy(\.isSuccess))
        #expect(server.requests.count == 6)
        #expect(scene.names.isEmpty && other.names == ["0", "1", "2", "3", "4"])
    }

    // MARK: - A full disk

    @Test(.enabled(if: SmallDisk.isPermitted, "may not mount"), arguments: [true, false])
    func aFullDiskPausesTheBatchUntilThereIsRoom(isLengthKnown: Bool) async throws {
        let body = PatternBody(seed: 1, length: 16_000)
        let answer = Answer.currentRepresentation
        let server = try ScriptedServer(
            serving: Representation(.pattern(body), entityTag: .strong("v1")),
            answers: [isLengthKnown ? answer : answer.chunked()]
        )
        let (disk, scene) = (try SmallDisk(), try BatchScene())
        try Data(count: 34_000).write(to: disk.file("other"))
        let items = (0..<3).map {
            DownloadItem(url: server.url(path: "\($0)"), destination: disk.file("\($0)"))
        }
        let batch = try scene.batch(items, journal: scene.journal) { options in
            options.maximumActiveDownloadsPerHost = 1
            options.policy = .stopAtFirstFailure
        }
        try await scene.full.wait()
        #expect(batch.isPaused)
        #expect(scene.ended.elements == [0])
        try FileManager.default.removeItem(at: disk.file("other"))
        batch.resume()
        #expect(await batch.results().allSatisfy(\.isSuccess))
        // The one that found no room comes last.
        #expect(scene.ended.elements == [0, 2, 1])
        for index in 0..<3 { #expect(try body.firstDifference(fromFile: disk.file("\(index)")) == nil) }
        #expect(scene.full.elements.count == 1)
        // What fitted is not fetched again.
        if !isLengthKnown { #expect(server.requests.contains { $0["Range"] != nil }) }
    }

    // MARK: - Releasing

    /// Begins a batch, and releases it and its manager while its first member runs.
    private static func release(
        in scene: BatchScene,
        of server: ScriptedServer,
        pausing: Bool
    ) async throws -> () -> DownloadBatch? {
        let manager = OperationManager()
        manager.completionQueue = DispatchQueue(label: "callbacks")
        manager.requestSerializer = HTTPRequestSerializer()
        var options = DownloadBatch.Options()
        options.maximumActiveDownloadsPerHost = 1
        let batch = try manager.downloads(
            scene.items(0..<3, of: server),
            options: options,
            journal: scene.journal,
            event: scene.onEvent
        )
        try await server.waitForStalls()
        try await eventually { batch.completedBytes >= 60_000 }
        if pausing { batch.pause() }
        return { [weak batch] in batch }
    }

    private static func stallingServer() throws -> ScriptedServer {
        try ScriptedServer(
            serving: representation,
            answers: [.currentRepresentation.stalling(after: .body(60_000)), .currentRepresentation]
        )
    }

    @Test func aPausedBatchThatIsReleasedLeavesItsJournalToAnother() async throws {
        let (server, scene) = (try Self.stallingServer(), try BatchScene())
        let released = try await Self.release(in: scene, of: server, pausing: true)
        try await eventually { released() == nil }
        var next: DownloadBatch?
        try await eventually {
            do {
                next = try scene.resumed()
                return true
            } catch DownloadBatchError.journalInUse {
                return false
            }
        }
        let batch = try #require(next)
        #expect(await batch.results().map(\.isSuccess) == [true, true, true])
        for index in 0..<3 {
            #expect(try Self.body.firstDifference(fromFile: scene.folder.file("\(index)")) == nil)
        }
        #expect(server.requests[1]["Range"] == "bytes=60000-")
        #expect(scene.names == ["0", "1", "2"])
    }

    @Test func aBatchThatRunsIsKeptByItsOperations() async throws {
        let (server, scene) = (try Self.stallingServer(), try BatchScene())
        let released = try await Self.release(in: scene, of: server, pausing: false)
        #expect(released() != nil)
        server.release()
        #expect(try await scene.ended.wait(count: 3) == [0, 1, 2])
        try await eventually { released() == nil }
        #expect(scene.names == ["0", "1", "2"])
    }

    /// One that is let go of while it runs, and then finds no room, or is paused by its progress, is released.
    @Test func aBatchThatIsPausedByItsProgressIsReleased() async throws {
        let (server, scene) = (try Self.stallingServer(), try BatchScene())
        let released = try await Self.release(in: scene, of: server, pausing: false)
        try #require(released()).progress.pause()
        try await eventually { released() == nil }
        #expect(scene.names.contains("batch.journal") && scene.ended.elements.isEmpty)
    }
}
