// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// Archives a manager and the requests in its queue to a file. Run again, it restores and sends them:
//
//     Archive queue.json http://127.0.0.1:8080/user.json
//     Archive queue.json

guard (2...3).contains(CommandLine.arguments.count) else {
    FileHandle.standardError.write(Data("usage: Archive FILE [URL]\n".utf8))
    exit(64)
}
let file = URL(fileURLWithPath: CommandLine.arguments[1])

nonisolated struct Kept: Codable {
    var manager: OperationManagerArchive
    var operations: [OperationArchive]
}

/// Archives the operations before the process ends.
func keep(_ manager: OperationManager) throws {
    // MARK: Example

    let operations = manager.operationQueue.operations.compactMap { $0 as? ConnectionOperation }
    let kept = Kept(manager: try manager.archive, operations: operations.compactMap(\.archive))
    try JSONEncoder().encode(kept).write(to: file, options: .atomic)

    // MARK: End of example
}

/// Restores them in the next process.
func resume() async throws {
    // MARK: Example

    let kept = try JSONDecoder().decode(Kept.self, from: Data(contentsOf: file))
    let manager = OperationManager(archive: kept.manager)
    for archive in kept.operations {
        let operation = archive.makeOperation()
        manager.operationQueue.addOperation(operation)
        print(try await operation.value ?? "nothing")
    }

    // MARK: End of example
}

do {
    if CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[2]) {
        let manager = OperationManager()
        manager.retryPolicy = RetryPolicy(maximumRetries: 2)
        manager.operationQueue.isSuspended = true
        manager.operationQueue.addOperation(manager.operation(for: URLRequest(url: url)))
        try keep(manager)
    } else {
        try await resume()
    }
} catch {
    print("\(file.lastPathComponent): \(error)")
}
