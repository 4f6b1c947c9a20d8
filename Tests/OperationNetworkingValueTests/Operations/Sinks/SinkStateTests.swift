import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The table of `SinkState`, without a queue and without a file.
struct SinkStateTests {
    private static let bytes = [UInt8](repeating: 7, count: 1000)

    /// A state, and the buffer of the writer.
    private struct Script {
        var state = SinkState(canBeEmptied: true)
        var hand: [UInt8] = []
        /// Each piece comes a second after the one before.
        var now = MonotonicTime(seconds: 100)

        mutating func append(_ count: Int = 1000) -> Bool {
            now = now + 1
            return append(count, now: now) == .now
        }

        mutating func append(_ count: Int, now: MonotonicTime) -> WritePace.Urgency {
            state.append([UInt8](repeating: 7, count: count).span, now: now)
        }

        mutating func next() -> SinkState.Step {
            state.next(&hand)
        }

        /// Opens, and writes a part of 1000 bytes.
        mutating func open(writing count: Int = 0) {
            state.begin()
            _ = append()
            _ = next()
            state.didOpen(canBeEmptied: true)
            _ = next()
            if count > 0 { _ = state.didWrite(count) }
        }
    }

    @Test func nothingIsToBeDoneBeforeTheFirstByte() {
        var script = Script()
        #expect(script.state.phase == .untouched)
        script.state.begin()
        #expect(script.state.phase == .resting)
        #expect(script.append() == true)
        #expect(script.state.phase == .working)
        // The queue is at it already.
        #expect(script.append() == false)
        #expect(script.state.count == 2000)
    }

    @Test func whatCameIsOpenedWrittenAndClosedInThisOrder() {
        var script = Script()
        script.state.begin()
        #expect(script.append() == true)
        #expect(script.next() == .open)
        script.state.didOpen(canBeEmptied: true)
        #expect(script.next() == .write(0..<1000))
        #expect(script.hand == Self.bytes)
        #expect(script.state.didWrite(400) == false)
        #expect(script.next() == .write(400..<1000))
        #expect(script.state.didWrite(600) == false)
        #expect(script.next() == .rest)
        #expect(script.state.phase == .resting)
        #expect(script.state.end() == true)
        #expect(script.next() == .close)
        script.state.didClose()
        #expect(script.state.phase == .closed)
        #expect(script.state.count == 1000)
    }

    @Test func anEmptyBodyIsOpenedAndClosed() {
        var script = Script()
        script.state.begin()
        #expect(script.state.end() == true)
        #expect(script.next() == .open)
        script.state.didOpen(canBeEmptied: true)
        #expect(script.next() == .close)
    }

    @Test func anEndDuringAWriteClosesAfterTheLastByte() {
        var script = Script()
        script.open()
        #expect(script.append(500) == false)
        #expect(script.state.end() == false)
        _ = script.state.didWrite(1000)
        #expect(script.next() == .write(0..<500))
        _ = script.state.didWrite(500)
        #expect(script.next() == .close)
    }

    @Test func aTaskIsPerformedAfterTheBytesThatCameBefore() {
        var script = Script()
        script.open()
        #expect(script.append(500) == false)
        #expect(script.state.perform() == false)
        _ = script.state.didWrite(1000)
        #expect(script.next() == .write(0..<500))
        _ = script.state.didWrite(500)
        #expect(script.next() == .perform)
        #expect(script.next() == .rest)
        #expect(script.state.perform() == true)
        #expect(script.next() == .perform)
    }

    @Test func noTaskIsLostByAnEarlyEnd() {
        var script = Script()
        script.state.begin()
        #expect(script.state.perform() == true)
        #expect(script.state.perform() == false)
        #expect(script.state.abandon(keepsRest: true) == false)
        #expect(script.next() == .open)
        script.state.didOpen(canBeEmptied: true)
        #expect([script.next(), script.next(), script.next()] == [.perform, .perform, .close])
    }

    @Test func muchIsWrittenInStepsThatAreNotTooLarge() {
        var script = Script()
        script.state.begin()
        _ = script.append(SinkState.stepLimit + 1)
        _ = script.next()
        script.state.didOpen(canBeEmptied: true)
        #expect(script.next() == .write(0..<SinkState.stepLimit))
        _ = script.state.didWrite(SinkState.stepLimit)
        #expect(script.next() == .write(SinkState.stepLimit..<SinkState.stepLimit + 1))
    }

