// The samples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// The article Downloads That Survive. Compiled, and not called.

@MainActor
final class DownloadsThatSurvive {
    let manager = OperationManager()
    let queue = TransferQueue()

    func one(_ url: URL, _ file: URL) async throws {
        // MARK: Example

        let download = DownloadOperation(request: URLRequest(url: url), to: file)
        queue.addOperation(download)
        let saved = try await download.savedFile

        // MARK: End of example
        print(saved)
    }

    func proof(_ url: URL, _ file: URL, _ published: String) async throws {
        // MARK: Example

        let download = DownloadOperation(request: URLRequest(url: url), to: file)
        download.expectedDigests = [try FileDigest(.sha256, hex: published)]
        queue.addOperation(download)
        let saved = try await download.savedFile
        if let result = download.downloadedFile {
            print(saved.path, result.proof, result.bytesRecovered)
        }

        // MARK: End of example
    }

    func later(_ items: [DownloadItem], _ journal: URL) async throws {
        // MARK: Example

        let isBegun = FileManager.default.fileExists(atPath: journal.path)
        let batch =
            try isBegun ? manager.downloads(resuming: journal) : manager.downloads(items, journal: journal)
        for result in await batch.results() { print(result) }

        // MARK: End of example
    }

    func again(_ items: [DownloadItem]) throws -> DownloadBatch {
        // MARK: Example

        var options = DownloadBatch.Options()
        options.existingFiles = .keep           // or .fail (the default), .replace
        let batch = try manager.downloads(items, options: options)

        // MARK: End of example
        return batch
    }

    func limits(_ items: [DownloadItem]) throws {
        // MARK: Example

        var options = DownloadBatch.Options()
        options.maximumActiveDownloadsPerHost = 3
        options.bytesPerSecond = 500_000
        let batch = try manager.downloads(items, options: options) { event in
            if case .outOfSpace(let error) = event { print("paused: \(error.localizedDescription)") }
        }

        // MARK: End of example
        batch.pause()
    }

    func addresses(_ download: DownloadOperation, _ api: OperationManager) {
        // MARK: Example

        download.setRefreshURL { operation, response in
            try? await api.get("files/7/address", as: URL.self)
        }

        // MARK: End of example
    }
}
