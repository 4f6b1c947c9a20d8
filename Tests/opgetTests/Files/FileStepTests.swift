import Foundation
import OperationNetworking
import Testing

@testable import opget

@Suite struct FileStepTests {
    private enum Option: CaseIterable {
        case none, continues, onlyChanges, overwrites

        var settings: Settings {
            var settings = Settings(concurrency: 1)
            settings.continuesFiles = self == .continues
            settings.fetchesOnlyChanges = self == .onlyChanges
            settings.replacesFiles = self == .overwrites
            return settings
        }
    }

    private static let path = FilePath("a")
    private static let wrong = Failure(.checksum, "wrong")

    /// Whether `-c` may go on with it.
    private static func isOwn(_ verdict: FileVerdict) -> Bool {
        [.unrecorded, .changed, .joined, .perhapsIncomplete].contains(verdict)
    }

    private func step(
        _ verdict: FileVerdict,
        _ option: Option,
        isEmpty: Bool = false,
        _ verification: FileStep.Verification = .unneeded
    ) -> FileStep {
        FileStep(verdict, Self.path, isEmpty: isEmpty, verification, option.settings)
    }

    @Test func aFileWithoutAChecksumIsDoneOnlyByItsRecord() {
        for verdict in FileVerdict.allCases where verdict != .nothing {
            let refusal = FileStep.refuse(Failure(verdict, Self.path))
            let uncontinued = FileStep.refuse(Failure(verdict, Self.path, continues: true))
            let isComplete = verdict == .complete
            #expect(step(verdict, .none) == (isComplete ? .leave(nil) : refusal))
            #expect(step(verdict, .continues) == (isComplete ? .leave(nil) : uncontinued))
            #expect((uncontinued == refusal) == !Self.isOwn(verdict))
            #expect(step(verdict, .onlyChanges) == (isComplete ? .ask : .fetch(replaces: true)))
            #expect(step(verdict, .overwrites) == .fetch(replaces: true))
        }
    }

    @Test(arguments: FileVerdict.allCases)
    func anEmptyFileCountsAsAbsentUnlessItIsComplete(verdict: FileVerdict) {
        let isComplete = verdict == .complete
        let expected = verdict != .nothing
        #expect(
            step(verdict, .none, isEmpty: true) == (isComplete ? .leave(nil) : .fetch(replaces: expected))
        )
        #expect(
            step(verdict, .onlyChanges, isEmpty: true) == (isComplete ? .ask : .fetch(replaces: expected))
        )
        #expect(
            step(verdict, .continues, isEmpty: true, .pending)
                == (isComplete ? .verify : .fetch(replaces: expected))
        )
    }

    @Test(arguments: FileVerdict.allCases.filter { $0 != .nothing })
    func aChecksumDecidesWhoeverMadeTheFile(verdict: FileVerdict) {
        let isOwn = Self.isOwn(verdict)
        let isComplete = verdict == .complete
        #expect(step(verdict, .none, .pending) == .verify)
        #expect(step(verdict, .none, .right(nil)) == .leave(nil))
        #expect(step(verdict, .none, .wrong(Self.wrong)) == .refuse(Self.wrong))
        #expect(step(verdict, .continues, .wrong(Self.wrong)) == (isOwn ? .resume : .refuse(Self.wrong)))
        #expect(step(verdict, .onlyChanges, .pending) == (isComplete ? .ask : .verify))
        #expect(step(verdict, .onlyChanges, .right(nil)) == (isComplete ? .ask : .leave(nil)))
        #expect(
            step(verdict, .onlyChanges, .wrong(Self.wrong)) == .fetch(replaces: true)
        )
    }

    @Test func refusalsSayWhatToDo() {
        for verdict in FileVerdict.allCases {
            let failure = Failure(verdict, Self.path)
            #expect(failure.outcome == .exists)
            #expect(failure.sentence.hasPrefix("a exists, and nothing was written: "))
            #expect(failure.sentence.contains("--overwrite"))
        }
    }
}
