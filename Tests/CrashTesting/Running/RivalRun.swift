import Foundation
import OperationNetworkingTesting

/// Starts one command twice at once, again and again: two processes want the same file.
public struct RivalRun: Sendable {
    /// The result of a run.
    public struct Result: Sendable {
        /// The number of times that two were started.
        public internal(set) var rounds = 0
        /// Rounds in which both exited with 0.
        public internal(set) var bothSucceeded = 0
        /// Rounds in which one exited with 0, and the other said why it did not.
        public internal(set) var oneGaveWay = 0
        /// Rounds in which one was killed on the way.
        public internal(set) var kills = 0
        /// The number of files under the final name that were not whole.
        public internal(set) var wrong = 0
        /// The problems, wrong files included, a sentence each.
        public internal(set) var problems: [String] = []
    }

    private static let name = "two.bin"

    private let tool: Tool
    private let rounds: Int
    private let options: CrashTestOptions

    /// Starts `tool` twice, `rounds` times. In every third round one of the two is killed on the way.
    public init(_ tool: Tool, rounds: Int, _ options: CrashTestOptions) {
        self.tool = tool
        self.rounds = rounds
        self.options = options
    }

    /// Runs to the end.
    ///
    /// - Returns: what came of it.
    /// - Throws: what keeps a test from being made at all.
    public func callAsFunction() async throws -> Result {
        let server = try CrashServer(.strongTag, bytesPerSecond: options.bytesPerSecond)
        var result = Result()
        for round in 0..<rounds {
            try Task.checkCancellation()
            try await play(round, at: server, into: &result)
        }
        server.server.stop()
        return result
    }

    private func play(_ round: Int, at server: CrashServer, into result: inout Result) async throws {
        var numbers = RandomNumbers(seed: options.seed, "two processes", "round \(round)")
        let path = "/\(round).bin"
        let sizes = options.fileSizes.lowerBound / 4...options.fileSizes.lowerBound / 2
        let file = FileVersions(.strongTag, sizes: sizes, using: &numbers)
        server.add(file, at: path)
        let command = tool.command(fetching: server.url(of: path), as: Self.name)
        let workplace = try Workplace(in: options.directory)
        let (sent, answers) = (server.server.bodyBytesSent, server.server.answersEnded)

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
            await moment.wait(
                for: victim,
                at: server.server,
                sent: sent,
                answers: answers,
                limit: options.runLimit
            )
            victim.kill()
        }

        let place = "Two processes, round \(round)"
        var ends: [ChildProcess.End] = []
        for (child, log) in zip(children, logs) {
            let end = try await child.waitForEnd(within: options.runLimit)
            ends.append(end)
            // Both were given the same name, so the message is clear.
            if end != .exited(0), end != .signaled(SIGKILL), !workplace.printed(log: log).contains(Self.name)
            {
                result.problems.append("\(place): the \(log) ended as \(end) and did not say why.")
            }
        }
        let successes = ends.count { $0 == .exited(0) }
        let isKilled = ends.contains(.signaled(SIGKILL))
        if isKilled { result.kills += 1 }
        if successes == 2 { result.bothSucceeded += 1 }
        if successes == 1, !isKilled { result.oneGaveWay += 1 }
        if successes == 0, !isKilled {
            let words = logs.map { workplace.lastLine(log: $0) }
            result.problems.append("\(place): neither succeeded: \(words.joined(separator: " / "))")
        }
        if successes == 0 {
            try judge(file, workplace, place, into: &result)
            let child = try await workplace.start(command)
            defer { child.kill() }
            let end = try await child.waitForEnd(within: options.runLimit)
            if end != .exited(0) {
                let words = workplace.lastLine()
                result.problems.append("\(place): the run after them ended as \(end). \(words)")
            }
        }
        try judge(file, workplace, place, into: &result)
        if !workplace.has(Self.name) { result.problems.append("\(place): there is no file in the end.") }
    }

    /// Judges the file under the final name: if there is one, it must be whole.
    private func judge(
        _ file: FileVersions,
        _ workplace: Workplace,
        _ place: String,
        into result: inout Result
    ) throws {
        guard workplace.has(Self.name), let fault = try file.fault(of: workplace.file(Self.name)) else {
            return
        }
        result.wrong += 1
        result.problems.append("\(place): \(fault).")
    }
}

extension RivalRun.Result: CustomStringConvertible {
    /// The numbers, in a sentence.
    public var description: String {
        "Two processes, one target: \(rounds) rounds, \(kills) with one of them killed; both succeeded in "
            + "\(bothSucceeded), one gave way and said so in \(oneGaveWay); \(wrong) wrong files."
    }
}
