import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct DownloadBatchTests {
    @Test func filesAreThereAndResultsAreInOrder() async throws {
        let server = try BatchScene.server()
        let scene = try BatchScene()
        let batch = try scene.batch(scene.items(0..<40, of: server), journal: scene.journal)
        let results = await batch.results()
        #expect(try results.map { try $0.get().file.lastPathComponent } == (0..<40).map(String.init))
        for index in 0..<40 { #expect(try scene.text("\(index)") == "/\(index)") }
        #expect(scene.ended.elements.sorted() == Array(0..<40))
        #expect(batch.fractionCompleted == 1 && batch.progress.isFinished)
        #expect(server.requests.count == 40)
        // The journal is gone, and no partial file is left.
        #expect(scene.names == (0..<40).map(String.init).sorted())
    }

    // MARK: - Files that exist

    /// Another program's file at 1 of 0, 1 and 2.
    private static func scene() throws -> BatchScene {
        let scene = try BatchScene()
        try Data("another's".utf8).write(to: scene.folder.file("1"))
        return scene
    }

    @Test func anExistingFileFailsItsMemberBeforeAnyRequest() async throws {
        let (server, scene) = (try BatchScene.server(), try Self.scene())
        #expect(DownloadBatch.Options().existingFiles == .fail)
        let results = await (try scene.batch(scene.items(0..<3, of: server))).results()
        #expect(results.map(\.isSuccess) == [true, false, true])
        #expect(results[1].error as? DownloadError == .destinationExists(scene.folder.file("1")))
        #expect(server.requests.map(\.target).sorted() == ["/0", "/2"])
        #expect(try scene.text("1") == "another's")
    }

    @Test func aKeptExistingFileIsReportedAsDone() async throws {
        let (server, scene) = (try BatchScene.server(), try Self.scene())
        let batch = try scene.batch(scene.items(0..<3, of: server), journal: scene.journal) {
            $0.existingFiles = .keep
        }
        let files = try await batch.results().map { try $0.get() }
        #expect(files.map(\.proof) == [.length, .existing, .length])
        #expect(files[1].file == scene.folder.file("1"))
        #expect(files[1].length == 9 && files[1].bytesRecovered == 9)
        #expect(server.requests.map(\.target).sorted() == ["/0", "/2"])
        #expect(scene.ended.elements.sorted() == [0, 1, 2])
        #expect(try scene.text("1") == "another's")
        #expect(batch.fractionCompleted == 1 && batch.completedBytes == 13)
        #expect(scene.names == ["0", "1", "2"])

        // Run again, it has nothing to do.
        let again = try scene.batch(scene.items(0..<3, of: server), journal: scene.journal) {
            $0.existingFiles = .keep
        }
        #expect(try await again.results().map { try $0.get().proof } == [.existing, .existing, .existing])
        #expect(server.requests.count == 2)
    }

    @Test func anExistingFileIsReplacedOnlyWhenTheNewOneIsComplete() async throws {
        let (gate, scene) = (Gate(), try Self.scene())
        let server = try ScriptedServer([
            .respond(500), Answer.respond(body: "new").held(after: .body(1), by: gate),
        ])
        let item = DownloadItem(url: server.url(path: "1"), destination: scene.folder.file("1"))
        let failed = try scene.batch([item]) { $0.existingFiles = .replace }
        #expect(await failed.results().map(\.isSuccess) == [false])
        #expect(try scene.text("1") == "another's")
        let batch = try scene.batch([item]) { $0.existingFiles = .replace }
        try await gate.waitForArrivals(1)
        #expect(try scene.text("1") == "another's")
        gate.open()
        #expect(await batch.results().map(\.isSuccess) == [true])
        #expect(try scene.text("1") == "new")
    }

    @Test func aKeptFileNeedsTheExpectedDigests() async throws {
        let (server, scene) = (try BatchScene.server(), try Self.scene())
        let digest = try FileDigest.of(Data("another's".utf8), algorithm: .sha256)
        let other = try FileDigest.of(Data("expected".utf8), algorithm: .sha256)
        for (expected, isKept) in [(digest, true), (other, false)] {
            var items = scene.items(1..<2, of: server)
            items[0].expectedDigests = [expected]
            let result = try await scene.batch(items) { $0.existingFiles = .keep }.results()[0]
            if isKept {
                #expect(try result.get().proof == .existing && result.get().digests == [digest])
            } else {
                let error = DownloadError.digestMismatch(
                    items[0].destination,
                    expected: other,
                    actual: digest
                )
                #expect(result.error as? DownloadError == error)
            }
        }
        #expect(server.requests.isEmpty)
        #expect(try scene.text("1") == "another's")
    }

    @Test(arguments: DownloadBatch.ExistingFiles.allCases)
    func whatIsNotAFileIsAnErrorInAnyCase(existingFiles: DownloadBatch.ExistingFiles) async throws {
        let (server, scene) = (try BatchScene.server(), try BatchScene())
        let items = scene.items(0..<2, of: server)
        try FileManager.default.createDirectory(at: items[0].destination, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            at: items[1].destination,
            withDestinationURL: scene.folder.file("elsewhere")
        )
        let results = await (try scene.batch(items) { $0.existingFiles = existingFiles }).results()
        #expect(results[0].error as? DownloadError == .destinationIsDirectory(items[0].destination))
        #expect(results[1].error as? DownloadError == .destinationIsNotFile(items[1].destination))
        #expect(server.requests.isEmpty)
    }

    // MARK: - Progress

    @Test func updatesEndWithTheLastMember() async throws {
        let server = try BatchScene.server()
        let scene = try BatchScene()
        let batch = try scene.batch(scene.items(0..<10, of: server))
        var seen: [BatchProgress] = []
        for await progress in batch.updates { seen.append(progress) }
        // Each file is its path: /0 to /9.
        #expect(seen.last?.completedBytes == 20 && seen.last?.fractionCompleted == 1)
        #expect(await batch.results().count { $0.isSuccess } == 10)
    }

    @Test func anEmptyBatchIsComplete() async throws {
        let scene = try BatchScene()
        let batch = try scene.batch([], journal: scene.journal)
        #expect(await batch.results().isEmpty)
        #expect(scene.names.isEmpty)
        #expect(batch.fractionCompleted == 1)
    }

    @Test func membersStartInOrder() async throws {
        let server = try BatchScene.server()
        let scene = try BatchScene()
        _ = await (try scene.batch(scene.items(0..<20, of: server)) { $0.maximumActiveDownloadsPerHost = 1 })
            .results()
        #expect(server.requests.map(\.target) == (0..<20).map { "/\($0)" })
        #expect(scene.ended.elements == Array(0..<20))
    }

    @Test func eachHostHasItsOwnLimit() async throws {
        let gate = Gate()
        let answer = Answer.respond(body: "x").held(by: gate)
        let (first, second) = (try ScriptedServer([answer]), try ScriptedServer([answer]))
        let scene = try BatchScene()
        let items = scene.items(0..<20, of: first) + scene.items(20..<23, of: second)
        let batch = try scene.batch(items) { $0.maximumActiveDownloadsPerHost = 2 }
        try await gate.waitForArrivals(4)
        #expect(first.requests.count == 2 && second.requests.count == 2)
        // Operations are made when there is room for them.
        #expect(scene.manager.operationQueue.operationCount == 4)
        gate.open()
        #expect(await batch.results().count { $0.isSuccess } == 23)
    }

    @Test func noMoreOperationsAreMadeThanMayRun() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Answer.respond(body: "x").held(by: gate)])
        let scene = try BatchScene()
        let batch = try scene.batch(scene.items(0..<5000, of: server)) { options in
            options.maximumActiveDownloadsPerHost = 100
            options.maximumActiveDownloads = 8
        }
        try await gate.waitForArrivals(8)
        #expect(scene.manager.operationQueue.operationCount == 8)
        batch.cancel()
        // None is answered before: a file that is complete is a success.
        #expect(await batch.results().count { $0.error is URLError } == 5000)
        gate.open()
        #expect(server.requests.count == 8)
    }

    @Test func theLimitOfTheQueueHolds() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Answer.respond(body: "x").held(by: gate)])
        let scene = try BatchScene()
        scene.manager.operationQueue.maxConcurrentOperationCount = 1
        let batch = try scene.batch(scene.items(0..<5, of: server))
        try await gate.waitForArrivals(1)
        #expect(server.requests.count == 1)
        gate.open()
        #expect(await batch.results().allSatisfy(\.isSuccess))
        #expect(server.requests.map(\.target) == (0..<5).map { "/\($0)" })
    }

    // MARK: - Failures

    private static func failing(at path: String) throws -> ScriptedServer {
        try ScriptedServer { request in
            request.path == path ? .respond(404, body: "no") : .respond(body: .text(request.path))
        }
    }

    @Test func allRunToTheirEndsWhenOneFails() async throws {
        let server = try Self.failing(at: "/3")
        let scene = try BatchScene()
        let results = await (try scene.batch(scene.items(0..<8, of: server))).results()
        #expect(results.map(\.isSuccess) == [true, true, true, false, true, true, true, true])
        #expect(results[3].error is ResponseSerializationError)
        #expect(!scene.names.contains("3"))
    }

    @Test func theFirstFailureStopsTheOthers() async throws {
        let server = try Self.failing(at: "/2")
        let scene = try BatchScene()
        let batch = try scene.batch(scene.items(0..<8, of: server)) { options in
            options.maximumActiveDownloadsPerHost = 1
            options.policy = .stopAtFirstFailure
        }
        let results = await batch.results()
        #expect(results.prefix(3).map(\.isSuccess) == [true, true, false])
        #expect(results[2].error is ResponseSerializationError)
        #expect(results[3...].allSatisfy { ($0.error as? URLError)?.code == .cancelled })
        #expect(server.requests.count == 3)
        #expect(batch.fractionCompleted == 1)
    }

    @Test func theFirstFailureStopsWhatRuns() async throws {
        let gate = Gate()
        let server = try ScriptedServer { request in
            request.path == "/1"
                ? .respond(404).held(after: .wire(0), by: gate)
                : .respond(body: "x").stalling(after: .wire(0))
        }
        let scene = try BatchScene()
        let batch = try scene.batch(scene.items(0..<3, of: server)) { $0.policy = .stopAtFirstFailure }
        try await server.waitForStalls(count: 2)
        gate.open()
        let results = await batch.results()
        #expect((results[0].error as? URLError)?.code == .cancelled)
        #expect(results[1].error is ResponseSerializationError)
    }

    @Test func aDestinationMayBeUsedOnlyOnce() throws {
        let server = try BatchScene.server()
        let scene = try BatchScene()
        var items = scene.items(0..<2, of: server)
        items[1].destination = scene.folder.url.appendingPathComponent("x/../0")
        #expect(throws: DownloadBatchError.duplicateDestination(items[1].destination)) {
            try scene.batch(items, journal: scene.journal)
        }
        items[1].destination = scene.journal
        #expect(throws: DownloadBatchError.duplicateDestination(scene.journal)) {
            try scene.batch(items, journal: scene.journal)
        }
        #expect(scene.names.isEmpty)
        #expect(server.requests.isEmpty)
    }

    // MARK: - Commands

    @Test func aPauseKeepsWhatCameAndStartsNothing() async throws {
        let body = PatternBody(seed: 1, length: 100_000)
        let representation = Representation(.pattern(body), entityTag: .strong("v1"))
        let server = try ScriptedServer(
            serving: representation,
            answers: [.currentRepresentation.stalling(after: .body(60_000)), .currentRepresentation]
        )
        let scene = try BatchScene()
        let batch = try scene.batch(scene.items(0..<3, of: server)) { $0.maximumActiveDownloadsPerHost = 1 }
        try await server.waitForStalls()
        batch.pause()
        #expect(batch.isPaused)
        try await server.waitForOpenConnections(0)
        #expect(server.requests.count == 1)
        batch.resume()
        #expect(await batch.results().allSatisfy(\.isSuccess))
        #expect(server.requests.count == 4)
        for index in 0..<3 {
            #expect(try body.firstDifference(fromFile: scene.folder.file("\(index)")) == nil)
        }
    }

    @Test func theProgressOfFoundationCommandsTheBatch() async throws {
        let server = try ScriptedServer([Answer.respond(body: "x").stalling(after: .wire(0))])
        let scene = try BatchScene()
        let batch = try scene.batch(scene.items(0..<3, of: server))
        batch.progress.pause()
        #expect(batch.isPaused)
        batch.progress.cancel()
        #expect(await batch.results().allSatisfy { ($0.error as? URLError)?.code == .cancelled })
    }

    @Test func cancellingTheTaskCancelsTheBatch() async throws {
        let server = try ScriptedServer([Answer.respond(body: "x").stalling(after: .wire(0))])
        let scene = try BatchScene()
        let batch = try scene.batch(scene.items(0..<3, of: server))
        let task = Task { await batch.results() }
        try await server.waitForStalls(count: 3)
        task.cancel()
        #expect(await task.value.allSatisfy { ($0.error as? URLError)?.code == .cancelled })
    }

    @Test(arguments: [true, false])
    func removingALimitSpeedsUpRunningTransfers(isForAll: Bool) async throws {
        let body = PatternBody(seed: 1, length: 400_000)
        let server = try ScriptedServer([.respond(body: .pattern(body))])
        let scene = try BatchScene()
        let batch = try scene.batch(scene.items(0..<3, of: server)) { options in
            if isForAll { options.bytesPerSecond = 1 } else { options.bytesPerSecondPerDownload = 1 }
        }
        // At this rate it would take days.
        try await server.waitForRequests(count: 3)
        #expect(batch.bytesPerSecond == (isForAll ? 1 : nil))
        #expect(batch.bytesPerSecondPerDownload == (isForAll ? nil : 1))
        batch.bytesPerSecond = nil
        batch.bytesPerSecondPerDownload = nil
        #expect(await batch.results().allSatisfy(\.isSuccess))
    }

    @Test func theFractionNeverGoesDown() async throws {
        let server = try ScriptedServer { request in
            .respond(body: .generated(length: (Int(request.path.dropFirst()) ?? 0) * 10_000))
        }
        let scene = try BatchScene()
        let fractions = Recorder<Double>()
        let observed = Locked<DownloadBatch?>(nil)
        let batch = try scene.manager.downloads(scene.items(0..<30, of: server)) { _ in
            observed.withLock { if let batch = $0 { fractions.append(batch.fractionCompleted) } }
        }
        observed.withLock { $0 = batch }
        _ = await batch.results()
        observed.withLock { $0 = nil }
        #expect(fractions.elements == fractions.elements.sorted())
        #expect(batch.completedBytes == batch.totalBytes)
        #expect(batch.completedBytes == 4_350_000)
    }

    // MARK: - The disk

    @Test func aLengthThatNoFileCanHaveStopsNoOther() async throws {
        let server = try ScriptedServer { request in
            let fields: FieldLines = request.path == "/0" ? ["Content-Length": "9223372036854775807"] : [:]
            return .respond(200, fields, body: .text(request.path))
        }
        let scene = try BatchScene()
        let results = await (try scene.batch(scene.items(0..<7, of: server))).results()
        #expect(results.map(\.isSuccess) == [false] + Array(repeating: true, count: 6))
        guard case .tooLarge(_, length: .max)? = results[0].error as? DownloadError else {
            Issue.record("\(results[0])")
            return
        }
        #expect(scene.full.elements.isEmpty)
        #expect(scene.names == (1..<7).map(String.init))
    }

    @Test(.enabled(if: SmallDisk.isPermitted, "may not mount"))
    func aMemberWithoutRoomComesLast() async throws {
        let server = try ScriptedServer { request in
            .respond(body: .generated(length: request.path == "/0" ? 36_000 : 1000))
        }
        let (disk, scene) = (try SmallDisk(), try BatchScene())
        try Data(count: 30_000).write(to: disk.file("other"))
        var items = scene.items(0..<5, of: server)
        for index in items.indices { items[index].destination = disk.file("\(index)") }
        let batch = try scene.batch(items) { $0.maximumActiveDownloadsPerHost = 1 }
        try await scene.full.wait()
        #expect(batch.isPaused && scene.ended.elements.isEmpty)
        try FileManager.default.removeItem(at: disk.file("other"))
        batch.resume()
        #expect(await batch.results().allSatisfy(\.isSuccess))
        #expect(scene.ended.elements == [1, 2, 3, 4, 0])
        #expect(scene.full.elements.count == 1)
    }

    /// Lengths that the disk could have, if other files were not there: they are only the server's word.
    @Test(.enabled(if: SmallDisk.isPermitted, "may not mount"), arguments: [1, 3])
    func aLengthThatDoesNotFitPausesTheBatchOnceAndThenIsAnError(atOnce: Int) async throws {
        let server = try ScriptedServer { request in
            let fields: FieldLines = request.path == "/0" ? ["Content-Length": "60000"] : [:]
            return .respond(200, fields, body: .text(request.path))
        }
        let (disk, scene) = (try SmallDisk(), try BatchScene())
        try Data(count: 20_000).write(to: disk.file("other"))
        var items = scene.items(0..<6, of: server)
        for index in items.indices { items[index].destination = disk.file("\(index)") }
        let batch = try scene.batch(items, journal: scene.journal) {
            $0.maximumActiveDownloadsPerHost = atOnce
        }
        try await scene.full.wait()
        #expect(batch.isPaused)
        // No room is made.
        batch.resume()
        let results = await batch.results()
        #expect(results.map(\.isSuccess) == [false, true, true, true, true, true])
        guard case .notEnoughSpace? = results[0].error as? DownloadError else {
            Issue.record("\(results[0])")
            return
        }
        #expect(scene.full.elements.count == 1)
        #expect(scene.ended.elements.last == 0)
        // It is tried again when the batch is resumed from its journal.
        #expect(FileManager.default.fileExists(atPath: scene.journal.path))
    }

    // MARK: - Requests

    @Test func theManagersSerializerAndTheItemMakeTheRequest() async throws {
        let server = try BatchScene.server()
        let scene = try BatchScene()
        let serializer = HTTPRequestSerializer()
        scene.manager.requestSerializer = serializer
        var item = scene.items(0..<1, of: server)[0]
        item.headers = ["X-Test": "yes"]
        item.expectedDigests = [try FileDigest(.md5, hex: "00000000000000000000000000000000")]
        let results = await (try scene.batch([item])).results()
        #expect(server.requests.first?["X-Test"] == "yes")
        guard case .digestMismatch? = results[0].error as? DownloadError else {
            Issue.record("\(results)")
            return
        }
    }
}
