import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Names and places that are legal and rare, and what a finished operation still holds.
@Suite(.timeLimit(.minutes(1)))
struct DownloadPlaceAttackTests {
    private static let body = DownloadScene.body

    private func save(_ scene: DownloadScene, as target: URL) async throws -> DownloadOperation {
        let operation = DownloadOperation(request: URLRequest(url: scene.server.url), to: target)
        operation.retryPolicy = nil
        operation.completionQueue = DispatchQueue(label: "callbacks")
        _ = try await scene.run(operation).get()
        return operation
    }

    // MARK: - Names

    @Test(arguments: [
        String(repeating: "n", count: 255), "\u{301}accent first", "na\u{308}ive", "a b%20c", "a#b?c", "..a",
        "line\r\nbreak", String(repeating: "\u{1F600}", count: 63),
    ])
    func everyNameOfAFileIsGood(_ name: String) async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(100_000)), .currentRepresentation,
        ])
        let target = URL(fileURLWithPath: scene.folder.url.path + "/" + name, isDirectory: false)
        await #expect(throws: URLError.self) { try await self.save(scene, as: target) }
        #expect(scene.names.count == 2)
        let second = try await save(scene, as: target)
        #expect(second.downloadedFile?.bytesRecovered == 100_000)
        #expect(scene.names.map { Array($0.utf8) } == [Array(name.utf8)])
    }

    @Test func aRelativeAddressIsAPlace() async throws {
        let scene = try DownloadScene()
        let target = try #require(URL(string: "a%20file.bin", relativeTo: scene.folder.url))
        let operation = try await save(scene, as: target)
        #expect(scene.names == ["a file.bin"])
        #expect(operation.downloadedFile?.file.path == target.path)
    }

    @Test(arguments: ["http://example.com/file", "file:///"])
    func whatIsNotAFileIsRefused(_ address: String) async throws {
        let scene = try DownloadScene()
        let target = try #require(URL(string: address))
        await #expect(throws: DownloadError.invalidDestination(target)) {
            try await self.save(scene, as: target)
        }
        #expect(scene.server.requests.isEmpty)
    }

    @Test func aFolderThatDisappearsIsAnErrorAndNoFile() async throws {
        let gate = Gate()
        let scene = try DownloadScene(answers: [.currentRepresentation.held(after: .body(100_000), by: gate)])
        let folder = scene.folder.file("folder")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let operation = DownloadOperation(
            request: URLRequest(url: scene.server.url),
            to: folder.appendingPathComponent("file.bin")
        )
        operation.retryPolicy = nil
        operation.start()
        try await gate.waitForArrivals()
        // Again, if a checkpoint was written between the look at the folder and its removal. Only a few are:
        // the body waits.
        repeat { try? FileManager.default.removeItem(at: folder) } while scene.exists(folder)
        gate.open()
        await #expect(throws: (any Error).self) { try await operation.value }
        #expect(scene.names.isEmpty)
        #expect(descriptors(in: scene.folder.url).isEmpty)
    }

    // MARK: - What is let go of

    private func descriptors(in folder: URL) -> [String] {
        let path = folder.resolvingSymlinksInPath().path
        let links = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return links.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        .filter { $0.hasPrefix(path) }
    }

    @Test func aSucceededDownloadHoldsNoFile() async throws {
        let scene = try DownloadScene()
        let operation = scene.operation()
        // The callbacks are not run: the operation has finished, and they wait.
        let queue = DispatchQueue(label: "callbacks", attributes: .initiallyInactive)
        operation.completionQueue = queue
        operation.start()
        _ = try await operation.value
        #expect(descriptors(in: scene.folder.url) == [])
        queue.activate()
    }

    @Test func aFailedDownloadHoldsNoFile() async throws {
        let scene = try DownloadScene(answers: [.currentRepresentation.breaking(after: .body(100_000))])
        let operation = scene.operation()
        let queue = DispatchQueue(label: "callbacks", attributes: .initiallyInactive)
        operation.completionQueue = queue
        operation.start()
        await #expect(throws: URLError.self) { try await operation.value }
        #expect(descriptors(in: scene.folder.url) == [])
        queue.activate()
    }

    @Test func cancellingWhileAnAddressIsRequestedReleasesTheFile() async throws {
        let scene = try DownloadScene(answers: [.respond(403), .currentRepresentation])
        let (asked, answer) = (Gate(), Gate())
        let first = scene.operation()
        let address = scene.server.url
        first.setRefreshURL { _, _ in
            asked.open()
            try? await answer.wait()
            return address
        }
        first.start()
        try await asked.wait()
        first.cancel()
        await #expect(throws: URLError.self) { try await first.value }
        let second = scene.operation()
        _ = try await scene.run(second).get()
        answer.open()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.server.requests.count == 2)
    }

    // MARK: - Pauses

    @Test func pausesAtEveryReportLoseNothing() async throws {
        let scene = try DownloadScene(answers: [.currentRepresentation.throttled(to: 3_000_000)])
        let operation = scene.operation()
        operation.expectedDigests = [try FileDigest.of(Self.body.data, algorithm: .sha256)]
        operation.setDownloadProgress { [weak operation] _, _, _ in
            operation?.pause()
            operation?.resume()
        }
        _ = try await scene.run(operation).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.names == ["file.bin"])
    }
}
