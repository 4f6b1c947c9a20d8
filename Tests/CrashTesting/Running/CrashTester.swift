/// Tests one tool: has it fetch, and ends it on the way.
public struct CrashTester: Sendable {
    let tool: Tool
    let options: CrashTestOptions

    /// Tests `tool`, with everything else that a test needs.
    public init(_ tool: Tool, _ options: CrashTestOptions) {
        self.tool = tool
        self.options = options
    }
}

extension CrashTester {
    /// A directory of its own for a run.
    func workplace() throws -> Workplace { try Workplace(in: options.directory) }

    /// Kills `child` when the moment has come, unless it has ended before.
    func kill(
        _ child: ChildProcess,
        at moment: KillMoment,
        _ server: CrashServer,
        since mark: KillMoment.Mark
    ) async {
        await moment.wait(for: child, at: server.server, since: mark, limit: options.runLimit)
        child.kill()
    }

    /// The end of `child`; it has hung if it takes longer than a run may.
    func end(of child: ChildProcess) async throws -> ChildProcess.End {
        try await child.waitForEnd(within: options.runLimit)
    }
}
