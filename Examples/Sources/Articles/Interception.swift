// The examples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

/// Stands for what makes signatures.
struct Signer: Sendable {
    nonisolated func signature(of request: URLRequest) async throws -> String { request.httpMethod ?? "" }
}

// MARK: Example

struct TimedSerializer: TransferResponseSerializer {
    func responseObject(for transfer: ReceivedTransfer) throws -> (any Sendable)? {
        print(transfer.request?.url ?? "", transfer.metrics?.transferTime ?? 0)
        return transfer.data
    }
}

// MARK: End of example

func interception(_ manager: OperationManager, signer: Signer) {
    // MARK: Example

    manager.requestAdapters = [
        ClosureRequestAdapter { request, _ in
            var request = request
            request.setValue(try await signer.signature(of: request), forHTTPHeaderField: "X-Signature")
            return request
        }
    ]

    // MARK: End of example
}
