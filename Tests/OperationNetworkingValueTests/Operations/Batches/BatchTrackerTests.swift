import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct BatchTrackerTests {
    @Test func whatWaitsIsCalledOnceAndAtOnceAfterTheEnd() {
        let tracker = BatchTracker(BatchEstimate(count: 2), completionQueue: nil, hasClosures: false)
        let calls = Locked<[Int]>([])
        tracker.begin { $0.conclude() }
        tracker.whenKnown { calls.withLock { $0.append(1) } }
        tracker.record(.ended, of: 0)
        #expect(calls.withLock { $0 } == [])
        tracker.record(.cancelledBeforeStart, of: 1)
        tracker.whenKnown { calls.withLock { $0.append(2) } }
        #expect(calls.withLock { $0 } == [1, 2])
        tracker.record(.ended, of: 1)
        tracker.whenKnown { tracker.whenKnown { calls.withLock { $0.append(3) } } }
        #expect(calls.withLock { $0 } == [1, 2, 3])
    }

    @Test func aBatchEndsAfterThoseWithin() {
        let one = BatchEstimate(count: 1)
        let inner = BatchTracker(one, completionQueue: nil, hasClosures: false)
        let outer = BatchTracker(one, batches: 1, completionQueue: nil, hasClosures: false)
        let hasEnded = Locked(false)
        inner.begin { $0.conclude() }
        outer.begin(after: [inner]) { $0.conclude(then: { hasEnded.withLock { $0 = true } }) }
        outer.record(.ended, of: 0)
        #expect(!hasEnded.withLock { $0 })
        inner.record(.ended, of: 0)
        #expect(hasEnded.withLock { $0 })
    }
}
