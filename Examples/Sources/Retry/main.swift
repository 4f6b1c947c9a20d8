// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// Fetches a URL from a server that fails now and then, and prints the number of bytes and of requests:
//
//     Retry http://127.0.0.1:8080/user.json

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Retry URL\n".utf8))
    exit(64)
}
let queue = OperationQueue()

do {
    // MARK: Example

    var policy = RetryPolicy(maximumRetries: 5, timeBudget: 60)
    policy.initialDelay = 0.2
    let patient = HTTPRequestOperation(request: URLRequest(url: url))
    patient.retryPolicy = policy
    queue.addOperation(patient)
    let object = try await patient.value

    // MARK: End of example

    print("\((object as? Data)?.count ?? 0) bytes, asked \(patient.metrics?.transferCount ?? 0) times")
} catch {
    FileHandle.standardError.write(Data("\(url.absoluteString): \(error)\n".utf8))
    exit(1)
}
