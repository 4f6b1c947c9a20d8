import Foundation
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct TotalTimeTests {
    @Test func pausesAreNotCounted() {
        var time = TotalTime(limit: 10)
        #expect(!time.isRunning)
        #expect(begin(&time, 100) == 10)
        #expect(begin(&time, 101) == nil, "it runs already")
        #expect(time.lap == 1 && time.isRunning)
        time.stop(now: MonotonicTime(seconds: 104))
        time.stop(now: MonotonicTime(seconds: 105))
        #expect(!time.isRunning)
        #expect(begin(&time, 1000) == 6)
        #expect(time.lap == 2)
        time.stop(now: MonotonicTime(seconds: 2000))
        #expect(begin(&time, 3000) == 0)
    }

    @Test(arguments: [nil, TimeInterval.infinity, .nan]) func withoutALimitNoTimerIsSet(limit: TimeInterval?)
    {
        var time = TotalTime(limit: limit)
        #expect(begin(&time, 100) == nil)
        #expect(!time.isRunning)
    }

    private func begin(_ time: inout TotalTime, _ seconds: Double) -> TimeInterval? {
        time.start(now: MonotonicTime(seconds: seconds))
    }
}
