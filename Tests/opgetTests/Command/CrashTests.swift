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

    @Test(arguments: ["strong-etag", "changed-date", "changed-unmarked", "resetting"])
    func aKilledRunNeverLeavesAWrongFile(server: String) async throws {
        let kind = try #require(ServerKind.all.first { $0.name == server })
        let result = try await RowRun(kind, try await .opget(options), kills: 3, options)()
        #expect(result.kills == 3)
        #expect(result.finished > 0)
        #expect(result.wrong == 0)
        #expect(result.hung == 0)
        #expect(result.problems == [])
    }

    @Test func twoProcessesNeverSpoilEachOthersFile() async throws {
        let result = try await RivalRun(try await .opget(options), rounds: 6, options)()
        #expect(result.rounds == 6)
        #expect(result.wrong == 0)
        #expect(result.problems == [])
    }

    @Test func aLargeFileSurvivesManyResets() async throws {
        // A run for each reset: 50 waits before another attempt of the same run would take too long here. So would 50 runs
        // under a sanitizer, which `make` names in the environment.
        let resets = ProcessInfo.processInfo.environment["OPERATIONNETWORKING_SANITIZER"] == nil ? 50 : 5
        let opget = try await Tool.opget(options)
        let result = try await ResetRun(opget, length: 16 << 20, resets: resets, retries: 0, options)()
        #expect(result.isFinished)
        #expect(result.resets == resets)
        #expect(result.wrong == 0)
        #expect(result.problems == [])
    }

    @Test func aKilledListDoesNotFetchFinishedFilesAgain() async throws {
        let result = try await BatchRun(try await .opget(options), files: 60, kills: 3, options)()
        #expect(result.finished == 60)
        #expect(result.repeatedRequests == 0)
        #expect(result.wrong == 0)
        #expect(result.problems == [])
    }
}
