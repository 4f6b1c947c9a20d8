import Testing

@testable import OperationNetworking

@Suite struct BatchCountTests {
    @Test func allHaveEndedWhenEachMemberHasOnce() {
        var count = BatchCount(members: 2)
        #expect(!count.haveAllEnded)
        let ends = [0, 0, 1, 1].map { count.record(.ended, of: $0) }
        #expect(ends == [true, false, true, false])
        #expect(count.endedCount == 2 && count.haveAllEnded)
    }

    @Test func aBatchWithoutMembersHasEnded() {
        #expect(BatchCount(members: 0).haveAllEnded)
    }

    @Test func batchesWithinAreWaitedForToo() {
        var count = BatchCount(members: 1, batches: 2)
        _ = count.record(.ended, of: 0)
        count.batchDidComplete()
        #expect(!count.haveAllEnded)
        count.batchDidComplete()
        #expect(count.haveAllEnded)
    }

    @Test func aMemberThatIsCancelledBeforeItsStartIsKnownAndHasNotEnded() {
        var count = BatchCount(members: 2)
        let isEnd = count.record(.cancelledBeforeStart, of: 0)
        #expect(!isEnd && !count.hasEnded(0) && count.endedCount == 0)
        // The other one may do anything yet.
        #expect(!count.isKnownEarly)
        _ = count.record(.ended, of: 1)
        #expect(count.isKnownEarly && !count.haveAllEnded)
        let isEndNow = count.record(.ended, of: 0)
        #expect(isEndNow && count.haveAllEnded)
    }

    @Test func aSecondCancellationAndOneAfterTheEndCountNothing() {
        var count = BatchCount(members: 2)
        for _ in 0..<2 { _ = count.record(.cancelledBeforeStart, of: 0) }
        #expect(!count.isKnownEarly)
        for event in [BatchCount.Event.ended, .cancelledBeforeStart] { _ = count.record(event, of: 1) }
        #expect(count.isKnownEarly)
        _ = count.record(.ended, of: 0)
        #expect(count.endedCount == 2 && !count.isKnownEarly)
    }

    /// Callbacks are waited for when none of the members is kept by a queue.
    @Test func endsAloneMakeNothingKnownEarly() {
        var count = BatchCount(members: 1)
        _ = count.record(.ended, of: 0)
        #expect(!count.isKnownEarly && !BatchCount(members: 0).isKnownEarly)
    }

    @Test func theFirstFailureIsKept() {
        var count = BatchCount(members: 3)
        #expect(count.firstFailure == nil)
        let areFirst = [2, 0, 2].map { count.fail($0) }
        #expect(areFirst == [true, false, false])
        #expect(count.firstFailure == 2 && count.endedCount == 0)
    }
}
