// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// Fetches a URL, and prints its progress and the network activity:
//
//     Activity http://127.0.0.1:8080/big.iso

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Activity URL\n".utf8))
    exit(64)
}
final class Line {
    func show(_ text: String) { print(text) }
}
let line = Line()
let operation = HTTPRequestOperation(request: URLRequest(url: url))
let queue = OperationQueue()

// MARK: Example

NetworkActivityManager.shared.setNetworkingActivityAction { isActive in print(isActive ? "busy" : "quiet") }
NetworkActivityManager.shared.isEnabled = true

operation.addObserver(NetworkActivityManager { isActive in line.show(isActive ? "running" : "idle") })
let updates = operation.downloadUpdates
queue.addOperation(operation)
for await progress in updates { line.show("\(progress.bytes) of \(progress.expected ?? -1)") }

// MARK: End of example

do {
    _ = try await operation.value
} catch {
    FileHandle.standardError.write(Data("\(url.absoluteString): \(error)\n".utf8))
    exit(1)
}
