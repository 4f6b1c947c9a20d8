import Foundation
import OperationNetworkingTesting

/// The result of rounds of two processes.
public struct RivalResult: Sendable {
    /// The counts that every run has: here rounds in which one was killed on the way.
    public internal(set) var counts = RunCounts()
    /// The number of times that two were started.
    public internal(set) var rounds = 0
    /// Rounds in which both exited with 0.
    public internal(set) var bothSucceeded = 0
    /// Rounds in which one exited with 0, and the other said why it did not.
    public internal(set) var oneGaveWay = 0
}

extension CrashTester {
    /// Starts one command twice at once, `rounds` times: two processes want the same file. In every third
    /// round one of the two is killed on the way.
    public func playRivals(rounds: Int) async throws -> RivalResult {
        try await RivalRun(tester: self, rounds: rounds)()
    }
}

/// Starts one command twice at once, again and again: two processes want the same file.
struct RivalRun: Sendable {
    private static let name = "two.bin"

    let tester: CrashTester
    let rounds: Int

    /// Runs to the end.
    ///
    /// - Returns: what came of it.
    /// - Throws: what keeps a test from being made at all.
    func callAsFunction() async throws -> RivalResult {
        let server = try CrashServer(.strongTag, bytesPerSecond: tester.options.bytesPerSecond)
        var result = RivalResult()
        for round in 0..<rounds {
            try Task.checkCancellation()
            try await play(round, at: server, into: &result)
        }
        server.server.stop()
        return result
    }

    private func play(_ round: Int, at server: CrashServer, into result: inout RivalResult) async throws {
        let options = tester.options
        var numbers = RandomNumbers(seed: options.seed, "two processes", "round \(round)")
        let path = "/\(round).bin"
        let sizes = options.fileSizes.lowerBound / 4...options.fileSizes.lowerBound / 2
        let file = FileVersions(.strongTag, sizes: sizes, using: &numbers)
        server.add(file, at: path)
        let command = tester.tool.command(fetching: server.url(of: path), as: Self.name)
        let workplace = try tester.workplace()
        let mark = KillMoment.Mark(server.server)

        let logs = ["first", "second"]
        var children: [ChildProcess] = []
        defer { for child in children { child.kill() } }
        for log in logs { children.append(try await workplace.start(command, log: log)) }
        result.rounds += 1
        if round % 3 == 2 {
            let victim = children[Int.random(in: 0...1, using: &numbers)]
            let moment = KillMoment.random(
                length: file.body.length,
                bytesPerSecond: options.bytesPerSecond,
                using: &numbers
            )
            await tester.kill(victim, at: moment, server, since: mark)
        }

        let place = "Two processes, round \(round)"
        var ends: [ChildProcess.End] = []
        for (child, log) in zip(children, logs) {
            let end = try await tester.end(of: child)
            ends.append(end)
            // Both were given the same name, so the message is clear.
            if end != .exited(0), end != .signaled(SIGKILL), !workplace.printed(log: log).contains(Self.name)
            {
                result.counts.problems.append("\(place): the \(log) ended as \(end) and did not say why.")
            }
        }
        let successes = ends.count { $0 == .exited(0) }
        let isKilled = ends.contains(.signaled(SIGKILL))
        if isKilled { result.counts.kills += 1 }
        if successes == 2 { result.bothSucceeded += 1 }
        if successes == 1, !isKilled { result.oneGaveWay += 1 }
        if successes == 0, !isKilled {
            let words = logs.map { workplace.lastLine(log: $0) }
            result.counts.problems.append("\(place): neither succeeded: \(words.joined(separator: " / "))")
        }
        if successes == 0 {
            try judge(file, workplace, place, into: &result)
            let child = try await workplace.start(command)
            defer { child.kill() }
            let end = try await tester.end(of: child)
            if end != .exited(0) {
                let words = workplace.lastLine()
                result.counts.problems.append("\(place): the run after them ended as \(end). \(words)")
            }
        }
        try judge(file, workplace, place, into: &result)
        if !workplace.has(Self.name) {
            result.counts.problems.append("\(place): there is no file in the end.")
        }
    }

    /// Judges the file under the final name: if there is one, it must be whole.
    private func judge(
        _ file: FileVersions,
        _ workplace: Workplace,
        _ place: String,
        into result: inout RivalResult
    ) throws {
        guard workplace.has(Self.name), let fault = try file.fault(of: workplace.file(Self.name)) else {
            return
        }
        result.counts.addWrongFile("\(place): \(fault).")
    }
}

extension RivalResult: CustomStringConvertible {
    /// The numbers, in a sentence.
    public var description: String {
        "Two processes, one target: \(rounds) rounds, \(counts.kills) with one of them killed; both succeeded in "
            + "\(bothSucceeded), one gave way and said so in \(oneGaveWay); \(counts.wrong) wrong files."
    }
}
