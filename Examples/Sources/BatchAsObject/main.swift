// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// Fetches documents, pauses once, stops at the first failure, and prints the number of received documents:
//
//     BatchAsObject http://127.0.0.1:8080/1 http://127.0.0.1:8080/2

let downloads = CommandLine.arguments.dropFirst().compactMap { URL(string: $0) }
    .map { HTTPRequestOperation(request: URLRequest(url: $0)) }
guard !downloads.isEmpty, downloads.count == CommandLine.arguments.count - 1 else {
    FileHandle.standardError.write(Data("usage: BatchAsObject URL...\n".utf8))
    exit(64)
}
let queue = TransferQueue()

// MARK: Example

let batch = OperationBatch(downloads, policy: .stopAtFirstFailure)
batch.add(to: queue)
batch.pause()                  // starts nothing, and keeps the received bytes
batch.resume()
print(batch.fractionCompleted, batch.throughput ?? 0, batch.estimatedTimeRemaining ?? 0)
for result in await batch.results() { print(result) }      // in the order of the members

// MARK: End of example

exit(downloads.allSatisfy { $0.error == nil } ? 0 : 1)
