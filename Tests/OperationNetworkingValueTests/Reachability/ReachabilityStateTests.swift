import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

extension ReachabilityState {
    fileprivate mutating func take() -> NetworkReachabilityStatus? { pending.take() }
    fileprivate mutating func hasMore() -> Bool { pending.hasMore() }
}

/// The statuses that are reported, of those that are found: a script for each rule.
@Suite struct ReachabilityStateTests {
    private func started() -> ReachabilityState {
        var state = ReachabilityState()
        state.start()
        return state
    }

    @Test func theFirstKnownStatusIsReported() {
        var state = started()
        #expect(state.isMonitoring && state.status == .unknown)
        #expect(state.find(.notReachable) == true)
        #expect(state.status == .notReachable)
        #expect(state.take() == .notReachable)
        #expect(state.hasMore() == false)
    }

    @Test func theSameStatusIsNotReportedAgain() {
        var state = started()
        #expect(state.find(.reachableViaWiFi) == true)
        #expect(state.find(.reachableViaWiFi) == false)
        #expect(state.take() == .reachableViaWiFi)
        #expect(state.find(.reachableViaWiFi) == false)
        #expect(state.hasMore() == false)
        #expect(state.find(.reachableViaWiFi) == false)
    }

    @Test func aNewStartReportsTheSameStatusOnce() {
        var state = started()
        _ = state.find(.reachableViaWiFi)
        _ = state.take()
        _ = state.hasMore()
        state.start()
        #expect(state.find(.reachableViaWiFi) == true)
        #expect(state.take() == .reachableViaWiFi)
    }

    @Test func aQueueThatIsLateGetsTheNewestOnly() {
        var state = started()
        #expect(state.find(.notReachable) == true)
        #expect(state.find(.reachableViaWiFi) == false)
        #expect(state.take() == .reachableViaWiFi)
        // Come and gone before the next delivery.
        #expect(state.find(.notReachable) == false)
        #expect(state.hasMore() == true)
        #expect(state.find(.reachableViaWiFi) == false)
        #expect(state.take() == nil)
        #expect(state.hasMore() == false)
    }

    @Test func whatIsFoundDuringADeliveryIsDeliveredNext() {
        var state = started()
        #expect(state.find(.notReachable) == true)
        _ = state.take()
        #expect(state.find(.reachableViaWiFi) == false)
        #expect(state.hasMore() == true)
        #expect(state.take() == .reachableViaWiFi)
        #expect(state.hasMore() == false)
        #expect(state.find(.notReachable) == true)
    }

    @Test func afterAStopNothingIsReportedAndTheStatusStays() {
        var state = started()
        #expect(state.find(.reachableViaWWAN) == true)
        state.stop()
        #expect(!state.isMonitoring)
        #expect(state.take() == nil)
        #expect(state.status == .reachableViaWWAN)
    }

    @Test func withoutAStartOnlySequencesAreNotified() async {
        var state = ReachabilityState()
        let (stream, continuation) = AsyncStream.makeStream(of: NetworkReachabilityStatus.self)
        let number = state.begin(continuation)
        #expect(state.isMonitoring)
        // Found before its first status: not reported twice.
        #expect(state.find(.notReachable) == false)
        state.deliverFirstStatus(to: number)
        #expect(state.find(.notReachable) == false)
        #expect(state.find(.reachableViaWiFi) == false)
        let ended = state.end(number)
        #expect(ended != nil && !state.isMonitoring)
        #expect(state.find(.notReachable) == false)
        ended?.finish()
        var received: [NetworkReachabilityStatus] = []
        for await status in stream { received.append(status) }
        #expect(received == [.notReachable, .reachableViaWiFi])
    }
}
