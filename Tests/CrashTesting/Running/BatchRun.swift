import Foundation
import OperationNetworkingTesting

/// The result of a run that fetched a list.
public struct BatchResult: Sendable {
    /// The counts that every run has.
    public internal(set) var counts = RunCounts()
    /// The number of files in the list.
    public internal(set) var files = 0
    /// The number of files that have their final name in the end.
    public internal(set) var finished = 0
    /// The number of requests.
    public internal(set) var requests = 0
    /// The most requests that came for one file.
    public internal(set) var mostRequests = 0
    /// The number of requests for files that were finished when the run began.
    public internal(set) var repeatedRequests = 0
    /// The size of the files in bytes.
    public internal(set) var size = 0

    /// Bytes served over the size of all files.
    public var ratio: Double { counts.ratio(to: size) }
}

extension CrashTester {
    /// Kills a run that fetches a list of `count` files `kills` times, and counts what is fetched although it
    /// is there.
    public func playBatch(files count: Int, kills: Int) async throws -> BatchResult {
        try await BatchRun(tester: self, count: count, kills: kills)()
    }
}

/// Kills a run that fetches a list of files, again and again, and counts what is fetched although it is
/// there.
struct BatchRun: Sendable {
    let tester: CrashTester
    let count: Int
    let kills: Int

    /// Runs to the end.
    ///
    /// - Returns: what came of it.
    /// - Throws: what keeps a test from being made at all.
    func callAsFunction() async throws -> BatchResult {
        var numbers = RandomNumbers(seed: tester.options.seed, "batch")
        let server = try CrashServer(.strongTag, bytesPerSecond: 1 << 20)
        defer { server.server.stop() }
        var files: [String: FileVersions] = [:]
        var list = ""
        for index in 0..<count {
            let name = "\(index).bin"
            let file = FileVersions(.strongTag, sizes: 8 << 10...96 << 10, using: &numbers)
            files[name] = file
            server.add(file, at: "/" + name)
            list += server.url(of: "/" + name).absoluteString + "\n"
        }
        let workplace = try tester.workplace()
        try Data(list.utf8).write(to: workplace.file("list.txt"))
        let command = tester.tool.command(fetchingList: "list.txt")

        var result = BatchResult()
        result.files = count
        result.size = files.values.reduce(0) { $0 + $1.body.length }
        var finished: Set<String> = []
        for run in 0...kills + 3 {
            try Task.checkCancellation()
            let requestsBefore = server.server.requests.count
            let child = try await workplace.start(command)
            defer { child.kill() }
            result.counts.runs += 1
            if run < kills {
                // As many files as are left, over as many kills as are left.
                let share = (count - finished.count) * 2 / (kills - run + 1)
                let answers = server.server.answersEnded + Int.random(in: 0...share, using: &numbers)
                let moment = KillMoment.answer(.microseconds(Int.random(in: 0...15_000, using: &numbers)))
                await tester.kill(child, at: moment, server, since: KillMoment.Mark(answers: answers))
            }
            let end = try await tester.end(of: child)
            if end == .signaled(SIGKILL) { result.counts.kills += 1 }
            try await server.server.waitForOpenConnections(0)
            let requests = server.server.requests.dropFirst(requestsBefore).map {
                String($0.path.dropFirst())
            }
            result.repeatedRequests += requests.count { finished.contains($0) }
            for (name, file) in files where !finished.contains(name) && workplace.has(name) {
                finished.insert(name)
                guard let fault = try file.fault(of: workplace.file(name)) else { continue }
                result.counts.addWrongFile("Batch, \(name): \(fault).")
            }
            if case .exited(let code) = end {
                if code == 0 { break }
                result.counts.problems.append(
                    "Batch: run \(run + 1) exited with \(code). \(workplace.lastLine())"
                )
            }
        }
        result.finished = finished.count
        result.requests = server.server.requests.count
        result.mostRequests =
            Dictionary(grouping: server.server.requests, by: \.path).values.map(\.count).max() ?? 0
        result.counts.served = server.server.bodyBytesSent
        if finished.count < count {
            result.counts.problems.append("Batch: \(count - finished.count) files are missing in the end.")
        }
        if result.repeatedRequests > 0 {
            result.counts.problems.append(
                "Batch: \(result.repeatedRequests) requests for files that were finished."
            )
        }
        return result
    }
}

extension BatchResult: CustomStringConvertible {
    /// The numbers, in a sentence.
    public var description: String {
        "A list of \(files) files, killed \(counts.kills) times: \(finished) finished in \(counts.runs) runs, \(requests) requests, "
            + "at most \(mostRequests) for a file, \(repeatedRequests) for files that were finished; served/size "
            + "\(ratio.rounded(to: 3)); \(counts.wrong) wrong files."
    }
}
