import Foundation
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingCrashTesting

@Suite(.timeLimit(.minutes(1))) struct ChildProcessTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func start(_ script: String) async throws -> ChildProcess {
        try await ChildProcess.start(
            ["/bin/sh", "-c", script],
            in: directory.url,
            log: directory.file("log")
        )
    }

    @Test func itsEndIsReported() async throws {
        #expect(try await start("exit 7").waitForEnd(within: .waitingLimit) == .exited(7))
        #expect(try await start("kill -TERM $$").waitForEnd(within: .waitingLimit) == .signaled(SIGTERM))
    }

    @Test func itRunsInItsDirectoryAndWhatItPrintsIsKept() async throws {
        let child = try await start("pwd; echo wrong >&2; touch made")
        #expect(try await child.waitForEnd(within: .waitingLimit) == .exited(0))
        let path = directory.url.resolvingSymlinksInPath().path
        #expect(try String(contentsOf: directory.file("log"), encoding: .utf8) == "\(path)\nwrong\n")
        #expect(FileManager.default.fileExists(atPath: directory.file("made").path))
    }

    @Test func aKilledOneEndsAndIsNoLongerListed() async throws {
        let child = try await start("while :; do read line </dev/zero || :; done")
        #expect(child.peakMemory ?? 0 > 0)
        child.kill()
        #expect(try await child.waitForEnd(within: .waitingLimit) == .signaled(SIGKILL))
        #expect(child.peakMemory == nil)
        child.kill()  // does nothing: another process may have its number by now
    }

    @Test func aProgramThatCannotBeStartedIsAnError() async throws {
        let child = try await ChildProcess.start(
            ["/nonexistent/program"],
            in: directory.url,
            log: directory.file("log")
        )
        #expect(try await child.waitForEnd(within: .waitingLimit) == .exited(127))
    }
}
