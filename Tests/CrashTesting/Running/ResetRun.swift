import Foundation
import OperationNetworkingTesting

/// The result of a run through resets.
public struct ResetResult: Sendable {
    /// The counts that every run has; at most one file is wrong.
    public internal(set) var counts = RunCounts()
    /// The length of the file, in bytes.
    public internal(set) var length = 0
    /// The number of connections that were reset.
    public internal(set) var resets = 0
    /// Whether the file came to its end.
    public internal(set) var isFinished = false
    /// The most memory that a run had resident, in bytes.
    public internal(set) var peakMemory = 0
    /// The duration.
    public internal(set) var duration = Duration.zero

    /// Bytes served over the length of the file.
    public var ratio: Double { counts.ratio(to: length) }
}

extension CrashTester {
    /// Fetches one large file through many resets of its connection, and watches the memory it takes.
    ///
    /// - Parameters:
    ///   - length: in bytes.
    ///   - resets: how many connections are reset, each after an even share of the file.
    ///   - retries: how many retries one run is given, if it has them; another run follows one that fails.
    /// - Returns: the result of all runs together.
    /// - Throws: as ``playRow(_:kills:)``.
    public func playResets(length: Int, resets: Int, retries: Int) async throws -> ResetResult {
        try await ResetRun(tester: self, length: length, resets: resets, retries: retries)()
    }
}

/// Fetches one large file through many resets of its connection, and watches the memory it takes.
struct ResetRun: Sendable {
    private static let name = "large.bin"

    let tester: CrashTester
    let length: Int
    let resets: Int
    let retries: Int

    /// Runs to the end.
    ///
    /// - Returns: what came of it.
    /// - Throws: what keeps a test from being made at all.
    func callAsFunction() async throws -> ResetResult {
        let body = PatternBody(seed: tester.options.seed, length: length)
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

        var result = ResetResult()
        result.length = length
        let workplace = try tester.workplace()
        let url = server.url(path: Self.name)
        let command = tester.tool.command(fetching: url, as: Self.name, retries: retries)
        let start = ContinuousClock.now
        // A tool that does not try again by itself needs a run for each reset.
        while !result.isFinished, result.counts.runs < resets + 5, start.duration(to: .now) < limit {
            try Task.checkCancellation()
            let child = try await workplace.start(command)
            defer { child.kill() }
            result.counts.runs += 1
            async let peak = child.watchPeakMemory()
            let end = try? await child.waitForEnd(within: limit - start.duration(to: .now))
            child.kill()
            result.peakMemory = max(result.peakMemory, await peak)
            if end == nil { result.counts.problems.append("Resets: a run did not end within \(limit).") }
            if workplace.has(Self.name) {
                if let difference = try body.firstDifference(fromFile: workplace.file(Self.name)) {
                    result.counts.addWrongFile("Resets: the file is wrong from byte \(difference) on.")
                }
                result.isFinished = end == .exited(0)
                if result.counts.wrong > 0 { break }
            }
        }
        result.duration = start.duration(to: .now)
        result.resets = min(resets, answers.withLock { $0 })
        try await server.waitForOpenConnections(0)
        result.counts.served = server.bodyBytesSent
        if !result.isFinished {
            result.counts.problems.append(
                "Resets: there is no file after \(result.counts.runs) runs. \(workplace.lastLine())"
            )
        }
        return result
    }

    /// For all runs together: what takes longer has hung. A wait of a second before each attempt is allowed.
    private var limit: Duration { .seconds(60 + 2 * resets) }
}

extension ResetResult: CustomStringConvertible {
    /// The numbers, in a sentence.
    public var description: String {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        return
            "\(length.inMebibytes) through \(resets) resets: \(isFinished ? "finished" : "not finished") in "
            + "\(counts.runs) runs and \(seconds.rounded(to: 1)) s, served/size \(ratio.rounded(to: 3)), "
            + "peak memory \(peakMemory.inMebibytes); \(counts.wrong) wrong files."
    }
}
