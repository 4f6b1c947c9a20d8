import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// The limit of a wait for a store, on the network thread.
@Suite(.timeLimit(.minutes(1)))
struct StoreTimeoutsTests {
    private func onNetworkThread(_ work: @escaping @Sendable () -> Void) {
        NetworkThread.shared.perform { _ in work() }
    }

    @Test func eachWaitEndsOnceAndNotBeforeItsTime() async throws {
        let timeouts = StoreTimeouts(standard: 0.05)
        let ends = Locked<[Double]>([])
        let gate = Gate()
        let count = 2_000
        for _ in 0..<count {
            onNetworkThread {
                let start = MonotonicTime.now
                timeouts.wait(0.05) {
                    let isLast = ends.withLock { ends in
                        ends.append(MonotonicTime.now - start)
                        return ends.count == count
                    }
                    if isLast { gate.open() }
                }
            }
        }
        try await gate.wait()
        let times = ends.withLock { $0 }
        #expect(times.count == count && times.allSatisfy { $0 >= 0.05 })
    }

    @Test(arguments: [0, -1, .infinity]) func aWaitWithoutALimitNeverEnds(_ seconds: Double) async throws {
        let timeouts = StoreTimeouts(standard: 0.01)
        let gate = Gate()
        onNetworkThread {
            timeouts.wait(seconds) { Issue.record("There is no limit") }
            timeouts.wait(0.01) { gate.open() }
        }
        try await gate.wait()
    }

    @Test func aStoppedWaitNeverEnds() async throws {
        let timeouts = StoreTimeouts(standard: 0.01)
        let gate = Gate()
        onNetworkThread {
            timeouts.stop(timeouts.wait(0.01) { Issue.record("It was stopped") })
            // Both are due at the same check.
            let later = Locked<StoreTimeouts.Wait?>(nil)
            timeouts.wait(0.01) { timeouts.stop(later.withLock { $0 }) }
            later.withLock { $0 = timeouts.wait(0.011) { Issue.record("The one before it has stopped it") } }
            timeouts.wait(0.05) { gate.open() }
        }
        try await gate.wait()
    }

    /// One alarm serves all of them.
    @Test func eachWaitEndsByItsOwnTime() async throws {
        let timeouts = StoreTimeouts(standard: 1)
        let ends = Recorder<(number: Int, time: MonotonicTime)>()
        // Between these times each is due.
        let due = Locked<[ClosedRange<MonotonicTime>]>([])
        onNetworkThread {
            // A later one, such as the first, does not hold back those that are due before it.
            timeouts.wait(3600) { Issue.record("An hour has not passed") }
            for _ in 0..<50 {
                for seconds in [0.3, 0.05, 0.5] {
                    let (number, earliest) = (due.withLock { $0.count }, MonotonicTime.now + seconds)
                    timeouts.wait(seconds) { ends.append((number, MonotonicTime.now)) }
                    due.withLock { $0.append(earliest...(MonotonicTime.now + seconds)) }
                }
            }
        }
        let order = try await ends.wait(count: 150)
        let times = due.withLock { $0 }
        #expect(order.allSatisfy { $0.time >= times[$0.number].lowerBound })
        var latest = times[order[0].number].lowerBound
        for (number, _) in order {
            #expect(latest <= times[number].upperBound)
            latest = max(latest, times[number].lowerBound)
        }
    }
}
