/// Tests one tool: has it fetch, and ends it on the way.
public struct CrashTester: Sendable {
    let tool: Tool
    let options: CrashTestOptions

    /// Tests `tool`, with everything else that a test needs.
    public init(_ tool: Tool, _ options: CrashTestOptions) {
        self.tool = tool
        self.options = options
    }

    /// Fetches file after file from one kind of server, killing the tool `kills` times at moments that the
    /// seed decides.
    ///
    /// - Throws: what keeps a test from being made at all: no process, no directory, no server.
    public func playRow(_ kind: ServerKind, kills: Int) async throws -> RowResult {
        try await RowRun(tester: self, kind: kind, kills: kills)()
    }

    /// Starts one command twice at once, `rounds` times: two processes want the same file. In every third
    /// round one of the two is killed on the way.
    public func playRivals(rounds: Int) async throws -> RivalResult {
        try await RivalRun(tester: self, rounds: rounds)()
    }

    /// Fetches one large file through many resets of its connection, and watches the memory it takes.
    ///
    /// - Parameters:
    ///   - length: in bytes.
    ///   - resets: how many connections are reset, each after an even share of the file.
    ///   - retries: how often one run is told to try again, if it can; another run follows one that fails.
    /// - Returns: the result of all runs together.
    /// - Throws: as ``playRow(_:kills:)``.
    public func playResets(length: Int, resets: Int, retries: Int) async throws -> ResetResult {
        try await ResetRun(tester: self, length: length, resets: resets, retries: retries)()
    }

    /// Kills a run that fetches a list of `count` files `kills` times, and counts what is fetched although it
    /// is there.
    public func playBatch(files count: Int, kills: Int) async throws -> BatchResult {
        try await BatchRun(tester: self, count: count, kills: kills)()
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
