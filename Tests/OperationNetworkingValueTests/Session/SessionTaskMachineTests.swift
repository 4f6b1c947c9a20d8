import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The table of `SessionTaskMachine`, cell by cell.
@Suite struct SessionTaskMachineTests {
    enum Event: CaseIterable, Sendable {
        case resume, suspend, hold, release, cancel, ended
    }

    struct Cell: Sendable {
        let phase: SessionTaskMachine.Phase
        let event: Event
        let next: SessionTaskMachine.Phase
        var effect = SessionTaskMachine.Effect.none
    }

    static let cells: [Cell] = [
        Cell(phase: .made, event: .resume, next: .running, effect: .start),
        Cell(phase: .made, event: .suspend, next: .made),
        Cell(phase: .made, event: .hold, next: .held),
        Cell(phase: .made, event: .release, next: .running, effect: .start),
        Cell(phase: .made, event: .cancel, next: .canceling, effect: .end),
        Cell(phase: .made, event: .ended, next: .made),
        Cell(phase: .held, event: .resume, next: .waiting),
        Cell(phase: .held, event: .suspend, next: .held),
        Cell(phase: .held, event: .hold, next: .held),
        Cell(phase: .held, event: .release, next: .made),
        Cell(phase: .held, event: .cancel, next: .canceling, effect: .end),
        Cell(phase: .held, event: .ended, next: .held),
        Cell(phase: .waiting, event: .resume, next: .running, effect: .start),
        Cell(phase: .waiting, event: .suspend, next: .held),
        Cell(phase: .waiting, event: .hold, next: .waiting),
        Cell(phase: .waiting, event: .release, next: .running, effect: .start),
        Cell(phase: .waiting, event: .cancel, next: .canceling, effect: .end),
        Cell(phase: .waiting, event: .ended, next: .waiting),
        Cell(phase: .running, event: .resume, next: .running),
        Cell(phase: .running, event: .suspend, next: .suspended, effect: .pause),
        Cell(phase: .running, event: .hold, next: .suspended, effect: .pause),
        Cell(phase: .running, event: .release, next: .running),
        Cell(phase: .running, event: .cancel, next: .canceling, effect: .cancel),
        Cell(phase: .running, event: .ended, next: .completed),
        Cell(phase: .suspended, event: .resume, next: .running, effect: .goOn),
        Cell(phase: .suspended, event: .suspend, next: .suspended),
        Cell(phase: .suspended, event: .hold, next: .suspended),
        Cell(phase: .suspended, event: .release, next: .running, effect: .goOn),
        Cell(phase: .suspended, event: .cancel, next: .canceling, effect: .cancel),
        Cell(phase: .suspended, event: .ended, next: .completed),
        Cell(phase: .canceling, event: .resume, next: .canceling),
        Cell(phase: .canceling, event: .suspend, next: .canceling),
        Cell(phase: .canceling, event: .hold, next: .canceling),
        Cell(phase: .canceling, event: .release, next: .canceling),
        Cell(phase: .canceling, event: .cancel, next: .canceling),
        Cell(phase: .canceling, event: .ended, next: .completed),
        Cell(phase: .completed, event: .resume, next: .completed),
        Cell(phase: .completed, event: .suspend, next: .completed),
        Cell(phase: .completed, event: .hold, next: .completed),
        Cell(phase: .completed, event: .release, next: .completed),
        Cell(phase: .completed, event: .cancel, next: .completed),
        Cell(phase: .completed, event: .ended, next: .completed),
    ]

    @Test(arguments: cells)
    func eachEventInEachPhase(_ cell: Cell) {
        var machine = SessionTaskMachine(phase: cell.phase)
        switch cell.event {
        case .resume: #expect(machine.resume() == cell.effect)
        case .suspend: #expect(machine.suspend() == cell.effect)
        case .hold: #expect(machine.hold() == cell.effect)
        case .release: #expect(machine.release() == cell.effect)
        case .cancel: #expect(machine.cancel() == cell.effect)
        case .ended: #expect(machine.ended() == (cell.phase != cell.next))
        }
        #expect(machine.phase == cell.next)
    }

    @Test func theTableIsWhole() {
        #expect(Self.cells.count == SessionTaskMachine.Phase.allCases.count * Event.allCases.count)
        let effects = Set(Self.cells.map(\.effect))
        #expect(effects == Set(SessionTaskMachine.Effect.allCases))
    }

    @Test func aPriorityThatIsNoNumberIsNormal() {
        let priorities = [Float.nan, 0.5, 0.875, 1, 2, .infinity, 0, -1].map {
            Operation.QueuePriority(taskPriority: $0)
        }
        #expect(
            priorities == [
                .normal, .normal, .veryHigh, .veryHigh, .veryHigh, .veryHigh, .veryLow, .veryLow,
            ]
        )
    }

    @Test func aTaskThatWasMadeAndOneThatWasSuspendedAreSuspendedToTheUser() {
        let states = SessionTaskMachine.Phase.allCases.map { SessionTask.State($0) }
        #expect(
            states == [.suspended, .suspended, .suspended, .running, .suspended, .canceling, .completed]
        )
    }
}

/// The table of `TaskRegistry`.
@Suite struct TaskRegistryTests {
    @Test func aValidSessionTakesTasksAndForgetsThem() {
        var registry = TaskRegistry<String>()
        let identifiers = [registry.nextIdentifier(), registry.nextIdentifier()]
        #expect(identifiers == [1, 2])
        let areTaken = [registry.add("b", 2), registry.add("a", 1)]
        #expect(areTaken == [true, true])
        #expect(registry.all == ["a", "b"])
        let removed = [registry.remove(1), registry.remove(1)]
        #expect(removed == ["a", nil])
        let areInvalid = [registry.conclude(), registry.conclude()]
        #expect(areInvalid == [false, false] && registry.phase == .valid)
    }

    @Test func anInvalidatedSessionIsInvalidWithItsLastTask() {
        var registry = TaskRegistry<String>()
        _ = registry.add("a", 1)
        _ = registry.add("b", 2)
        let areInvalid = [registry.invalidate(), registry.invalidate()]
        #expect(areInvalid == [false, false] && registry.phase == .invalidating)
        let isTaken = registry.add("c", 3)
        #expect(!isTaken)
        let first = registry.remove(1)
        registry.replace(2, with: "d", 4)
        let last = registry.remove(4)
        #expect(first == "a" && last == "d" && registry.all.isEmpty && registry.phase == .invalidating)
        let isInvalid = [registry.conclude(), registry.conclude()]
        #expect(isInvalid == [false, true] && registry.phase == .invalid)
        let isTakenLater = registry.add("e", 5)
        let isInvalidAgain = registry.invalidate()
        #expect(!isTakenLater && !isInvalidAgain)
    }

    @Test func anEmptySessionIsInvalidAtOnce() {
        var registry = TaskRegistry<String>()
        let isInvalid = registry.invalidate()
        #expect(isInvalid && registry.phase == .invalid)
        let removed = registry.remove(1)
        let isInvalidAgain = registry.conclude()
        #expect(removed == nil && !isInvalidAgain)
    }

    @Test func aMemberThatIsGoneIsNotReplaced() {
        var registry = TaskRegistry<String>()
        _ = registry.add("a", 1)
        _ = registry.remove(1)
        registry.replace(1, with: "b", 2)
        #expect(registry.all.isEmpty)
    }
}
