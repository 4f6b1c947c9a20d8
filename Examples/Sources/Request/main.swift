// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// Fetches a JSON document twice, and prints what is in it, its progress and its length:
//
//     Request http://127.0.0.1:8080/user.json

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Request URL\n".utf8))
    exit(64)
}
let queue = OperationQueue()

do {
    // MARK: Example

    let operation = HTTPRequestOperation(request: URLRequest(url: url))
    operation.responseSerializer = JSONResponseSerializer()
    queue.addOperation(operation)
    print(try await operation.value ?? "nothing")

    let another = operation.copied()        // the same request, with closures
    another.setDownloadProgress { bytes, total, expected in print(bytes, total, expected) }
    another.setCompletion(
        success: { operation, object in print(operation.response?.expectedContentLength ?? 0, object ?? "nothing") },
        failure: { operation, error in print(error) })
    queue.addOperation(another)

    // MARK: End of example

    // The closures of top-level code come on the main queue. A batch has its results after them.
    for result in await OperationBatch([another]).results() { _ = try result.get() }
} catch {
    FileHandle.standardError.write(Data("\(url.absoluteString): \(error)\n".utf8))
    exit(1)
}
