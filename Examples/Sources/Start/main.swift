// The example stands as the documentation has it:
// swift-format-ignore-file

// MARK: Example

import Foundation
import OperationNetworking

nonisolated struct Photo: Decodable, Sendable {
    let id: Int
    let url: URL
}

let manager = OperationManager(baseURL: URL(string: "http://127.0.0.1:8080/api/"))
let photos = try await manager.get("photos", parameters: ["page": 2], as: [Photo].self)
print("\(photos.count) photos")

// MARK: End of example

// MARK: Example

import FoundationNetworking     // for URLRequest

let downloads = photos.map { photo in
    manager.downloadOperation(
        for: URLRequest(url: photo.url),
        to: URL(fileURLWithPath: "\(photo.id).jpg"))
}
let batch = OperationBatch(downloads)
batch.add(to: manager.operationQueue)
batch.pause()       // keeps the received bytes
batch.resume()      // requests the rest, and only of the same file
for result in await batch.results() { print(result) }

// MARK: End of example
