// The example stands as the documentation has it:
// swift-format-ignore-file

import Dispatch
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
let callbacks = DispatchQueue(label: "callbacks")

// The simplest form: the object, or an error.
let first = HTTPRequestOperation(request: URLRequest(url: url))
first.responseSerializer = JSONResponseSerializer()
queue.addOperation(first)
do {
    print(try await first.value ?? "nothing")
} catch {
    FileHandle.standardError.write(Data("\(url.absoluteString): \(error)\n".utf8))
    exit(1)
}

// The same with closures, and its progress.

// MARK: Example

let operation = HTTPRequestOperation(request: URLRequest(url: url))
operation.responseSerializer = JSONResponseSerializer()
operation.completionQueue = callbacks
operation.setDownloadProgress { bytes, total, expected in print(bytes, total, expected) }
operation.setCompletion(
    success: { operation, object in print(operation.response?.expectedContentLength ?? 0, object ?? "nothing") },
    failure: { operation, error in print(error) })
queue.addOperation(operation)

// MARK: End of example

// An operation finishes before its callbacks come. A batch has its results after them.
_ = await OperationBatch([operation]).results()

if let error = operation.error {
    FileHandle.standardError.write(Data("\(url.absoluteString): \(error)\n".utf8))
    exit(1)
}
