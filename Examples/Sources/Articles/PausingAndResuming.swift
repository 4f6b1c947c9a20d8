// The samples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// The article Pausing and Resuming. Compiled, and not called.

@MainActor
final class PausingAndResuming {
    let manager = OperationManager()
    let queue = TransferQueue()

    func commands(_ operation: HTTPRequestOperation) async throws {
        // MARK: Example

        operation.pause()       // operation.isPaused
        operation.resume()
        let object = try await operation.value

        // MARK: End of example
        print(object ?? "nothing")
    }

    func file(_ url: URL, _ file: URL) {
        // MARK: Example

        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.outputFile = file
        queue.addOperation(operation)

        // MARK: End of example
    }

    func memory(_ url: URL, _ queue: OperationQueue) {
        // MARK: Example

        var request = URLRequest(url: url)
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        queue.addOperation(HTTPRequestOperation(request: request))

        // MARK: End of example
    }

    func together(_ batch: OperationBatch<HTTPRequestOperation>, _ operation: HTTPRequestOperation) {
        // MARK: Example

        batch.pause()
        batch.resume()
        operation.downloadProgress.pause()
        operation.downloadProgress.resume()

        // MARK: End of example
    }

    func retry() {
        // MARK: Example

        var policy = RetryPolicy(maximumRetries: 5)
        policy.network = NetworkReachabilityManager.shared      // waits for the network instead of a delay
        manager.retryPolicy = policy

        // MARK: End of example
    }
}
