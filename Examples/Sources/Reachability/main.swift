// The example stands as the documentation has it:
// swift-format-ignore-file

import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking

// Fetches a URL as soon as there is a network:
//
//     Reachability http://127.0.0.1:8080/user.json

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Reachability URL\n".utf8))
    exit(64)
}
let queue = OperationQueue()
let operation = HTTPRequestOperation(request: URLRequest(url: url))
operation.retryPolicy = RetryPolicy(maximumRetries: 20, timeBudget: 20)

// MARK: Example

let reachability = NetworkReachabilityManager.shared
reachability.setStatusChange { status in
    queue.isSuspended = !status.isReachable
    print("\(status): \(queue.isSuspended ? "suspended" : "running")")
}
queue.isSuspended = true
reachability.startMonitoring()

// MARK: End of example

queue.addOperation(operation)
do {
    print("\((try await operation.value as? Data)?.count ?? 0) bytes")
} catch {
    print("\(url.absoluteString): \(error)")
}
for await status in reachability.statuses where !status.isReachable { break }
// The closure may be called before or after that.
while !queue.isSuspended { await Task.yield() }
