// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// Fetches any number of documents, two at a time, by `await` and with closures, and prints how many are done:
//
//     Batch http://127.0.0.1:8080/1 http://127.0.0.1:8080/2 http://127.0.0.1:8080/3

let urls = CommandLine.arguments.dropFirst().compactMap { URL(string: $0) }
guard !urls.isEmpty, urls.count == CommandLine.arguments.count - 1 else {
    FileHandle.standardError.write(Data("usage: Batch URL...\n".utf8))
    exit(64)
}
let queue = OperationQueue()
queue.maxConcurrentOperationCount = 2

// The simplest form: the results, in the order of the members.
let batch = OperationBatch(urls.map { HTTPRequestOperation(request: URLRequest(url: $0)) })
batch.add(to: queue)
var failures = 0
for (url, result) in zip(urls, await batch.results()) {
    do {
        print("\(url.lastPathComponent): \(try result.get().responseData?.count ?? 0) bytes")
    } catch {
        failures += 1
        FileHandle.standardError.write(Data("\(url.lastPathComponent): \(error)\n".utf8))
    }
}

// The same with closures, and the number of those that are done.

// MARK: Example

let operations = ConnectionOperation.batch(
    of: urls.map { HTTPRequestOperation(request: URLRequest(url: $0)) },
    progress: { finished, total in print("\(finished) of \(total)") },
    completion: { operations in print("all \(operations.count)") })
for operation in operations { queue.addOperation(operation) }

// MARK: End of example

// The closures of top-level code are main-actor code: they come on the main queue, which runs while this waits.
// The last operation of the batch finishes after them.
await withCheckedContinuation { isDone in
    queue.addBarrierBlock { isDone.resume() }
}
exit(failures == 0 ? 0 : 1)
