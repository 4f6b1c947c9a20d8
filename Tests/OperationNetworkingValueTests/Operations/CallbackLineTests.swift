import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite final class CallbackLineTests {
    private var line = CallbackLine<String>()

    /// The calls of a whole turn.
    private func turn(atMost limit: Int = .max) -> [String] {
        line.begin(atMost: limit)
        var calls: [String] = []
        while let call = line.next() { calls.append(call) }
        return calls
    }

    /// Appends a call.
    /// - Returns: whether a turn is to be scheduled.
    private func append(_ call: String) -> Bool {
        line.append(call)
        return line.schedule()
    }

    @Test func theFirstOfARowSchedulesATurnAndOnlyThat() {
        #expect([append("a"), append("b")] == [true, false])
        #expect(turn() == ["a", "b"])
        #expect(!line.isScheduled)
        #expect(append("c"))
    }

    @Test func whatComesDuringATurnIsForTheNextOne() {
        _ = append("a")
        line.begin()
        #expect(line.next() == "a")
        #expect(!append("b"), "The turn schedules it")
        #expect(line.next() == nil && line.isScheduled)
        #expect(turn() == ["b"])
    }

    @Test func aTurnHasALimit() {
        for index in 0..<200 { _ = append("\(index)") }
        var calls: [String] = []
        repeat { calls += turn(atMost: 7) } while line.isScheduled
        #expect(calls == (0..<200).map(String.init))
    }

    @Test func anInsertedCallComesFirst() {
        for call in ["a", "b"] { _ = append(call) }
        line.begin()
        #expect(line.next() == "a")
        line.follow(with: ["a's second part", "a's third part"])
        line.handIn("1")
        line.handIn("2")
        #expect(line.next() == "1")
        line.handIn("3")
        #expect(line.next() == "2" && line.next() == "3")
        #expect(line.next() == "a's second part")
        line.handIn("4")
        var calls: [String] = []
        while let call = line.next() { calls.append(call) }
        #expect(calls == ["4", "a's third part", "b"])
    }

    @Test func aCallInsertedAfterTheLastOneIsMade() {
        _ = append("a")
        line.begin()
        #expect(line.next() == "a" && line.isMaking && line.isTurnDone)
        line.handIn("b")
        #expect(!line.isTurnDone)
        #expect(line.next() == "b")
        #expect(line.next() == nil && !line.isMaking && line.isIdle)
    }

    @Test func theLastThatWaitsMayBeReplaced() {
        #expect(line.last == nil)
        _ = append("a")
        _ = append("b")
        line.last = "c"
        #expect(Array(line.calls) == ["a", "c"])
        #expect(turn() == ["a", "c"])
        #expect(line.last == nil)
    }

    /// Of an operation that waits for a main queue and is no longer kept.
    @Test func aCallIsMadeIfOthersRetainItsOwner() {
        final class Page: Sendable {}
        let calls = Locked(0)
        var outbox = Outbox()
        let kept = Page()
        weak var released: Page?
        do {
            let page = Page()
            released = page
            for object in [kept, page] {
                _ = outbox.append(Callback(about: object) { _ in calls.withLock { $0 += 1 } })
            }
        }
        #expect(released != nil)
        _ = outbox.takeOwners()
        #expect(released == nil)
        outbox.begin()
        while case .call(let callback)? = outbox.next() { _ = callback.callHere() }
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func aCallThatIsHandedInOutsideOfATurnIsNotNext() {
        var outbox = Outbox()
        let isNext = outbox.makeNext(Callback(in: nil) {})
        #expect(!isNext)
    }

    /// Any order of appends, insertions and turns: each call is made once, and none overtakes.
    @Test(arguments: 1...50 as ClosedRange<UInt64>) func anyScheduleKeepsTheOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (number, made, isDue) = (0, [String](), false)
        for _ in 0..<200 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                isDue = append("\(number)") || isDue
                number += 1
            case 1 where isDue:
                line.begin(atMost: .random(in: 1...5, using: &random))
                while let call = line.next() {
                    made.append(call)
                    if Int.random(in: 0..<4, using: &random) == 0 { line.handIn("\(call)+") }
                }
                isDue = line.isScheduled
            default: break
            }
        }
        while line.isScheduled { made += turn() }
        #expect(made.filter { !$0.hasSuffix("+") } == (0..<number).map(String.init))
        for (index, call) in made.enumerated() where call.hasSuffix("+") {
            #expect(made[index - 1] == call.dropLast())
        }
    }
}

