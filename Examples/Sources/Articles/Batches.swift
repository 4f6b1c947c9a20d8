// The samples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// The article Batches. Compiled, and not called.

@MainActor
final class Batches {
    var title = ""
    let queue = TransferQueue()

    func results(_ urls: [URL]) async {
        // MARK: Example

        let batch = OperationBatch(urls.map { HTTPRequestOperation(request: URLRequest(url: $0)) })
        batch.add(to: queue)
        for result in await batch.results() { print(result) }

        // MARK: End of example
    }

    func policy(_ members: [HTTPRequestOperation]) async {
        // MARK: Example

        let batch = OperationBatch(members, policy: .stopAtFirstFailure)
        batch.add(to: queue)
        _ = await batch.results()
        if let member = batch.firstFailure { print(member.failure?.statusCode ?? 0) }

        // MARK: End of example
    }

    func progress(_ batch: OperationBatch<HTTPRequestOperation>) {
        // MARK: Example

        let percent = Int(batch.fractionCompleted * 100)
        print("\(percent) percent, \(batch.throughput ?? 0) bytes per second")
        print("\(batch.estimatedTimeRemaining ?? 0) seconds left")

        // MARK: End of example
        // MARK: Example

        batch.pause()           // starts nothing, and keeps the received bytes
        batch.resume()
        batch.cancel()

        // MARK: End of example
    }

    func closures(_ members: [HTTPRequestOperation]) {
        // MARK: Example

        let batch = OperationBatch(
            members,
            progress: { finished, total in self.title = "\(finished) of \(total)" },
            completion: { members in self.title = "all \(members.count)" })
        batch.add(to: queue)

        // MARK: End of example
    }
}
