import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct TransferLogTests {
    @Test func theListIsNotLongerThanItsLimit() {
        var log = TransferLog()
        for count in 1...250 {
            var one = TransferMetrics()
            one.transferCount = 1
            one.bytesReceived = Int64(count)
            log.add(one)
        }
        #expect(log.transfers.count == TransferLog.longestList)
        #expect(log.transfers.last?.bytesReceived == 250)
        #expect(log.sum.transferCount == 250)
    }
}
