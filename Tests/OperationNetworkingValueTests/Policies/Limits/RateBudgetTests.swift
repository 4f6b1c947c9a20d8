import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct RateBudgetTests {
    private let start = MonotonicTime.now

    @Test func theFirstBytesMoveAtOnce() {
        var budget = RateBudget(rate: 100)
        #expect(budget.wait(now: start) == 0)
    }

    @Test func spentBytesHaveToBeEarned() {
        var budget = RateBudget(rate: 100)
        budget.spend(50, now: start)
        #expect(abs(budget.wait(now: start) - 0.51) < 1e-9)
        #expect(budget.wait(now: start + 0.25) > 0.25)
        #expect(budget.wait(now: start + 0.52) == 0)
    }

    @Test func aPauseDoesNotAllowABurst() {
        var budget = RateBudget(rate: 1000)
        budget.spend(1, now: start)
        // After an hour there is credit for a twentieth of a second.
        budget.spend(51, now: start + 3600)
        #expect(budget.wait(now: start + 3600) > 0)
        #expect(budget.wait(now: start + 3600.01) == 0)
    }

    @Test func overALongTimeTheRateIsKept() {
        var budget = RateBudget(rate: 10_000)
        var now = start
        var moved = 0
        while now < start + 60 {
            let wait = budget.wait(now: now)
            if wait > 0 {
                now = now + wait
            } else {
                moved += 777
                budget.spend(777, now: now)
                now = now + 0.001
            }
        }
        #expect((590_000...610_000).contains(moved))
    }

    @Test func aHigherRatePaysWhatIsOwedSooner() {
        var budget = RateBudget(rate: 1)
        budget.spend(16_384, now: start)
        budget.change(to: 1_000_000, now: start)
        #expect(budget.wait(now: start) < 0.02)
        #expect(budget.rate == 1_000_000)
    }

    @Test func aLowerRateDoesNotDelayEarlierBytes() {
        var budget = RateBudget(rate: 1000)
        budget.spend(1000, now: start)
        budget.change(to: 1, now: start)
        #expect(abs(budget.wait(now: start) - 2) < 1e-9)
    }

    @Test(arguments: [0, -5, Int64.min])
    func aRateBelowOneIsOne(rate: Int64) {
        #expect(RateBudget(rate: rate).rate == 1)
    }

    @Test(arguments: [(1, 1), (1000, 50), (Int64.max, 1_048_576)])
    func piecesAreATwentiethOfASecondLong(rate: Int64, piece: Int) {
        #expect(RateBudget(rate: rate).advisedPiece == piece)
    }

    @Test func aClockThatStandsStillEarnsNothing() {
        var budget = RateBudget(rate: 100)
        budget.spend(10, now: start)
        #expect(budget.wait(now: start) == budget.wait(now: start))
    }
}