    @Test func whatComesSoonAfterAWriteIsCollected() {
        var script = Script()
        script.state.begin()
        let start = MonotonicTime(seconds: 0)
        // The first byte opens it at once.
        #expect(script.append(1000, now: start) == .now)
        _ = script.next()
        script.state.didOpen(canBeEmptied: true)
        _ = script.next()
        // While the queue is at it nothing has to be done.
        #expect(script.append(10, now: start + 0.0001) == .none)
        _ = script.state.didWrite(1000)
        #expect(script.next() == .write(0..<10))
        _ = script.state.didWrite(10)
        #expect(script.next() == .rest)
        let urgencies = (2...3).map { script.append(500, now: start + Double($0) / 10_000) }
        #expect(urgencies.last == WritePace.Urgency.none && script.state.phase == .resting)
        guard case .after(let seconds) = urgencies[0] else {
            Issue.record("\(urgencies)")
            return
        }
        #expect(seconds > 0 && seconds <= WritePace.rest)
        #expect(script.state.timerDidFire(now: start + 0.0002 + seconds) == .now)
        #expect(script.next() == .write(0..<1000))
    }

    @Test func muchIsWrittenAtOnceAndTheEndIsNotWaitedFor() {
        for isMuch in [true, false] {
            var script = Script()
            script.open(writing: 1000)
            _ = script.next()
            let now = script.now + 0.0001
            let count = WritePace.worthWriting - (isMuch ? 0 : 1)
            #expect((script.append(count, now: now) == .now) == isMuch)
            if !isMuch { #expect(script.state.end() == true) }
            #expect(script.state.phase == .working)
            // The timer finds that others are at it.
            #expect(script.state.timerDidFire(now: now + 1) == .none)
            #expect(script.next() == .write(0..<SinkState.stepLimit))
        }
    }

    @Test func aFullSinkHasRoomWhenHalfIsWritten() {
        var script = Script()
        script.state.begin()
        _ = script.append(SinkState.capacity - 1)
        #expect(!script.state.isFull)
        _ = script.append(1)
        #expect(script.state.isFull)
        _ = script.next()
        script.state.didOpen(canBeEmptied: true)
        _ = script.next()
        #expect(script.state.didWrite(SinkState.capacity - SinkState.relief - 1) == false)
        #expect(script.state.isFull)
        #expect(script.state.didWrite(1) == true)
        #expect(!script.state.isFull)
        #expect(script.state.didWrite(1) == false)
    }

    @Test func startingAgainDropsWhatWaitsAndEmptiesWhatIsThere() {
        var script = Script()
        script.open(writing: 400)
        #expect(script.state.empty() == false)
        #expect(script.state.count == 0)
        // It had been begun before, and does not count.
        #expect(script.append(10) == false)
        #expect(script.state.didWrite(600) == false)
        #expect(script.state.count == 10)
        #expect(script.next() == .empty)
        script.state.didEmpty()
        #expect(script.next() == .write(0..<10))
    }

    @Test func startingAgainBeforeItIsOpenLeavesNothingToBeEmptied() {
        var script = Script()
        script.state.begin()
        _ = script.append()
        _ = script.state.empty()
        _ = script.append(10)
        #expect(script.next() == .open)
        script.state.didOpen(canBeEmptied: true)
        #expect(script.next() == .write(0..<10))
    }

    @Test func startingOverWakesAnIdleSink() {
        var script = Script()
        script.open(writing: 1000)
        #expect(script.next() == .rest)
        #expect(script.state.empty() == true)
        #expect(script.next() == .empty)
    }

    @Test func withoutRoomItIsTriedAgainOnceForEachTime() {
        var script = Script()
        script.open()
        #expect(script.state.didFindNoRoom() == true)
        #expect(script.state.phase == .blocked)
        #expect(script.state.fruitlessTries == 1)
        let first = script.state.block
        // No work is scheduled for a byte that has no room either.
        #expect(script.append() == false)
        #expect(script.state.tryAgain(first) == true)
        #expect(script.next() == .write(0..<1000))
        #expect(script.state.didFindNoRoom() == true)
        #expect(script.state.fruitlessTries == 2)
        // A timer of the first time.
        #expect(script.state.tryAgain(first) == false)
        #expect(script.state.tryAgain(nil) == true)
        #expect(script.state.tryAgain(nil) == false)
        _ = script.state.didWrite(1)
        #expect(script.state.fruitlessTries == 0)
    }

    @Test func aFailureCountsOnlyWhatWasWritten() {
        var script = Script()
        script.open(writing: 400)
        _ = script.append(SinkState.capacity)
        #expect(script.state.isFull)
        script.state.didFail()
        #expect(script.state.count == 400)
        #expect(!script.state.isFull)
        #expect(script.next() == .close)
        #expect(script.append() == false)
        #expect(script.state.count == 400)
    }

    @Test func anUnusedSinkIsClosedWithoutBeingOpened() {
        var script = Script()
        #expect(script.state.abandon(keepsRest: true) == false)
        #expect(script.state.phase == .closed)
    }

    @Test func whatBeganIsEmptiedEvenIfNothingCame() {
        var script = Script()
        script.state.begin()
        #expect(script.state.abandon(keepsRest: true) == true)
        #expect(script.next() == .open)
        script.state.didOpen(canBeEmptied: true)
        #expect(script.next() == .close)
    }

    @Test func aStreamThatGotNothingIsNotOpenedForItsEnd() {
        var script = Script()
        script.state.begin()
        #expect(script.state.abandon(keepsRest: false) == true)
        #expect(script.next() == .close)
    }

    @Test(arguments: [true, false]) func givingUpWritesOrDropsTheRest(keepsRest: Bool) {
        var script = Script()
        script.open(writing: 400)
        _ = script.append(10)
        #expect(script.state.abandon(keepsRest: keepsRest) == false)
        #expect(script.state.count == (keepsRest ? 1010 : 400))
        #expect(script.next() == (keepsRest ? .write(400..<1000) : .close))
        // Nothing comes after it.
        #expect(script.append() == false)
        #expect(script.state.count == (keepsRest ? 1010 : 400))
    }

    @Test(arguments: [true, false]) func givingUpWritesOrDropsCollectedBytes(keepsRest: Bool) {
        var script = Script()
        script.open(writing: 1000)
        _ = script.next()
        #expect(script.append(10, now: script.now + 0.0001) != .now)
        #expect(script.state.abandon(keepsRest: keepsRest) == true)
        #expect(script.next() == (keepsRest ? .write(0..<10) : .close))
        #expect(script.state.count == (keepsRest ? 1010 : 1000))
    }

    @Test func givingUpDoesNotWaitForRoom() {
        var script = Script()
        script.open()
        #expect(script.state.abandon(keepsRest: true) == false)
        #expect(script.state.didFindNoRoom() == false)
        #expect(script.next() == .close)
        #expect(script.state.count == 0)
    }

    @Test func givingUpOnAnUnopenedSinkChecksOnceMore() {
        var script = Script()
        script.state.begin()
        _ = script.append()
        #expect(script.next() == .open)
        #expect(script.state.didFindNoRoom() == true)
        #expect(script.state.abandon(keepsRest: true) == false)
        #expect(script.state.tryAgain(nil) == true)
        #expect(script.next() == .open)
        #expect(script.state.didFindNoRoom() == false)
        #expect(script.next() == .close)
    }

    @Test func afterTheTimeoutOnlyTheHangingCallIsAwaited() {
        var script = Script()
        script.open()
        _ = script.append()
        #expect(script.state.abandon(keepsRest: true) == false)
        script.state.dropRest()
        #expect(script.state.count == 0)
        _ = script.state.didWrite(1000)
        #expect(script.next() == .close)
    }

    @Test func whatCannotBeTakenBackIsKnownWhenItIsOpen() {
        var script = Script()
        script.state.begin()
        _ = script.append()
        #expect(script.state.canBeEmptied)
        _ = script.next()
        script.state.didOpen(canBeEmptied: false)
        #expect(!script.state.canBeEmptied)
    }
}
