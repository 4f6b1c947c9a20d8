import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The whole table of `OperationStateMachine`, cell by cell; no thread is needed for that.
@Suite struct OperationStateMachineTests {
    typealias Machine = OperationStateMachine

    struct Cell: Sendable, CustomTestStringConvertible {
        let event: String
        let apply: @Sendable (inout Machine) -> Machine.Effect
        let before: Machine.Phase
        let after: Machine.Phase
        let effect: Machine.Effect

        var testDescription: String { "\(event) when \(before)" }
    }

    private static func row(
        _ event: String,
        _ apply: @escaping @Sendable (inout Machine) -> Machine.Effect,
        _ cells: [(Machine.Phase, Machine.Effect)]
    ) -> [Cell] {
        zip(Machine.Phase.allCases, cells).map { phase, cell in
            Cell(event: event, apply: apply, before: phase, after: cell.0, effect: cell.1)
        }
    }

    // In the order of `Phase`: ready, executing, awaiting, returning, held back, paused before start, paused while
    // executing, waiting for a slot, ending, finishing, finished.
    static let table: [Cell] =
        row(
            "start",
            { $0.start() },
            [
                (.executing, .begin), (.executing, .none), (.awaiting, .none), (.returning, .none),
                (.heldBack, .none), (.pausedWhileExecuting, .settleSlot), (.pausedWhileExecuting, .none),
                (.waitingForSlot, .none), (.ending, .none), (.finishing, .none), (.finished, .none),
            ]
        )
        + row(
            "start while its host rests",
            { $0.start(isHeldBack: true) },
            [
                (.heldBack, .settleSlot), (.executing, .none), (.awaiting, .none), (.returning, .none),
                (.heldBack, .none), (.pausedWhileExecuting, .settleSlot), (.pausedWhileExecuting, .none),
                (.waitingForSlot, .none), (.ending, .none), (.finishing, .none), (.finished, .none),
            ]
        )
        + row(
            "pause",
            { $0.pause() },
            [
                (.pausedBeforeStart, .announceReadiness), (.pausedWhileExecuting, .suspend),
                (.pausedWhileExecuting, .suspend), (.pausedWhileExecuting, .suspend),
                (.pausedWhileExecuting, .settleSlot), (.pausedBeforeStart, .none),
                (.pausedWhileExecuting, .none), (.pausedWhileExecuting, .settleSlot), (.ending, .none),
                (.finishing, .none), (.finished, .none),
            ]
        )
        + row(
            "resume",
            { $0.resume() },
            [
                (.ready, .none), (.executing, .none), (.awaiting, .none), (.returning, .none),
                (.heldBack, .none), (.ready, .announceReadiness), (.waitingForSlot, .settleSlot),
                (.waitingForSlot, .none), (.ending, .none), (.finishing, .none), (.finished, .none),
            ]
        )
        + row(
            "slot granted",
            { $0.slotGranted() },
            [
                (.ready, .none), (.executing, .none), (.awaiting, .none), (.executing, .continueExchange),
                (.executing, .begin), (.pausedBeforeStart, .none), (.pausedWhileExecuting, .none),
                (.executing, .begin), (.ending, .none), (.finishing, .none), (.finished, .none),
            ]
        )
        + row(
            "wait begins",
            { $0.waitBegan(in: $0.lap) },
            [
                (.ready, .none), (.awaiting, .settleSlot), (.awaiting, .none), (.returning, .none),
                (.heldBack, .none), (.pausedBeforeStart, .none), (.pausedWhileExecuting, .none),
                (.waitingForSlot, .none), (.ending, .none), (.finishing, .none), (.finished, .none),
            ]
        )
        + row(
            "wait ends",
            { $0.waitEnded() },
            [
                (.ready, .none), (.executing, .none), (.returning, .settleSlot), (.returning, .none),
                (.heldBack, .none), (.pausedBeforeStart, .none), (.pausedWhileExecuting, .none),
                (.waitingForSlot, .none), (.ending, .none), (.finishing, .none), (.finished, .none),
            ]
        )
        + row(
            "cancel",
            { $0.cancel() },
            [
                (.ready, .none), (.executing, .abandon), (.ending, .abandon), (.ending, .abandon),
                (.ending, .abandon), (.ready, .announceReadiness), (.ending, .abandon), (.ending, .abandon),
                (.ending, .none), (.finishing, .none), (.finished, .none),
            ]
        )
        + row(
            "transfer ends",
            { $0.transferEnded() },
            [
                (.ready, .none), (.finishing, .finish), (.finishing, .finish), (.finishing, .finish),
                (.heldBack, .none), (.pausedBeforeStart, .none), (.pausedWhileExecuting, .none),
                (.waitingForSlot, .none), (.finishing, .finish), (.finishing, .none), (.finished, .none),
            ]
        )
        + row(
            "conclude",
            { $0.conclude() },
            [
                (.ready, .none), (.executing, .none), (.awaiting, .none), (.returning, .none),
                (.heldBack, .none), (.pausedBeforeStart, .none), (.pausedWhileExecuting, .none),
                (.waitingForSlot, .none), (.ending, .none), (.finished, .announceEnd), (.finished, .none),
            ]
        )

