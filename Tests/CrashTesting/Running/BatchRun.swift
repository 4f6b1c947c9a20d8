import Foundation
import OperationNetworkingTesting

/// Kills a run that fetches a list of files, again and again, and counts what is fetched although it is
/// there.
public struct BatchRun: Sendable {
    /// The result of a run.
    public struct Result: Sendable {
        /// The number of files in the list.
        public internal(set) var files = 0
        /// The number of runs that were ended by SIGKILL.
        public internal(set) var kills = 0
        /// The number of runs of the command.
        public internal(set) var runs = 0
        /// The number of files that have their final name in the end.
        public internal(set) var finished = 0
        /// The number of requests.
        public internal(set) var requests = 0
        /// The most requests that came for one file.
        public internal(set) var mostRequests = 0
        /// The number of requests for files that were finished when the run began.
        public internal(set) var repeatedRequests = 0
        /// Bytes of bodies that the server sent.
        public internal(set) var served = 0
        /// The size of the files in bytes.
        public internal(set) var size = 0
        /// The number of files under their final name that were not whole.
        public internal(set) var wrong = 0
        /// The problems, wrong files included, a sentence each.
        public internal(set) var problems: [String] = []

        /// Bytes served over the size of all files.
        public var ratio: Double { Double(served) / Double(max(1, size)) }
    }

    private let tool: Tool
    private let count: Int
    private let kills: Int
    private let options: CrashTestOptions

    /// Has `tool` fetch `count` files in one run, and kills it `kills` times on the way.
    public init(_ tool: Tool, files count: Int, kills: Int, _ options: CrashTestOptions) {
        self.tool = tool
        self.count = count
        self.kills = kills
        self.options = options
    }

    /// Runs to the end.
    ///
    /// - Returns: what came of it.
    /// - Throws: what keeps a test from being made at all.
    public func callAsFunction() async throws -> Result {
        var numbers = RandomNumbers(seed: options.seed, "batch")
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
        let workplace = try Workplace(in: options.directory)
        try Data(list.utf8).write(to: workplace.file("list.txt"))
        let command = tool.command(fetchingList: "list.txt")

        var result = Result()
        result.files = count
        result.size = files.values.reduce(0) { $0 + $1.body.length }
        var finished: Set<String> = []
        for run in 0...kills + 3 {
            try Task.checkCancellation()
            let requestsBefore = server.server.requests.count
            let child = try await workplace.start(command)
            defer { child.kill() }
            result.runs += 1
            if run < kills {
                // As many files as are left, over as many kills as are left.
                let share = (count - finished.count) * 2 / (kills - run + 1)
                let answers = server.server.answersEnded + Int.random(in: 0...share, using: &numbers)
                let moment = KillMoment.answer(.microseconds(Int.random(in: 0...15_000, using: &numbers)))
                await moment.wait(
                    for: child,
                    at: server.server,
                    sent: 0,
                    answers: answers,
                    limit: options.runLimit
                )
                child.kill()
            }
            let end = try await child.waitForEnd(within: options.runLimit)
            if end == .signaled(SIGKILL) { result.kills += 1 }
            try await server.server.waitForOpenConnections(0)
            let requests = server.server.requests.dropFirst(requestsBefore).map {
                String($0.path.dropFirst())
            }
            result.repeatedRequests += requests.count { finished.contains($0) }
            for (name, file) in files where !finished.contains(name) && workplace.has(name) {
                finished.insert(name)
                guard let fault = try file.fault(of: workplace.file(name)) else { continue }
                result.wrong += 1
                result.problems.append("Batch, \(name): \(fault).")
            }
            if case .exited(let code) = end {
                if code == 0 { break }
                result.problems.append("Batch: run \(run + 1) exited with \(code). \(workplace.lastLine())")
            }
        }
        result.finished = finished.count
        result.requests = server.server.requests.count
        result.mostRequests =
            Dictionary(grouping: server.server.requests, by: \.path).values.map(\.count).max() ?? 0
        result.served = server.server.bodyBytesSent
        if finished.count < count {
            result.problems.append("Batch: \(count - finished.count) files are missing in the end.")
        }
        if result.repeatedRequests > 0 {
            result.problems.append("Batch: \(result.repeatedRequests) requests for files that were finished.")
        }
        return result
    }
}

extension BatchRun.Result: CustomStringConvertible {
    /// The numbers, in a sentence.
    public var description: String {
        "A list of \(files) files, killed \(kills) times: \(finished) finished in \(runs) runs, \(requests) requests, "
            + "at most \(mostRequests) for a file, \(repeatedRequests) for files that were finished; served/size "
            + "\(ratio.rounded(to: 3)); \(wrong) wrong files."
    }
}
