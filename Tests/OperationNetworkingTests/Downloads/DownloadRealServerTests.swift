import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Downloads from nginx, a server of other authors: stopped half-way, and gone on with by another operation.
@Suite(.timeLimit(.minutes(1)), .enabled(if: RealServers.nginx != nil && RealServers.nginxRoot != nil))
struct DownloadRealServerTests {
    private static let length = 4_000_000
    private let nginx: URL
    private let root: URL
    private let folder: TemporaryDirectory

    init() throws {
        nginx = try #require(RealServers.nginx)
        root = try #require(RealServers.nginxRoot)
        folder = try TemporaryDirectory()
    }

    /// Puts a file where nginx serves it, changed at a time long ago.
    private func serve(_ body: PatternBody, at path: String, ageInDays: Double) throws {
        let file = root.appendingPathComponent(path)
        try body.data.write(to: file, options: .atomic)
        let date = Date(timeIntervalSinceNow: -86_400 * ageInDays)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
    }

    private func operation(_ path: String) -> DownloadOperation {
        let request = URLRequest(url: nginx.appendingPathComponent(path))
        let operation = DownloadOperation(request: request, to: folder.file("file.bin"))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        return operation
    }

    @Test("P8, P9, S1, S20", arguments: ["", "no-etag/"], [false, true])
    func continuesIfTheFileIsTheSameAndStartsOverIfNot(directory: String, changes: Bool) async throws {
        let path = directory + "\(UUID().uuidString).bin"
        defer { try? FileManager.default.removeItem(at: root.appendingPathComponent(path)) }
        let (old, new) = (
            PatternBody(seed: 1, length: Self.length), PatternBody(seed: 2, length: Self.length)
        )
        try serve(old, at: path, ageInDays: 2)

        let first = operation(path)
        first.downloadLimits = [BandwidthLimit(bytesPerSecond: 2_000_000)]
        let progress = Recorder<Int64>()
        first.setDownloadProgress { _, total, _ in progress.append(total) }
        first.start()
        _ = try await progress.wait(count: 3)
        first.cancel()
        await #expect(throws: URLError.self) { try await first.value }

        if changes { try serve(new, at: path, ageInDays: 1) }
        let second = operation(path)
        second.start()
        _ = try await second.value
        let expected = changes ? new : old
        #expect(try expected.firstDifference(fromFile: folder.file("file.bin")) == nil)
        let download = try #require(second.downloadedFile)
        #expect(download.restarts == (changes ? [.resourceChanged] : []))
        #expect((download.bytesRecovered > 0) == !changes)
        #expect(second.response?.statusCode == (changes ? 200 : 206))
    }
}
