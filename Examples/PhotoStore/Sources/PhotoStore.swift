public import Foundation
import FoundationNetworking
public import OperationNetworking

/// The networking of a small app: a list, a download that can be paused, an upload with retries, and a token
/// that is refreshed. Its tests are in the folder beside it.
public final class PhotoStore {
    /// A photo of the server.
    public nonisolated struct Photo: Codable, Hashable, Sendable {
        public let id: Int
        public let title: String

        public init(id: Int, title: String) {
            (self.id, self.title) = (id, title)
        }
    }

    nonisolated private struct Login: Decodable, Sendable {
        let token: String
    }

    /// Public, so that a test can give it stubs.
    public let manager: OperationManager
    /// The received fraction of each download.
    public private(set) var fractions: [Int: Double] = [:]
    private var downloads: [Int: DownloadOperation] = [:]
    private let folder: URL

    public init(server: URL, folder: URL) {
        manager = OperationManager(baseURL: server)
        self.folder = folder
        var policy = RetryPolicy(maximumRetries: 3)
        policy.initialDelay = 0.01
        policy.methods.insert("POST")       // our server takes the same Idempotency-Key twice for one
        manager.retryPolicy = policy
        let logins = OperationManager(baseURL: server)
        manager.tokenSource = TokenSource { _ in
            TokenSource.Token(try await logins.post("login", as: Login.self).token)
        }
    }

    /// All photos.
    public func photos() async throws -> [Photo] {
        try await manager.get("photos", as: [Photo].self)
    }

    /// Publishes a photo, once.
    public func publish(title: String, key: String = UUID().uuidString) async throws -> Photo {
        try await manager.post(
            "photos", parameters: .encoding(Photo(id: 0, title: title)), headers: ["Idempotency-Key": key], as: Photo.self)
    }

    /// Downloads the file of a photo. A paused download is resumed.
    public func download(_ id: Int) async throws -> URL {
        let request = URLRequest(url: try manager.url(for: "photos/\(id).jpg"))
        let download = manager.downloadOperation(for: request, to: folder.appendingPathComponent("\(id).jpg"))
        download.setDownloadProgress { _, total, expected in
            self.fractions[id] = Double(total) / Double(max(expected, 1))
        }
        downloads[id] = download
        manager.operationQueue.addOperation(download)
        return try await download.savedFile
    }

    /// Pauses a download: keeps the received bytes, and frees its slot for another one.
    public func pause(_ id: Int) { downloads[id]?.pause() }

    /// Resumes a download: requests the rest.
    public func resume(_ id: Int) { downloads[id]?.resume() }
}
