// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// Counts the lines of a URL without keeping its body:
//
//     Pieces http://127.0.0.1:8080/access.log

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Pieces URL\n".utf8))
    exit(64)
}
let queue = OperationQueue()
let operation = HTTPRequestOperation(request: URLRequest(url: url))

do {
    // MARK: Example

    let updates = operation.downloadUpdates
    Task {
        for await progress in updates { print("\(progress.bytes) of \(progress.expected ?? -1)") }
    }
    let pieces = operation.bodyPieces()
    queue.addOperation(operation)
    var lines = 0
    for try await piece in pieces { lines += piece.count { $0 == UInt8(ascii: "\n") } }

    // MARK: End of example

    print("\(lines) lines")
} catch {
    FileHandle.standardError.write(Data("\(url.absoluteString): \(error)\n".utf8))
    exit(1)
}
