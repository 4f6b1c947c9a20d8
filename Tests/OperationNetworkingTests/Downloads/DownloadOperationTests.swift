import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct DownloadOperationTests {
    private static let body = DownloadScene.body

    @Test("B9") func savesTheFileUnderItsNameWhenItIsComplete() async throws {
        let modified = Date(timeIntervalSince1970: 784_111_777)
        var representation = DownloadScene.old
        representation.lastModified = modified
        let scene = try DownloadScene(serving: representation)
        let operation = scene.operation()
        #expect(try await scene.run(operation).get() == scene.target)
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.names == ["file.bin"])
        let attributes = try FileManager.default.attributesOfItem(atPath: scene.target.path)
        #expect(attributes[.modificationDate] as? Date == modified)
        let download = try #require(operation.downloadedFile)
        #expect(download.file == scene.target)
        #expect(download.length == 300_000)
        #expect(download.proof == .length)
        #expect(download.restarts.isEmpty && download.bytesRecovered == 0)
        #expect(operation.responseData == nil && operation.partialFile == nil)
        #expect(scene.server.requests.map { $0["Accept-Encoding"] } == ["identity"])
    }

    @Test func hasOnlyAPartialFileUntilThen() async throws {
        let gate = Gate()
        let scene = try DownloadScene(answers: [.currentRepresentation.held(after: .body(100_000), by: gate)])
        let operation = scene.operation()
        let progress = Recorder<Int64>()
        operation.setDownloadProgress { _, total, _ in progress.append(total) }
        operation.start()
        _ = try await progress.wait()
        #expect(scene.names == ["file.bin.part", "file.bin.part.resume"])
        #expect(operation.partialFile == scene.part)
        #expect(operation.checkpoint == scene.checkpoint)
        gate.open()
        _ = try await operation.value
        #expect(scene.names == ["file.bin"])
    }

    @Test func anEmptyFileIsAFile() async throws {
        let scene = try DownloadScene(serving: Representation(.data(Data()), entityTag: .strong("v1")))
        _ = try await scene.run(scene.operation()).get()
        #expect(try Data(contentsOf: scene.target).isEmpty)
        #expect(scene.names == ["file.bin"])
    }

    // MARK: - What must not reach the file

    @Test(arguments: [404, 403, 500, 503])
    func theBodyOfAnErrorNeverReachesTheFile(_ status: Int) async throws {
        let scene = try DownloadScene(answers: [.respond(status, body: "no such thing")])
        let operation = scene.operation()
        await #expect(throws: ResponseSerializationError.self) { try await scene.run(operation).get() }
        #expect(operation.responseString == "no such thing")
        #expect(scene.names.isEmpty)
    }

    @Test("S27") func whatIsNotOfTheExpectedTypeIsRefusedByItsHead() async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(100_000)),
            .respond(200, ["Content-Type": "text/html"], body: "<p>Please log in"),
            .currentRepresentation,
        ])
        let make = {
            let operation = scene.operation()
            operation.responseSerializer = HTTPResponseSerializer(
                acceptableContentTypes: ["application/octet-stream"]
            )
            return operation
        }
        _ = await scene.run(make())
        await #expect(throws: ResumeError.self) { try await scene.run(make()).get() }
        #expect(!scene.exists(scene.target))
        let third = make()
        _ = try await scene.run(third).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(try #require(third.downloadedFile).bytesRecovered == 100_000)
    }

    // MARK: - Existing files

    @Test func anExistingFileIsLeftAlone() async throws {
        let scene = try DownloadScene()
        try Data("mine".utf8).write(to: scene.target)
        await #expect(throws: DownloadError.destinationExists(scene.target)) {
            try await scene.run(scene.operation()).get()
        }
        #expect(try Data(contentsOf: scene.target) == Data("mine".utf8))
        #expect(scene.server.requests.isEmpty)
    }

    @Test func aReplaceableFileStaysUntilTheNewOneIsComplete() async throws {
        let gate = Gate()
        let scene = try DownloadScene(answers: [.currentRepresentation.held(after: .body(100_000), by: gate)])
        try Data("mine".utf8).write(to: scene.target)
        let operation = scene.operation()
        operation.replacesFile = true
        operation.start()
        try await gate.waitForArrivals()
        #expect(try Data(contentsOf: scene.target) == Data("mine".utf8))
        gate.open()
        _ = try await operation.value
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
    }

    @Test func withoutADestinationItFails() async throws {
        let scene = try DownloadScene()
        let operation = scene.operation()
        operation.destination = nil
        await #expect(throws: DownloadError.noDestination) { try await scene.run(operation).get() }
    }

    @Test func twoOperationsDoNotWriteOneFile() async throws {
        let gate = Gate()
        let scene = try DownloadScene(answers: [.currentRepresentation.held(after: .body(100_000), by: gate)])
        let first = scene.operation()
        first.start()
        try await gate.waitForArrivals()
        await #expect(throws: DownloadError.inUse(scene.target)) {
            try await scene.run(scene.operation()).get()
        }
        gate.open()
        _ = try await first.value
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
    }

    // MARK: - Stopping

    @Test("B8") func aCancelledDownloadKeepsItsPartialFile() async throws {
        let gate = Gate()
        let scene = try DownloadScene(answers: [
            .currentRepresentation.held(after: .body(100_000), by: gate), .currentRepresentation,
        ])
        let operation = scene.operation()
        let progress = Recorder<Int64>()
        operation.setDownloadProgress { _, total, _ in progress.append(total) }
        operation.start()
        _ = try await progress.wait()
        operation.cancel()
        await #expect(throws: URLError.self) { try await operation.value }
        #expect(scene.exists(scene.part) && scene.exists(scene.checkpoint))
        gate.open()
        let second = scene.operation()
        _ = try await scene.run(second).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.names == ["file.bin"])
    }

    @Test func theNextDownloadWaitsForACancelledOne() async throws {
        let gate = Gate()
        let scene = try DownloadScene(answers: [
            .currentRepresentation.held(after: .body(100_000), by: gate), .currentRepresentation,
        ])
        let first = scene.operation()
        first.start()
        try await gate.waitForArrivals()
        first.cancel()
        // It waits, too, and is cancelled before it has anything.
        let second = scene.operation()
        second.start()
        second.cancel()
        _ = try await scene.run(scene.operation()).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.names == ["file.bin"])
        gate.open()
    }

    @Test func aCancelledDownloadMayLeaveNothing() async throws {
        let gate = Gate()
        let scene = try DownloadScene(answers: [.currentRepresentation.held(after: .body(100_000), by: gate)])
        let operation = scene.operation()
        operation.start()
        try await gate.waitForArrivals()
        operation.cancel(keepingPartialFile: false)
        await #expect(throws: URLError.self) { try await operation.value }
        #expect(scene.names.isEmpty)
        gate.open()
    }

    @Test func aPauseKeepsWhatCameAndTheLock() async throws {
        let gate = Gate()
        let scene = try DownloadScene(answers: [
            .currentRepresentation.held(after: .body(100_000), by: gate), .currentRepresentation,
        ])
        let operation = scene.operation()
        let progress = Recorder<Int64>()
        operation.setDownloadProgress { _, total, _ in progress.append(total) }
        operation.start()
        _ = try await progress.wait()
        operation.pause()
        try await scene.server.waitForOpenConnections(0)
        await #expect(throws: DownloadError.inUse(scene.target)) {
            try await scene.run(scene.operation()).get()
        }
        gate.open()
        operation.resume()
        _ = try await operation.value
        operation.completionQueue?.sync {}
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.server.requests.last?["If-Range"] == "\"v1\"")
        #expect(scene.journal.offsets.elements.count == 1)
        #expect(progress.elements == progress.elements.sorted())
        #expect(progress.elements.last == 300_000)
    }

    // MARK: - Addresses that expire

    @Test("S42") func anAddressThatExpiredIsRequested() async throws {
        let scene = try DownloadScene()
        let server = try ScriptedServer(routes: [
            "/old": [
                .representation(DownloadScene.old).breaking(after: .body(100_000)),
                .respond(403, body: "expired"),
            ],
            "/new": [.representation(DownloadScene.old)],
        ])
        let make = {
            let operation = DownloadOperation(
                request: URLRequest(url: server.url(path: "/old")),
                to: scene.target
            )
            operation.retryPolicy = nil
            operation.completionQueue = DispatchQueue(label: "callbacks")
            return operation
        }
        _ = await scene.run(make())
        let second = make()
        let asked = Recorder<Int>()
        second.setRefreshURL { _, response in
            asked.append(response.statusCode)
            return server.url(path: "/new")
        }
        _ = try await scene.run(second).get()
        #expect(asked.elements == [403])
        #expect(server.requests.map(\.path) == ["/old", "/old", "/new"])
        #expect(server.requests.last?["Range"] == "bytes=100000-")
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
    }

    @Test("S42") func withoutAnotherAddressTheResponseIsTheResult() async throws {
        let scene = try DownloadScene(answers: [.respond(410, body: "gone")])
        let operation = scene.operation()
        let asked = Recorder<Int>()
        operation.setRefreshURL { _, response in
            asked.append(response.statusCode)
            return asked.elements.count == 1 ? response.url : nil
        }
        await #expect(throws: ResponseSerializationError.self) { try await scene.run(operation).get() }
        // Not asked again before bytes came.
        #expect(asked.elements == [410])
        #expect(scene.server.requests.count == 2)
        #expect(operation.responseString == "gone")
    }

    // MARK: - Proof

    @Test("S25") func aBodyWhoseEndIsMarkedIsProvenByThat() async throws {
        let scene = try DownloadScene(answers: [.currentRepresentation.chunked()])
        let operation = scene.operation()
        _ = try await scene.run(operation).get()
        #expect(operation.downloadedFile?.proof == .length)
    }

    @Test("S26") func aBodyThatEndsWithItsConnectionIsNotProven() async throws {
        let scene = try DownloadScene(answers: [.currentRepresentation.untilClose()])
        let operation = scene.operation()
        _ = try await scene.run(operation).get()
        #expect(operation.downloadedFile?.proof == .unverifiable)
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
    }

    @Test func theCopyOfAnOperationDoesTheSame() async throws {
        let scene = try DownloadScene()
        let operation = scene.operation()
        operation.replacesFile = true
        _ = try await scene.run(operation).get()
        let copy = operation.copy(with: nil)
        let download = try #require(copy as? DownloadOperation)
        #expect(download.destination == scene.target && download.replacesFile)
        _ = try await scene.run(download).get()
        #expect(scene.server.requests.count == 2)
    }
}
