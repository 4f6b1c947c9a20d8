import Foundation
import OperationNetworkingTesting

extension CrashTester {
    /// Fetches file after file from one kind of server, killing the tool `kills` times at moments that the
    /// seed decides.
    ///
    /// - Throws: what keeps a test from being made at all: no process, no directory, no server.
    public func playRow(_ kind: ServerKind, kills: Int) async throws -> RowResult {
        try await RowRun(tester: self, kind: kind, kills: kills)()
    }
}

/// Fetches file after file from one kind of server with one tool, killing it at moments that a seed decides.
struct RowRun: Sendable {
    let tester: CrashTester
    let kind: ServerKind
    let kills: Int

    private var options: CrashTestOptions { tester.options }

    /// Runs to the end.
    ///
    /// - Returns: what came of it.
    /// - Throws: what keeps a test from being made at all: no process, no directory, no server.
    func callAsFunction() async throws -> RowResult {
        let server = try CrashServer(kind, bytesPerSecond: options.bytesPerSecond)
        var result = RowResult(server: kind, tool: tester.tool)
        var index = 0
        // A tool that ends before it can be killed must not keep this from ending.
        while result.counts.kills < kills, index < 4 * kills + 4 {
            try Task.checkCancellation()
            try await fetch(index, from: server, into: &result)
            index += 1
        }
        // Those that were killed in the middle are still noticing.
        try await server.server.waitForOpenConnections(0)
        result.counts.served = server.server.bodyBytesSent
        server.server.stop()
        return result
    }

    // MARK: - One file

    /// The means of fetching a file.
    private struct Fetch {
        let path: String
        let name: String
        let workplace: Workplace
        let command: [String]
        var killsLeft: Int
        /// After how many kills the file changes.
        var killsBeforeChange: Int
        var failures = 0
    }

    /// The number of runs, failed by themselves, after which a file is given up: more where the first answers
    /// are cut.
    private var failureLimit: Int { kind.cut == nil ? 3 : 8 }

    private enum Progress {
        case proceed, finished
    }

    private func fetch(_ index: Int, from server: CrashServer, into result: inout RowResult) async throws {
        var numbers = RandomNumbers(seed: options.seed, kind.name, "file \(index)")
        let path = "/\(index).bin"
        server.add(FileVersions(kind, sizes: options.fileSizes, using: &numbers), at: path)
        let killCount = min(Int.random(in: 1...5, using: &numbers), kills - result.counts.kills)
        var fetch = Fetch(
            path: path,
            name: "\(index).bin",
            workplace: try tester.workplace(),
            command: tester.tool.command(fetching: server.url(of: path), as: "\(index).bin"),
            killsLeft: killCount,
            killsBeforeChange: Int.random(in: 1...killCount, using: &numbers)
        )
        while true {
            let end = try await run(&fetch, at: server, using: &numbers, into: &result)
            guard try judge(end, &fetch, at: server, into: &result) == .proceed else { return }
            if case .exited = end { fetch.failures += 1 }
            guard fetch.failures < failureLimit else {
                result.unfinished += 1
                return
            }
        }
    }

    /// Runs the command once, to its end or to its kill.
    private func run(
        _ fetch: inout Fetch,
        at server: CrashServer,
        using numbers: inout RandomNumbers,
        into result: inout RowResult
    ) async throws -> ChildProcess.End {
        let mark = KillMoment.Mark(server.server)
        let child = try await fetch.workplace.start(fetch.command)
        defer { child.kill() }
        result.counts.runs += 1
        guard fetch.killsLeft > 0 else { return try await end(of: child, fetch, into: &result) }
        let length = server.file(at: fetch.path)?.body.length ?? 0
        // So that the kills are spread over a file that is continued each time.
        let share = length * 2 / (fetch.killsLeft + 1)
        let moment = KillMoment.random(length: share, bytesPerSecond: options.bytesPerSecond, using: &numbers)
        await tester.kill(child, at: moment, server, since: mark)
        let end = try await tester.end(of: child)
        if end == .signaled(SIGKILL) {
            result.counts.kills += 1
            fetch.killsLeft -= 1
            fetch.killsBeforeChange -= 1
            if fetch.killsBeforeChange == 0, !kind.changesAtCut { server.change(fetch.path) }
        } else {
            note(end, fetch, in: &result)
        }
        return end
    }

    /// Waits for a run that is not killed.
    private func end(
        of child: ChildProcess,
        _ fetch: Fetch,
        into result: inout RowResult
    ) async throws -> ChildProcess.End {
        let end: ChildProcess.End
        do {
            end = try await tester.end(of: child)
        } catch is TimeLimitExceeded {
            result.hung += 1
            result.counts.problems.append("\(place(fetch)): a run did not end within \(options.runLimit).")
            child.kill()
            end = try await child.waitForEnd(within: .seconds(10))
            return end == .signaled(SIGKILL) ? .exited(-1) : end
        }
        note(end, fetch, in: &result)
        return end
    }

    private func note(_ end: ChildProcess.End, _ fetch: Fetch, in result: inout RowResult) {
        switch end {
        case .exited(let code): result.exits[code, default: 0] += 1
        case .signaled(let signal):
            result.exits[-signal, default: 0] += 1
            result.counts.problems.append(
                "\(place(fetch)): ended by signal \(signal). \(fetch.workplace.lastLine())"
            )
        }
    }

    // MARK: - Judging

    /// Judges the files after a run.
    private func judge(
        _ end: ChildProcess.End,
        _ fetch: inout Fetch,
        at server: CrashServer,
        into result: inout RowResult
    ) throws -> Progress {
        let isDone = end == .exited(0)
        let isClaimed = tester.tool.namesOnlyCompleteFiles || isDone
        guard isClaimed, let file = server.file(at: fetch.path) else { return .proceed }
        guard fetch.workplace.has(fetch.name) else {
            guard isDone else { return .proceed }
            result.counts.addWrongFile("\(place(fetch)): exited with 0, and there is no file.")
            return .finished
        }
        let location = fetch.workplace.file(fetch.name)
        let size = try location.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        if let fault = try file.fault(of: location) {
            result.counts.addWrongFile("\(place(fetch)): \(fault).")
            result.finished += 1
            result.size += size
            return .finished
        }
        guard isDone else { return .proceed }
        result.finished += 1
        result.size += size
        if try file.body.firstDifference(fromFile: location) != nil { result.older += 1 }
        result.leftovers += try fetch.workplace.names().count - 1
        return .finished
    }

    private func place(_ fetch: Fetch) -> String { "\(tester.tool) at \(kind.name), \(fetch.name)" }
}
