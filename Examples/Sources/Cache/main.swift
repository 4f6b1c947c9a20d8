// The example stands as the documentation has it:
// swift-format-ignore-file

import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking

// Fetches a URL twice through a cache in a directory, and says where each response came from:
//
//     Cache http://127.0.0.1:8080/user.json cache

guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Cache URL DIRECTORY\n".utf8))
    exit(64)
}
let directory = URL(fileURLWithPath: CommandLine.arguments[2], isDirectory: true)
let request = URLRequest(url: url)

do {
    for _ in 1...2 {
        // MARK: Example

        let manager = OperationManager()
        manager.cache = ResponseCache(memoryCapacity: 20 << 20, diskCapacity: 500 << 20, directory: directory)

        let operation = manager.operation(for: request)
        manager.operationQueue.addOperation(operation)
        let object = try await operation.value
        print(operation.responseSource ?? .network)     // network, cache, validated, stale

        // MARK: End of example
        _ = object
        // When an operation ends, its response may not be on disk yet.
        _ = manager.cache?.currentDiskUsage
    }
} catch {
    print("\(url.absoluteString): \(error)")
}
