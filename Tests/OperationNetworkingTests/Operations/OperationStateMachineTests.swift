import Testing

@testable import OperationNetworking

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

    // In the order of `Phase`: ready, executing, paused before start, paused while executing, finished.
    static let table: [Cell] =
        row(
            "start",
            { $0.start() },
            [
                (.executing, .begin), (.executing, .none), (.pausedWhileExecuting, .none),
                (.pausedWhileExecuting, .none), (.finished, .none),
            ]
        )
        + row(
            "pause",
            { $0.pause() },
            [
                (.pausedBeforeStart, .announceReadiness), (.pausedWhileExecuting, .suspend),
                (.pausedBeforeStart, .none), (.pausedWhileExecuting, .none), (.finished, .none),
            ]
        )
        + row(
            "resume",
            { $0.resume() },
            [
                (.ready, .none), (.executing, .none), (.ready, .announceReadiness), (.executing, .begin),
                (.finished, .none),
            ]
        )
        + row(
            "cancel",
            { $0.cancel() },
            [
                (.ready, .none), (.executing, .abandon), (.ready, .announceReadiness),
                (.executing, .abandon), (.finished, .none),
            ]
        )
        + row(
            "transfer ends",
            { $0.transferEnded() },
            [
                (.ready, .none), (.finished, .finish), (.pausedBeforeStart, .none),
                (.pausedWhileExecuting, .none), (.finished, .none),
            ]
        )

    @Test(arguments: table) func decides(_ cell: Cell) {
        var machine = Machine(phase: cell.before)
        #expect(cell.apply(&machine) == cell.effect)
        #expect(machine.phase == cell.after)
    }

    @Test func theTableIsWhole() {
        #expect(Self.table.count == 5 * Machine.Phase.allCases.count)
    }

    @Test func cancellingBeforeStartFinishesOnlyWhenTheQueueStartsIt() {
        var machine = Machine()
        #expect(machine.cancel() == .none)
        #expect(machine.phase == .ready && machine.isCancelled)
        #expect(machine.pause() == .none)
        #expect(machine.start() == .finishCancelled)
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

    /// Whatever happens in whatever order: once finished, always finished, and told so once.
    @Test func finishesAtMostOnce() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var machine = Machine()
            var ends = 0
            for _ in 0..<20 {
                let effect =
                    switch Int.random(in: 0..<5, using: &generator) {
                    case 0: machine.start()
                    case 1: machine.pause()
                    case 2: machine.resume()
                    case 3: machine.cancel()
                    default: machine.transferEnded()
                    }
                if effect == .finish || effect == .finishCancelled { ends += 1 }
            }
            #expect(ends == (machine.phase == .finished ? 1 : 0))
        }
    }
}
