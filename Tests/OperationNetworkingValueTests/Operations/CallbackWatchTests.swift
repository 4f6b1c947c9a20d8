import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// When a callback counts as stuck.
@Suite final class CallbackWatchTests {
    private var watch = CallbackWatch()

    @Test func aCallbackThatRunsIsNotStuck() throws {
        let first = try #require(watch.schedule(now: 10))
        #expect(first.isToCheck)
        watch.run(first.number)
        #expect(watch.check(now: 13) == .nothing)
        #expect(try #require(watch.schedule(now: 14)).isToCheck)
    }

    @Test func aCallbackThatWaitsForThreeSecondsIsReportedOnce() throws {
        _ = watch.schedule(now: 10)
        #expect(try #require(watch.schedule(now: 11)).isToCheck == false, "A check is due")
        #expect(watch.check(now: 13) == .stuck)
        #expect(watch.schedule(now: 20) == nil)
        #expect(watch.check(now: 30) == .nothing)
    }

    @Test func oneThatRanDoesNotHideTheNext() throws {
        let first = try #require(watch.schedule(now: 10))
        watch.run(first.number)
        let second = try #require(watch.schedule(now: 11))
        #expect(!second.isToCheck)
        #expect(watch.check(now: 13) == .checkAgain(after: 1))
        #expect(watch.check(now: 14) == .stuck)
    }

    @Test func theOldestThatWaitsCounts() throws {
        let numbers = try [10.0, 11, 12].map { try #require(watch.schedule(now: $0)).number }
        watch.run(numbers[0])
        watch.run(numbers[2])
        #expect(watch.check(now: 13) == .checkAgain(after: 1))
        watch.run(numbers[1])
        #expect(watch.check(now: 14) == .nothing)
    }
}