    @Test(arguments: table) func decides(_ cell: Cell) {
        var machine = Machine(phase: cell.before)
        #expect(cell.apply(&machine) == cell.effect)
        #expect(machine.phase == cell.after)
    }

    @Test func theTableIsWhole() {
        #expect(Self.table.count == 10 * Machine.Phase.allCases.count)
    }

    @Test func cancellingBeforeStartFinishesOnlyWhenTheQueueStartsIt() {
        var machine = Machine()
        #expect(machine.cancel() == .none)
        #expect(machine.phase == .ready && machine.isCancelled)
        #expect(machine.pause() == .none)
        #expect(machine.start() == .finishCancelled)
        #expect(machine.conclude() == .announceEnd)
        #expect(machine.phase == .finished)
    }

    @Test func cancellingTwiceIsCancellingOnce() {
        var machine = Machine(phase: .executing)
        #expect(machine.cancel() == .abandon)
        #expect(machine.cancel() == .none)
        #expect(machine.pause() == .none)
        #expect(machine.transferEnded() == .finish)
    }

    @Test(arguments: Machine.Phase.allCases) func isPausedInTwoPhases(_ phase: Machine.Phase) {
        let isPaused = phase == .pausedBeforeStart || phase == .pausedWhileExecuting
        #expect(Machine(phase: phase).isPaused == isPaused)
    }

    /// In these the queue counts it as running, and it does not run.
    @Test(arguments: Machine.Phase.allCases) func lendsItsSlotInSixPhases(_ phase: Machine.Phase) {
        let lendsSlot = [
            .awaiting, .returning, .heldBack, .pausedWhileExecuting, .waitingForSlot, .ending,
        ].contains(phase)
        #expect(phase.lendsSlot == lendsSlot)
    }

    @Test(arguments: [Machine.Phase.pausedWhileExecuting, .waitingForSlot, .awaiting, .returning, .heldBack])
    func cancellingWhatDoesNotRunNeverRunsItAgain(_ phase: Machine.Phase) {
        var machine = Machine(phase: phase)
        #expect(machine.cancel() == .abandon)
        #expect(machine.slotGranted() == .none)
        #expect(machine.pause() == .none && machine.resume() == .none)
        #expect(!machine.isPaused)
        #expect(machine.transferEnded() == .finish)
    }

    /// A pause and a resumption may overtake the news of a wait: the exchange begins anew, and does not wait.
    @Test func theEndOfAWaitBeforeAPauseComesTooLate() {
        var machine = Machine(phase: .executing)
        let lap = machine.lap
        #expect(machine.pause() == .suspend && machine.resume() == .settleSlot)
        #expect(machine.slotGranted() == .begin)
        #expect(machine.waitBegan(in: lap) == .none && machine.phase == .executing)
        #expect(machine.waitBegan(in: machine.lap) == .settleSlot)
    }

    /// Whatever happens in whatever order: once finished, always finished, and reported once.
    @Test func finishesAtMostOnce() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var machine = Machine()
            var ends = 0
            var announcements = 0
            for _ in 0..<20 {
                let effect =
                    switch Int.random(in: 0..<9, using: &generator) {
                    case 0: machine.start(isHeldBack: Bool.random(using: &generator))
                    case 1: machine.pause()
                    case 2: machine.resume()
                    case 3: machine.cancel()
                    case 4: machine.slotGranted()
                    case 5: machine.conclude()
                    case 6: machine.waitBegan(in: machine.lap)
                    case 7: machine.waitEnded()
                    default: machine.transferEnded()
                    }
                if effect == .finish || effect == .finishCancelled { ends += 1 }
                if effect == .announceEnd { announcements += 1 }
            }
            #expect(ends == (machine.phase == .finished || machine.phase == .finishing ? 1 : 0))
            #expect(announcements == (machine.phase == .finished ? 1 : 0))
        }
    }
}
