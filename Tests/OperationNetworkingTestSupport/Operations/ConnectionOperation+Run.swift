import Foundation
import OperationNetworking
import OperationNetworkingTesting

extension ConnectionOperation {
    /// Starts it, and waits until it has finished.
    func run() async throws {
        let gate = Gate()
        completionBlock = { gate.open() }
        start()
        try await gate.wait()
    }
}
