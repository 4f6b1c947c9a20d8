import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct TransferMetricsTests {
    /// A redirect, an attempt that fails, and one that succeeds.
    @Test func eachTransferHasItsOwn() async throws {
        let server = try ScriptedServer([
            .respond(302, ["Location": "/there"]), .respond(503), .respond(302, ["Location": "/there"]),
            .respond(200, body: "0123456789"),
        ])
        let operation = ConnectionOperation(request: URLRequest(url: server.url(path: "/here")))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        var retryPolicy = RetryPolicy(maximumRetries: 1)
        retryPolicy.initialDelay = 0
        operation.retryPolicy = retryPolicy
        try await operation.run()

        let transfers = operation.metricsOfEachTransfer
        #expect(transfers.map { $0.url?.path } == ["/here", "/there", "/here", "/there"])
        #expect(transfers.allSatisfy { $0.transferCount == 1 })
        #expect(transfers.map(\.bytesReceived).last == 10)
        for transfer in transfers {
            #expect(transfer.nameLookupTime <= transfer.connectTime)
            #expect(transfer.nameLookupTime == 0 || transfer.connectionCount == 1)
            #expect(transfer.firstByteTime > 0 && transfer.firstByteTime <= transfer.transferTime)
        }
        let sum = try #require(operation.metrics)
        #expect(sum.transferCount == 4)
        #expect(sum.bytesReceived == transfers.reduce(0) { $0 + $1.bytesReceived })
        #expect(abs(sum.transferTime - transfers.reduce(0) { $0 + $1.transferTime }) < 1e-9)
    }
}
