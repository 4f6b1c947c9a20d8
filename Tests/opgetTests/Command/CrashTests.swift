import Foundation
import OperationNetworkingCrashTesting
import OperationNetworkingTesting
import Testing

/// The crash test, a short one: `make crash-test` runs it with hundreds of kills, and also judges how much is fetched
/// twice.
@Suite(.serialized) struct CrashTests {
    private let directory: TemporaryDirectory
    private let options: CrashTestOptions

    init() throws {
        directory = try TemporaryDirectory()
        var options = try CrashTestOptions(directory: directory.url)
        options.fileSizes = 1 << 20...2 << 20
        options.bytesPerSecond = 8 << 20
        self.options = options
    }

    private func tester() async throws -> CrashTester {
        CrashTester(try await .opget(options), options)
    }

    @Test(arguments: ["strong-etag", "changed-date", "changed-unmarked", "resetting"])
    func aKilledRunNeverLeavesAWrongFile(server: String) async throws {
        let kind = try #require(ServerKind.all.first { $0.name == server })
        let result = try await tester().playRow(kind, kills: 3)
        #expect(result.counts.kills == 3)
        #expect(result.finished > 0)
        #expect(result.counts.wrong == 0)
        #expect(result.hung == 0)
        #expect(result.counts.problems == [])
    }

    @Test func twoProcessesNeverSpoilEachOthersFile() async throws {
        let result = try await tester().playRivals(rounds: 6)
        #expect(result.rounds == 6)
        #expect(result.counts.wrong == 0)
        #expect(result.counts.problems == [])
    }

    @Test func aLargeFileSurvivesManyResets() async throws {
        // A run for each reset: 50 waits before another attempt of the same run would take too long here. So would 50 runs
        // under a sanitizer, which `make` names in the environment.
        let resets = ProcessInfo.processInfo.environment["OPERATIONNETWORKING_SANITIZER"] == nil ? 50 : 5
        let result = try await tester().playResets(length: 16 << 20, resets: resets, retries: 0)
        #expect(result.isFinished)
        #expect(result.resets == resets)
        #expect(result.counts.wrong == 0)
        #expect(result.counts.problems == [])
    }

    @Test func aKilledListDoesNotFetchFinishedFilesAgain() async throws {
        let result = try await tester().playBatch(files: 60, kills: 3)
        #expect(result.finished == 60)
        #expect(result.repeatedRequests == 0)
        #expect(result.counts.wrong == 0)
        #expect(result.counts.problems == [])
    }
}
