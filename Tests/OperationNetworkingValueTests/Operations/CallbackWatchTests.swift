import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// When a callback counts as stuck.
@Suite final class CallbackWatchTests {
    private var watch = CallbackWatch()

    /// The number of a callback that is scheduled, and whether the caller has to check.
    private func schedule(_ time: Double) throws -> (number: Int, isToCheck: Bool) {
        let scheduled = watch.schedule(now: time)
        return try #require(scheduled)
    }

    @Test func aCallbackThatRunsIsNotStuck() throws {
        let first = try schedule(10)
        #expect(first.isToCheck)
        watch.run(first.number)
        #expect(watch.check(now: 13) == .nothing)
        let next = try schedule(14)
        #expect(next.isToCheck)
    }

    @Test func aCallbackThatWaitsForThreeSecondsIsReportedOnce() throws {
        _ = try schedule(10)
        let second = try schedule(11)
        #expect(!second.isToCheck, "A check is due")
        #expect(watch.check(now: 13) == .stuck)
        let isOver = watch.schedule(now: 20) == nil
        #expect(isOver && watch.check(now: 30) == .nothing)
    }

    @Test func oneThatRanDoesNotHideTheNext() throws {
        let first = try schedule(10)
        watch.run(first.number)
        let second = try schedule(11)
        #expect(!second.isToCheck)
        #expect(watch.check(now: 13) == .checkAgain(after: 1))
        #expect(watch.check(now: 14) == .stuck)
    }

    @Test func theOldestThatWaitsCounts() throws {
        let numbers = try [10.0, 11, 12].map { try schedule($0).number }
        watch.run(numbers[0])
        watch.run(numbers[2])
        #expect(watch.check(now: 13) == .checkAgain(after: 1))
        watch.run(numbers[1])
        #expect(watch.check(now: 14) == .nothing)
    }
}
