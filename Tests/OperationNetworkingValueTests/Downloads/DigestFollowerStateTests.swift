import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct DigestFollowerStateTests {
    private let piece = DigestFollowerState.pieceLength

    @Test func aPieceIsReadWhenItIsFull() {
        var state = DigestFollowerState()
        #expect(state.advance(to: piece - 1) == false)
        #expect(state.advance(to: piece) == true)
        #expect(state.next() == .read(0..<piece))
        #expect(state.didRead(Int(piece)) == true)
        #expect(state.next() == .rest)
        #expect(state.position == piece)
    }

    @Test func manyAdvancesScheduleOneRead() {
        var state = DigestFollowerState()
        #expect(state.advance(to: piece) == true)
        #expect(state.advance(to: 5 * piece) == false)
        #expect(state.advance(to: 3 * piece) == false)
        for number in 0..<5 {
            #expect(state.next() == .read(Int64(number) * piece..<Int64(number + 1) * piece))
            #expect(state.didRead(Int(piece)) == true)
        }
        #expect(state.next() == .rest)
    }

    @Test func theLastPieceIsReadAtTheEnd() {
        var state = DigestFollowerState()
        #expect(state.advance(to: 10) == false)
        #expect(state.finish(length: 10) == true)
        #expect(state.next() == .read(0..<10))
        #expect(state.didRead(4) == true)
        #expect(state.next() == .read(4..<10))
        #expect(state.didRead(6) == true)
        #expect(state.next() == .answer(length: 10))
        #expect(state.didAnswer(length: 10) == true)
        #expect(state.next() == .forget)
        state.didForget()
        #expect(state.next() == .rest)
    }

    @Test func anEmptyFileIsAnsweredAtOnce() {
        var state = DigestFollowerState()
        #expect(state.finish(length: 0) == true)
        #expect(state.next() == .answer(length: 0))
    }

    @Test func whatIsReadWhileItIsTakenBackDoesNotCount() {
        var state = DigestFollowerState()
        #expect(state.advance(to: piece) == true)
        #expect(state.next() == .read(0..<piece))
        #expect(state.startOver() == false)
        #expect(state.didRead(Int(piece)) == false)
        #expect(state.next() == .forget)
        state.didForget()
        #expect(state.next() == .rest)
        #expect(state.finish(length: 1) == true)
        #expect(state.next() == .read(0..<1))
    }

    @Test func whatWasReadIsForgottenWhenItIsTakenBack() {
        var state = DigestFollowerState()
        #expect(state.advance(to: piece) == true)
        #expect(state.next() == .read(0..<piece))
        #expect(state.didRead(Int(piece)) == true)
        #expect(state.next() == .rest)
        #expect(state.startOver() == true)
        #expect(state.next() == .forget)
    }

    @Test func whereNothingWasReadNothingIsForgotten() {
        var state = DigestFollowerState()
        #expect(state.startOver() == false)
        #expect(state.finish(length: 5) == true)
        #expect(state.next() == .read(0..<5))
    }

    @Test func aShorterEndThanWhatWasReadBeginsAgain() {
        var state = DigestFollowerState()
        #expect(state.advance(to: 2 * piece) == true)
        #expect(state.next() == .read(0..<piece))
        #expect(state.didRead(Int(piece)) == true)
        #expect(state.finish(length: 3) == false)
        #expect(state.next() == .forget)
        state.didForget()
        #expect(state.next() == .read(0..<3))
    }

    @Test func anEndWithinThePieceThatIsBeingReadBeginsAgain() {
        var state = DigestFollowerState()
        #expect(state.advance(to: piece) == true)
        #expect(state.next() == .read(0..<piece))
        #expect(state.finish(length: 3) == false)
        #expect(state.didRead(Int(piece)) == false)
        #expect(state.next() == .forget)
        state.didForget()
        #expect(state.next() == .read(0..<3))
    }

    @Test func anAnswerThatWasTakenBackMeanwhileIsNone() {
        var state = DigestFollowerState()
        #expect(state.finish(length: 0) == true)
        #expect(state.next() == .answer(length: 0))
        #expect(state.startOver() == false)
        #expect(state.finish(length: 0) == false)
        #expect(state.didAnswer(length: 0) == false)
        #expect(state.next() == .forget)
        state.didForget()
        #expect(state.next() == .answer(length: 0))
        #expect(state.didAnswer(length: 0) == true)
    }

    @Test func anAnswerOfAnotherLengthIsNone() {
        var state = DigestFollowerState()
        #expect(state.finish(length: 0) == true)
        #expect(state.next() == .answer(length: 0))
        #expect(state.finish(length: 1) == false)
        #expect(state.didAnswer(length: 0) == false)
        #expect(state.next() == .forget)
        state.didForget()
        #expect(state.next() == .read(0..<1))
    }

    @Test func aFailureStopsItUntilItStartsOver() {
        var state = DigestFollowerState()
        #expect(state.advance(to: piece) == true)
        #expect(state.next() == .read(0..<piece))
        #expect(state.didFail() == true)
        #expect(state.next() == .rest)
        #expect(state.advance(to: 9 * piece) == false)
        #expect(state.finish(length: 9 * piece) == true)
        #expect(state.next() == .answer(length: 9 * piece))
        #expect(state.startOver() == false)
        #expect(state.didAnswer(length: 9 * piece) == false)
        #expect(state.next() == .forget)
        state.didForget()
        #expect(state.next() == .rest)
    }

    @Test func aFailureOfWhatWasTakenBackIsNone() {
        var state = DigestFollowerState()
        #expect(state.advance(to: piece) == true)
        #expect(state.next() == .read(0..<piece))
        #expect(state.startOver() == false)
        #expect(state.didFail() == false)
        #expect(state.next() == .forget)
    }

    @Test func anAbandonedOneDoesNothing() {
        var state = DigestFollowerState()
        #expect(state.advance(to: piece) == true)
        #expect(state.next() == .read(0..<piece))
        state.abandon()
        #expect(state.didRead(Int(piece)) == false)
        #expect(state.next() == .rest)
        #expect(state.advance(to: 9 * piece) == false)
        #expect(state.startOver() == false)
        #expect(state.finish(length: 1) == false)
        #expect(state.next() == .rest)
    }

    /// Any events between any steps: the bytes that were computed when an answer is one are those from 0 to its length, all
    /// read after they were last taken back.
    @Test(arguments: 0..<50)
    func whateverHappensAnAnswerIsOfAllBytesInOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var state = DigestFollowerState()
        // What a real one does: the generation of each byte range that its digests have taken.
        var taken: [(range: Range<Int64>, generation: Int)] = []
        var generation = 0
        var isWorking = false
        var answers = 0
        func event() {
            let mustWork: Bool
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                generation += 1
                mustWork = state.startOver()
            case 1:
                mustWork = state.finish(length: Int64.random(in: 0...(4 * piece), using: &random))
            default:
                mustWork = state.advance(to: Int64.random(in: 0...(8 * piece), using: &random))
            }
            #expect(!(mustWork && isWorking))
            if mustWork { isWorking = true }
        }
        for _ in 0..<2000 {
            guard isWorking else {
                event()
                continue
            }
            let step = state.next()
            // Then the queue is not at it, and the next event may schedule it.
            if step == .rest { isWorking = false }
            let before = generation
            if Int.random(in: 0..<4, using: &random) == 0 { event() }
            switch step {
            case .forget:
                taken = []
                state.didForget()
            case .read(let range):
                let count = Int.random(in: 1...range.count, using: &random)
                if state.didRead(count) {
                    taken.append((range.lowerBound..<range.lowerBound + Int64(count), before))
                }
            case .answer(let length):
                if state.didAnswer(length: length) {
                    answers += 1
                    #expect(taken.allSatisfy { $0.generation == generation })
                    #expect(
                        taken.reduce(0) { $0 == $1.range.lowerBound ? $1.range.upperBound : -1 } == length
                    )
                }
            case .rest:
                break
            }
        }
        #expect(answers > 0)
    }
}
