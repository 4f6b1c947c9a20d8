import Foundation
import OperationNetworkingTesting
import Testing

extension OperationQueue {
    /// Waits until the queue holds nothing.
    func waitUntilEmpty() async throws {
        try await wait { $0 == 0 }
    }

    /// Waits until the queue holds such a number of operations. What ends the wait before says what is in it.
    func wait(_ isEnough: (Int) -> Bool) async throws {
        do {
            try await eventually { isEnough(operationCount) }
        } catch {
            let left = operations.map { operation in
                "\(operation.name ?? operation.description): ready \(operation.isReady), "
                    + "executing \(operation.isExecuting), finished \(operation.isFinished)"
            }
            Issue.record("limit \(maxConcurrentOperationCount); \(left)")
            throw error
        }
    }
}
