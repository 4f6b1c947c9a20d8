import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// The limit of a wait for a store, from many threads.
@Suite(.timeLimit(.minutes(1)))
struct CacheWatchTests {
    @Test func eachWaitEndsOnceAndNotBeforeItsTime() async throws {
        let watch = CacheWatch(patience: 0.05)
        let ends = Locked<[Double]>([])
        let gate = Gate()
        let count = 2_000
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<count / 8 {
                        let start = MonotonicTime.now
                        watch.wait(0.05) {
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

    @Test(arguments: [0, -1, .infinity]) func aWaitWithoutALimitIsNone(_ seconds: Double) async throws {
        let watch = CacheWatch(patience: 0.01)
        watch.wait(seconds) { Issue.record("There is no limit") }
        let gate = Gate()
        watch.wait(0.01) { gate.open() }
        try await gate.wait()
    }

    @Test func aLimitThatIsLiftedEndsNothing() async throws {
        let watch = CacheWatch(patience: 0.05)
        let (kept, ended) = (Recorder<Int>(), Gate())
        final class Payload: Sendable {}
        weak var released: Payload?
        do {
            let payload = Payload()
            released = payload
            let lifted = watch.limit(0.05) {
                _ = payload
                Issue.record("It was over before its time")
            }
            watch.lift(lifted)
        }
        #expect(released == nil)
        let limit = watch.limit(0.05) { kept.append(1) }
        watch.wait(0.2) { ended.open() }
        try await ended.wait()
        #expect(kept.elements == [1])
        // It is none any more.
        watch.lift(limit)
    }

    /// One alarm serves all of them.
    @Test func eachLimitEndsByItsOwnTime() async throws {
        let watch = CacheWatch(patience: 1)
        let ends = Recorder<(seconds: Double, time: Double)>()
        var lifted: [CacheWatch.Limit] = []
        for round in 0..<100 {
            for seconds in [0.3, 0.05, 0.5] {
                let start = MonotonicTime.now
                let limit = watch.limit(seconds) { ends.append((seconds, MonotonicTime.now - start)) }
                if round % 2 == 0 { lifted.append(limit) }
            }
        }
        for limit in lifted { watch.lift(limit) }
        let times = try await ends.wait(count: 150)
        #expect(times.allSatisfy { $0.time >= $0.seconds })
        for seconds in [0.3, 0.05, 0.5] { #expect(times.count { $0.seconds == seconds } == 50) }
        // A later one does not hold back those that are due before it.
        let order = times.map(\.seconds)
        #expect(order == order.sorted())
    }

    @Test(arguments: [0, -1, .infinity]) func aLimitWithoutATimeIsNone(_ seconds: Double) async throws {
        let watch = CacheWatch(patience: 0.01)
        let limit = watch.limit(seconds) { Issue.record("There is no limit") }
        let gate = Gate()
        let other = watch.limit(0.01) { gate.open() }
        watch.lift(limit)
        #expect(limit != other)
        try await gate.wait()
    }
}