@Suite final class OutboxTests {
    private var outbox = Outbox()

    /// The steps of a whole turn.
    private func turn() -> [Outbox.Step] {
        outbox.begin()
        var steps: [Outbox.Step] = []
        while let step = outbox.next() { steps.append(step) }
        return steps
    }

    @Test(arguments: [false, true]) func whatIsHeldWaitsForTheNextOrForItsRelease(isReleased: Bool) {
        let wasNothing = outbox.release()
        outbox.hold(.started)
        #expect(outbox.holdsStart)
        let first = isReleased ? outbox.release() : outbox.append(.paused)
        let second = isReleased ? outbox.append(.paused) : outbox.release()
        #expect(!wasNothing && first && !second)
        #expect(turn().count == 2)
        #expect(!outbox.release() && !outbox.holdsStart)
    }

    @Test func itKnowsWhetherTheEndWaits() {
        _ = outbox.append(.completed)
        #expect(!outbox.holdsEnd)
        _ = outbox.append(.finished(wasRunning: true))
        #expect(outbox.holdsEnd)
        _ = turn()
        #expect(!outbox.holdsEnd)
    }

    @Test(arguments: [false, true]) func anEndLeavesTheGroupToACall(isMade: Bool) {
        let group = DispatchGroup()
        _ = outbox.append(.paused)
        _ = outbox.append(Callback(in: MainActor.shared) {}, isOwed: true, entering: group)
        if isMade {
            outbox.begin()
            _ = (outbox.next(), outbox.next())
        }
        #expect(outbox.takeGroupAtEnd() == nil)
        if !isMade { outbox.begin() }
        while outbox.next() != nil {}
        let late = outbox.takeGroupAtEnd()
        #expect(late === group)
        late?.leave()
    }

    /// A closure's call that comes while notifications of an operation without an audience are posted.
    @Test func whatIsOwedIsNeitherDroppedNorLeftByTheGroup() throws {
        let group = DispatchGroup()
        let none = Audience(hasClosures: false, hasObservers: false, isSubclass: false)
        var state = OperationState(request: URLRequest(url: try #require(URL(string: "http://a.test/"))))
        state.completionGroup = group
        guard case .mainLine? = state.append(.finished(wasRunning: false), for: none) else {
            Issue.record("Notifications wait in the line")
            return
        }
        state.outbox.begin()
        let isPosted = state.outbox.next() != nil
        let isScheduled = state.appendOwed(Callback(in: nil) {}) != nil
        let isOver = state.outbox.next() == nil
        #expect(isPosted && !isScheduled && isOver)
        guard state.outbox.isScheduled, case .queue = state.deliveryTarget(for: none) else {
            Issue.record("The next turn is for the main queue")
            return
        }
        let early = state.outbox.takeGroupAtEnd()
        #expect(early == nil && !state.mayDrop && state.outbox.takeOwners().isEmpty)
        state.outbox.begin()
        while state.outbox.next() != nil {}
        #expect(state.mayDrop)
        let late = state.outbox.takeGroupAtEnd()
        #expect(late === group)
        late?.leave()
    }

    @Test func progressThatWaitsIsMerged() {
        _ = outbox.append(.downloaded(ProgressReport(bytes: 1, total: 1, expected: 10)))
        _ = outbox.append(.downloaded(ProgressReport(bytes: 2, total: 3, expected: 10)))
        _ = outbox.append(.uploaded(ProgressReport(bytes: 4, total: 4, expected: 10)))
        let steps = turn()
        #expect(steps.count == 2)
        guard case .event(.downloaded(let report))? = steps.first else {
            Issue.record("\(steps)")
            return
        }
        #expect(report == ProgressReport(bytes: 3, total: 3, expected: 10))
    }
}
