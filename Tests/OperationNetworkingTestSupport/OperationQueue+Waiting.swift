import Foundation
import Testing

extension OperationQueue {
    /// Waits until the queue holds nothing. A time limit that ends the wait says what was left.
    func waitUntilEmpty() async throws {
        try await wait { $0 == 0 }
    }

    /// Waits until the queue holds such a number of operations.
    func wait(_ isEnough: (Int) -> Bool) async throws {
        while !isEnough(operationCount) {
            await Task.yield()
            if Task.isCancelled {
                let left = operations.map { operation in
                    "\(operation.name ?? operation.description): ready \(operation.isReady), "
                        + "executing \(operation.isExecuting), finished \(operation.isFinished)"
                }
                Issue.record("limit \(maxConcurrentOperationCount); \(left)")
                throw CancellationError()
            }
        }
    }
}
