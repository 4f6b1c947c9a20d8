import Dispatch
import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct BatchTrackerTests {
    /// On the main actor, so that the main queue does not run meanwhile.
    @Test(arguments: [false, true], [false, true])
    @MainActor func theEndWaitsForClosuresAndForProgressOnAQueueThatWasGiven(
        closures: Bool,
        progress: Bool
    ) async throws {
        let own = DispatchQueue(label: "callbacks")
        for queue in [nil, .main, own] {
            own.suspend()
            let tracker = BatchTracker(
                BatchEstimate(count: 1),
                completionQueue: queue,
                hasClosures: closures
            )
            let shown = progress ? tracker.gauge.progress : nil
            let hasEnded = Locked(false)
            let complete = Gate()
            tracker.begin { $0.conclude(then: { hasEnded.withLock { $0 = true } }) }
            tracker.whenKnown { complete.open() }
            tracker.record(.ended, of: 0)
            let waits = closures || (progress && queue === own)
            #expect(hasEnded.withLock { $0 } == !waits)
            own.resume()
            try await complete.wait()
            #expect(hasEnded.withLock { $0 })
            if waits, let shown { #expect(shown.isFinished) }
        }
    }

    @Test func countsComeInOrderAndTheEndComesOnceAndLast() async throws {
        let calls = Recorder<Int>()
        let tracker = BatchTracker(
            BatchEstimate(count: 100),
            completionQueue: .global(),
            hasClosures: true,
            progress: { ended, total in calls.append(total * ended) }
        )
        tracker.begin { tracker in
            tracker.conclude({
                calls.append(0)
                return nil
            })
        }
        DispatchQueue.concurrentPerform(iterations: 200) { tracker.record(.ended, of: $0 / 2) }
        #expect(try await calls.wait(count: 101) == (1...100).map { $0 * 100 } + [0])
    }

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
