import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// When activity is shown: a script for each rule of the table.
@Suite struct NetworkActivityStateTests {
    private final class Activity {}

    private let first = Activity()
    private let second = Activity()
    private var one: ObjectIdentifier { ObjectIdentifier(first) }
    private var other: ObjectIdentifier { ObjectIdentifier(second) }

    private func enabled() -> NetworkActivityState {
        var state = NetworkActivityState()
        #expect(state.setEnabled(true) == .none)
        return state
    }

    /// One that shows an activity.
    private func visible() -> NetworkActivityState {
        var state = enabled()
        #expect(state.begin(one) == .wait(1, turn: 1))
        #expect(state.wake(turn: 1) == .show)
        #expect(state.isVisible)
        return state
    }

    @Test func itIsShownAfterASecondAndHiddenAfterABit() {
        var state = visible()
        #expect(state.end(one) == .wait(0.17, turn: 2))
        #expect(state.isVisible)
        #expect(state.wake(turn: 2) == .hide)
        #expect(!state.isVisible && !state.isOccurring)
    }

    @Test func aMomentsWorkIsNotShown() {
        var state = enabled()
        #expect(state.begin(one) == .wait(1, turn: 1))
        #expect(!state.isVisible)
        #expect(state.end(one) == .none)
        #expect(state.wake(turn: 1) == .none)
        #expect(!state.isVisible)
        // And the next one waits again.
        #expect(state.begin(one) == .wait(1, turn: 2))
    }

    @Test func workThatResumesWithinTheSecondIsShownAtItsEnd() {
        var state = enabled()
        #expect(state.begin(one) == .wait(1, turn: 1))
        #expect(state.end(one) == .none)
        #expect(state.begin(other) == .none)
        #expect(state.wake(turn: 1) == .show)
    }

    @Test func betweenTwoPiecesOfWorkItStays() {
        var state = visible()
        #expect(state.end(one) == .wait(0.17, turn: 2))
        #expect(state.begin(other) == .none)
        #expect(state.isVisible)
        // The wait for the end of the first is over, and means nothing.
        #expect(state.wake(turn: 2) == .none)
        #expect(state.isVisible)
        #expect(state.end(other) == .wait(0.17, turn: 4))
        #expect(state.wake(turn: 4) == .hide)
    }

    @Test func activitiesThatOverlapHaveOneEdgeEach() {
        var state = visible()
        #expect(state.begin(other) == .none)
        #expect(state.end(one) == .none)
        #expect(state.end(other) == .wait(0.17, turn: 2))
        #expect(state.wake(turn: 2) == .hide)
        #expect(state.wake(turn: 2) == .none)
    }

    @Test func whatIsSaidTwiceCountsOnce() {
        var state = visible()
        #expect(state.begin(one) == .none)
        #expect(state.end(one) == .wait(0.17, turn: 2))
        #expect(state.end(one) == .none)
        #expect(state.end(other) == .none)
        #expect(!state.isOccurring)
    }

    @Test func countingByHandDoesNotGoBelowZero() {
        var state = enabled()
        #expect(state.decrement() == .none)
        #expect(state.increment() == .wait(1, turn: 1))
        #expect(state.increment() == .none)
        #expect(state.wake(turn: 1) == .show)
        #expect(state.decrement() == .none)
        #expect(state.decrement() == .wait(0.17, turn: 2))
    }

    @Test func disabledItOnlyCounts() {
        var state = NetworkActivityState()
        #expect(state.begin(one) == .none)
        #expect(state.isOccurring && !state.isVisible)
        #expect(state.setEnabled(true) == .wait(1, turn: 1))
        #expect(state.setEnabled(true) == .none)
        #expect(state.wake(turn: 1) == .show)
    }

    @Test func disablingHidesAtOnce() {
        var state = visible()
        #expect(state.setEnabled(false) == .hide)
        #expect(!state.isVisible)
        #expect(state.end(one) == .none)
        var ending = visible()
        #expect(ending.end(one) == .wait(0.17, turn: 2))
        #expect(ending.setEnabled(false) == .hide)
        #expect(ending.wake(turn: 2) == .none)
        var beginning = enabled()
        #expect(beginning.begin(one) == .wait(1, turn: 1))
        #expect(beginning.setEnabled(false) == .none)
        #expect(beginning.wake(turn: 1) == .none)
    }

    @Test func delaysCountForTheNextEdge() {
        var state = enabled()
        state.activationDelay = 2
        state.completionDelay = 3
        #expect(state.begin(one) == .wait(2, turn: 1))
        #expect(state.wake(turn: 1) == .show)
        #expect(state.end(one) == .wait(3, turn: 2))
    }

    @Test(arguments: [0, -1, .nan]) func withoutADelayItIsShownAndHiddenAtOnce(delay: Double) {
        var state = enabled()
        (state.activationDelay, state.completionDelay) = (delay, delay)
        #expect(state.begin(one) == .show)
        #expect(state.begin(other) == .none)
        #expect(state.end(one) == .none)
        #expect(state.end(other) == .hide)
        #expect(!state.isVisible)
    }
}
