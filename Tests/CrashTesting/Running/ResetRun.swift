import Foundation
import OperationNetworkingTesting

/// Fetches one large file through many resets of its connection, and watches the memory it takes.
public struct ResetRun: Sendable {
    /// The result of a run.
    public struct Result: Sendable {
        /// The length of the file, in bytes.
        public internal(set) var length = 0
        /// The number of connections that were reset.
        public internal(set) var resets = 0
        /// The number of runs of the command.
        public internal(set) var runs = 0
        /// Whether the file came to its end.
        public internal(set) var isFinished = false
        /// Bytes of bodies that the server sent.
        public internal(set) var served = 0
        /// The most memory that a run had resident, in bytes.
        public internal(set) var peakMemory = 0
        /// The duration.
        public internal(set) var duration = Duration.zero
        /// The number of files under the final name that were not whole: 0 or 1.
        public internal(set) var wrong = 0
        /// The problems, wrong files included, a sentence each.
        public internal(set) var problems: [String] = []

        /// Bytes served over the length of the file.
        public var ratio: Double { Double(served) / Double(length) }
    }

    private static let name = "large.bin"

    private let tool: Tool
    private let length: Int
    private let resets: Int
    private let retries: Int
    private let options: CrashTestOptions

    /// Has `tool` fetch a file of `length` bytes, of whose connections the first `resets` are reset.
    ///
    /// - Parameters:
    ///   - tool: what fetches.
    ///   - length: in bytes.
    ///   - resets: how many connections are reset, each after an even share of the file.
    ///   - retries: how often one run is told to try again, if it can; another run follows one that fails.
    ///   - options: everything else.
    public init(_ tool: Tool, length: Int, resets: Int, retries: Int, _ options: CrashTestOptions) {
        self.tool = tool
        self.length = length
        self.resets = resets
        self.retries = retries
        self.options = options
    }

    /// Runs to the end.
    ///
    /// - Returns: what came of it.
    /// - Throws: what keeps a test from being made at all.
    public func callAsFunction() async throws -> Result {
        let body = PatternBody(seed: options.seed, length: length)
        let representation = Representation(.pattern(body), entityTag: .strong("large"))
        // An even share for each, and the rest for the connection that is let alone.
        let share = length / (resets + 1)
        let answers = Guarded(0)
        let server = try ScriptedServer { [resets] request in
            // As fast as it can, but with a small buffer in the kernel: what it still holds is lost by a
            // reset.
            let answer = Answer.representation(representation).throttled(to: 1 << 30)
            guard request.method == "GET" else { return answer }
            let index = answers.withLock { count in
                defer { count += 1 }
                return count
            }
            return index < resets ? answer.resetting(after: .body(share)) : answer
        }
        defer { server.stop() }

        var result = Result()
        result.length = length
        let workplace = try Workplace(in: options.directory)
        let command = tool.command(fetching: server.url(path: Self.name), as: Self.name, retries: retries)
        let start = ContinuousClock.now
        // A tool that does not try again by itself needs a run for each reset.
        while !result.isFinished, result.runs < resets + 5, start.duration(to: .now) < limit {
            try Task.checkCancellation()
            let child = try await workplace.start(command)
            defer { child.kill() }
            result.runs += 1
            async let peak = child.watchPeakMemory()
            let end = try? await child.waitForEnd(within: limit - start.duration(to: .now))
            child.kill()
            result.peakMemory = max(result.peakMemory, await peak)
            if end == nil { result.problems.append("Resets: a run did not end within \(limit).") }
            if workplace.has(Self.name) {
                if let difference = try body.firstDifference(fromFile: workplace.file(Self.name)) {
                    result.wrong = 1
                    result.problems.append("Resets: the file is wrong from byte \(difference) on.")
                }
                result.isFinished = end == .exited(0)
                if result.wrong > 0 { break }
            }
        }
        result.duration = start.duration(to: .now)
        result.resets = min(resets, answers.withLock { $0 })
        try await server.waitForOpenConnections(0)
        result.served = server.bodyBytesSent
        if !result.isFinished {
            result.problems.append(
                "Resets: there is no file after \(result.runs) runs. \(workplace.lastLine())"
            )
        }
        return result
    }

    /// For all runs together: what takes longer has hung. A wait of a second before each attempt is allowed.
    private var limit: Duration { .seconds(60 + 2 * resets) }
}

extension ResetRun.Result: CustomStringConvertible {
    /// The numbers, in a sentence.
    public var description: String {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        return
            "\(length.inMebibytes) through \(resets) resets: \(isFinished ? "finished" : "not finished") in "
            + "\(runs) runs and \(seconds.rounded(to: 1)) s, served/size \(ratio.rounded(to: 3)), "
            + "peak memory \(peakMemory.inMebibytes); \(wrong) wrong files."
    }
}
