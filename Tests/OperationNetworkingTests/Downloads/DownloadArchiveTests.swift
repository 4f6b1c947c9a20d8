import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Archives of downloads: their options, their result, and the bytes that the checkpoint keeps.
@Suite(.timeLimit(.minutes(1)))
struct DownloadArchiveTests {
    private static let stalling: [Answer] = [
        .currentRepresentation.stalling(after: 100_000), .currentRepresentation,
    ]

    private func archived(_ operation: ConnectionOperation) throws -> OperationArchive {
        let archive = try #require(operation.archive)
        return try JSONDecoder().decode(OperationArchive.self, from: JSONEncoder().encode(archive))
    }

    /// Starts it, waits for some of its body, pauses it, and takes its archive; then its process is gone.
    private func pausedArchive(_ operation: DownloadOperation) async throws -> OperationArchive {
        let progress = Recorder<Int64>()
        operation.setDownloadProgress { _, total, _ in progress.append(total) }
        operation.start()
        try await progress.wait()
        operation.pause()
        let archive = try archived(operation)
        operation.cancel()
        _ = try? await operation.value
        return archive
    }

    @Test func aPausedDownloadContinuesInAnotherProcess() async throws {
        let scene = try DownloadScene(answers: Self.stalling)
        let operation = scene.operation()
        operation.expectedDigests = [try FileDigest.of(DownloadScene.body.data, algorithm: .sha256)]
        let archive = try JSONEncoder().encode(try await pausedArchive(operation))
        let target = scene.target.path

        await #expect(processExitsWith: .success) { [archive = archive as Data, target = target as String] in
            alarm(50)
            let archive = try JSONDecoder().decode(OperationArchive.self, from: archive)
            guard let operation = archive.makeOperation() as? DownloadOperation else { _exit(2) }
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.start()
            guard try await operation.value as? URL == URL(fileURLWithPath: target) else { _exit(3) }
            guard case .digest? = operation.downloadedFile?.proof else { _exit(4) }
            // What the closure holds would be a leak to a sanitizer.
            _exit((operation.downloadedFile?.bytesRecovered ?? 0) > 0 ? 0 : 5)
        }
        #expect(try DownloadScene.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.server.requests[1]["If-Range"] == "\"v1\"" && scene.names == ["file.bin"])
    }

    @Test func aFileThatChangedStartsOver() async throws {
        let scene = try DownloadScene(answers: Self.stalling)
        let archive = try await pausedArchive(scene.operation())
        let body = PatternBody(seed: 2, length: 199_999)
        scene.server.setRepresentation(Representation(.pattern(body), entityTag: .strong("v2")))
        let later = DownloadOperation(archive: archive)
        later.start()
        #expect(try await later.value as? URL == scene.target)
        #expect(try body.firstDifference(fromFile: scene.target) == nil)
        #expect(later.downloadedFile?.restarts == [.resourceChanged])
    }

    @Test func everyOptionIsRestored() throws {
        let scene = try DownloadScene()
        let operation = scene.operation()
        operation.replacesFile = true
        operation.downloadsOnlyIfChanged = true
        operation.startsOver = true
        operation.expectedDigests = [try FileDigest.of(Data(), algorithm: .md5)]
        operation.wantedDigests = [.sha256, .sha512]
        operation.unprovenBytes = .compare(overlap: 77)
        operation.retryPolicy = RetryPolicy(maximumRetries: 9)
        let later = try #require(archived(operation).makeOperation() as? DownloadOperation)
        #expect(later.destination == scene.target && later.replacesFile && later.downloadsOnlyIfChanged)
        #expect(later.startsOver && later.unprovenBytes == .compare(overlap: 77))
        #expect(later.expectedDigests == operation.expectedDigests)
        #expect(later.wantedDigests == [.sha256, .sha512])
        #expect(later.retryPolicy == RetryPolicy(maximumRetries: 9) && later.isReady && !later.isFinished)
        let plain = DownloadOperation(archive: try archived(DownloadOperation(request: operation.request)))
        #expect(plain.destination == nil && !plain.replacesFile && plain.unprovenBytes == .discard)
        #expect(plain.retryPolicy == RetryPolicy(maximumRetries: 5))
    }

    /// The bytes that are there are its own by then.
    @Test func whatStartedOverDoesNotStartOverAgain() async throws {
        let scene = try DownloadScene(answers: Self.stalling)
        let operation = scene.operation()
        operation.startsOver = true
        let later = DownloadOperation(archive: try await pausedArchive(operation))
        later.start()
        _ = try await later.value
        #expect(later.downloadedFile?.bytesRecovered ?? 0 > 0)
    }

    @Test func aFinishedDownloadIsRestoredWithItsFile() async throws {
        let scene = try DownloadScene()
        let operation = scene.operation()
        operation.wantedDigests = [.sha256]
        _ = try await scene.run(operation).get()
        let later = try #require(archived(operation).makeOperation() as? DownloadOperation)
        #expect(later.isFinished && later.response?.statusCode == 200)
        #expect(later.downloadedFile == operation.downloadedFile && later.downloadedFile != nil)
        #expect(try await later.value as? URL == scene.target)
    }

    @Test func anUpToDateDownloadIsRestoredAsSuch() async throws {
        let scene = try DownloadScene()
        _ = try await scene.run(scene.operation()).get()
        let again = scene.operation()
        again.downloadsOnlyIfChanged = true
        _ = try await scene.run(again).get()
        let later = DownloadOperation(archive: try archived(again))
        #expect(again.isUpToDate && later.isUpToDate && later.downloadedFile == nil)
        #expect(try await later.value as? URL == scene.target)
    }

    @Test func aFailedDownloadIsRestoredWithItsErrorAndItsCopyContinues() async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: 100_000), .currentRepresentation,
        ])
        let operation = scene.operation()
        _ = await scene.run(operation)
        let later = DownloadOperation(archive: try archived(operation))
        #expect(later.isFinished && (later.error as? URLError)?.code == .networkConnectionLost)
        let copy = try #require(later.copy() as? DownloadOperation)
        copy.start()
        _ = try await copy.value
        #expect(copy.downloadedFile?.bytesRecovered == 100_000)
    }

    @Test func everyProofIsRestored() throws {
        let digest = try FileDigest.of(Data(), algorithm: .md5)
        let proofs: [DownloadedFile.Proof] = [
            .digest(digest), .length, .overlap, .range(3..<9), .unverifiable,
        ]
        let archives = try JSONEncoder().encode(proofs)
        #expect(try JSONDecoder().decode([DownloadedFile.Proof].self, from: archives) == proofs)
    }

    @Test func aRequestArchiveIsNotADownload() throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let operation = try archived(HTTPRequestOperation(request: URLRequest(url: url))).makeOperation()
        #expect(!(operation is DownloadOperation))
    }

    /// Only opget asks for that, and has its checkpoints.
    @Test func aDownloadThatContinuesAForeignFileHasNoArchive() throws {
        let operation = try DownloadScene().operation()
        operation.continuesFile = true
        #expect(operation.archive == nil)
    }
}
