// The samples stand as the documentation has them:
// swift-format-ignore-file

import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking

// The article Threads and Queues. Compiled, and not called.

@MainActor
final class ThreadsAndQueues {
    var title = ""
    let manager = OperationManager()
    let queue = TransferQueue()

    func show(_ object: Any?) {
        title = "\(object ?? "nothing")"
    }

    func value(_ operation: HTTPRequestOperation) async throws {
        // MARK: Example

        let object = try await operation.value

        // MARK: End of example
        show(object)
    }

    func closures(_ operation: HTTPRequestOperation) {
        // MARK: Example

        operation.setCompletion(
            success: { operation, object in self.title = "\(object ?? "nothing")" },
            failure: { operation, error in self.title = error.localizedDescription })

        // MARK: End of example
    }

    func callbacks() {
        // MARK: Example

        manager.completionQueue = DispatchQueue(label: "callbacks")

        // MARK: End of example
    }

    func pieces(_ operation: HTTPRequestOperation) async throws {
        // MARK: Example

        let updates = operation.downloadUpdates
        Task {
            for await progress in updates { title = "\(progress.bytes) of \(progress.expected ?? -1)" }
        }
        let pieces = operation.bodyPieces()
        queue.addOperation(operation)
        var lines = 0
        for try await piece in pieces { lines += piece.count { $0 == UInt8(ascii: "\n") } }

        // MARK: End of example
        show(lines)
    }

    func program() {
        // MARK: Example

        manager.get("users", success: { operation, object in self.show(object) }, failure: { operation, error in self.show(error) })
        RunLoop.main.run()

        // MARK: End of example
    }
}
