import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// The limit of a wait for a store, from many threads.
@Suite(.timeLimit(.minutes(1)))
struct StoreTimeoutsTests {
    @Test func eachWaitEndsOnceAndNotBeforeItsTime() async throws {
        let timeouts = StoreTimeouts(standard: 0.05)
        let ends = Locked<[Double]>([])
        let gate = Gate()
        let count = 2_000
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<count / 8 {
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
            }
        }
        try await gate.wait()
        let times = ends.withLock { $0 }
        #expect(times.count == count && times.allSatisfy { $0 >= 0.05 })
    }

    @Test(arguments: [0, -1, .infinity]) func aWaitWithoutALimitNeverEnds(_ seconds: Double) async throws {
        let timeouts = StoreTimeouts(standard: 0.01)
        timeouts.wait(seconds) { Issue.record("There is no limit") }
        let gate = Gate()
        timeouts.wait(0.01) { gate.open() }
        try await gate.wait()
    }

    /// One alarm serves all of them.
    @Test func eachWaitEndsByItsOwnTime() async throws {
        let timeouts = StoreTimeouts(standard: 1)
        let ends = Recorder<(number: Int, time: MonotonicTime)>()
        // Between these times each is due.
        var due: [ClosedRange<MonotonicTime>] = []
        // A later one, such as the first, does not hold back those that are due before it.
        timeouts.wait(3600) { Issue.record("An hour has not passed") }
        for _ in 0..<50 {
            for seconds in [0.3, 0.05, 0.5] {
                let (number, earliest) = (due.count, MonotonicTime.now + seconds)
                timeouts.wait(seconds) { ends.append((number, MonotonicTime.now)) }
                due.append(earliest...(MonotonicTime.now + seconds))
            }
        }
        let order = try await ends.wait(count: 150)
        #expect(order.allSatisfy { $0.time >= due[$0.number].lowerBound })
        var latest = due[order[0].number].lowerBound
        for (number, _) in order {
            #expect(latest <= due[number].upperBound)
            latest = max(latest, due[number].lowerBound)
        }
    }
}
