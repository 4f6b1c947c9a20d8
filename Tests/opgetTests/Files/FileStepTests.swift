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
    private static func isOwn(_ standing: FileStanding) -> Bool {
        [.unrecorded, .changed, .joined, .perhapsIncomplete].contains(standing)
    }

    private func step(
        _ standing: FileStanding,
        _ option: Option,
        isEmpty: Bool = false,
        _ verification: FileStep.Verification = .unneeded
    ) -> FileStep {
        FileStep(standing, Self.path, isEmpty: isEmpty, verification, option.settings)
    }

    @Test func aFileWithoutAChecksumIsDoneOnlyByItsRecord() {
        for standing in FileStanding.allCases where standing != .nothing {
            let refusal = FileStep.refuse(Failure(standing, Self.path))
            let uncontinued = FileStep.refuse(Failure(standing, Self.path, continues: true))
            let isComplete = standing == .complete
            #expect(step(standing, .none) == (isComplete ? .leave(nil) : refusal))
            #expect(step(standing, .continues) == (isComplete ? .leave(nil) : uncontinued))
            #expect((uncontinued == refusal) == !Self.isOwn(standing))
            #expect(step(standing, .onlyChanges) == (isComplete ? .ask : .fetch(replaces: true)))
            #expect(step(standing, .overwrites) == .fetch(replaces: true))
        }
    }

    @Test(arguments: FileStanding.allCases)
    func anEmptyFileCountsAsAbsentUnlessItIsComplete(standing: FileStanding) {
        let isComplete = standing == .complete
        let expected = standing != .nothing
        #expect(
            step(standing, .none, isEmpty: true) == (isComplete ? .leave(nil) : .fetch(replaces: expected))
        )
        #expect(
            step(standing, .onlyChanges, isEmpty: true) == (isComplete ? .ask : .fetch(replaces: expected))
        )
        #expect(
            step(standing, .continues, isEmpty: true, .pending)
                == (isComplete ? .verify : .fetch(replaces: expected))
        )
    }

    @Test(arguments: FileStanding.allCases.filter { $0 != .nothing })
    func aChecksumDecidesWhoeverMadeTheFile(standing: FileStanding) {
        let isOwn = Self.isOwn(standing)
        let isComplete = standing == .complete
        #expect(step(standing, .none, .pending) == .verify)
        #expect(step(standing, .none, .right(nil)) == .leave(nil))
        #expect(step(standing, .none, .wrong(Self.wrong)) == .refuse(Self.wrong))
        #expect(step(standing, .continues, .wrong(Self.wrong)) == (isOwn ? .resume : .refuse(Self.wrong)))
        #expect(step(standing, .onlyChanges, .pending) == (isComplete ? .ask : .verify))
        #expect(step(standing, .onlyChanges, .right(nil)) == (isComplete ? .ask : .leave(nil)))
        #expect(
            step(standing, .onlyChanges, .wrong(Self.wrong)) == .fetch(replaces: true)
        )
    }

    @Test func refusalsSayWhatToDo() {
        for standing in FileStanding.allCases {
            let failure = Failure(standing, Self.path)
            #expect(failure.outcome == .exists)
            #expect(failure.sentence.hasPrefix("a exists, and nothing was written: "))
            #expect(failure.sentence.contains("--overwrite"))
        }
    }
}
