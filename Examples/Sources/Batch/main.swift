// The example stands as the documentation has it:
// swift-format-ignore-file

import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking

// Fetches any number of documents, two at a time, and prints how many are done:
//
//     Batch http://127.0.0.1:8080/1 http://127.0.0.1:8080/2 http://127.0.0.1:8080/3

let urls = CommandLine.arguments.dropFirst().compactMap { URL(string: $0) }
guard !urls.isEmpty, urls.count == CommandLine.arguments.count - 1 else {
    FileHandle.standardError.write(Data("usage: Batch URL...\n".utf8))
    exit(64)
}
let queue = OperationQueue()
queue.maxConcurrentOperationCount = 2
let callbacks = DispatchQueue(label: "callbacks")

// MARK: Example

let operations = ConnectionOperation.batch(
    of: urls.map { HTTPRequestOperation(request: URLRequest(url: $0)) },
    completionQueue: callbacks,
    progress: { finished, total in print("\(finished) of \(total)") },
    completion: { operations in print("all \(operations.count)") })
for operation in operations { queue.addOperation(operation) }

// MARK: End of example

// The last operation of the batch finishes when everything has been said, so this block comes after it. The
// members say nothing of their own, but they would on the main queue: it has to run.
queue.addBarrierBlock {
    var failures = 0
    for case let member as HTTPRequestOperation in operations {
        let name = member.request.url?.lastPathComponent ?? ""
        if let error = member.error {
            failures += 1
            FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
        } else {
            print("\(name): \(member.responseData?.count ?? 0) bytes")
        }
    }
    exit(failures == 0 ? 0 : 1)
}
dispatchMain()
