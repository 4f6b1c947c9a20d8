import Dispatch
import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking

/// The callbacks of a batch, on queues and from several threads.
@Suite(.timeLimit(.minutes(1))) struct BatchTrackerQueueTests {
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
}
