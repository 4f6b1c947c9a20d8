import Foundation
import Measuring

/// A program that is run for what it prints and costs.
enum Child {
    private static var directory: URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    }

    /// `Workload` beside this program.
    static var workload: String { directory.appendingPathComponent("Workload").path }

    /// A client that is built in a package of its own; `nil`: it is not.
    static var asyncPeer: String? {
        ProcessInfo.processInfo.environment["BENCHMARKS_PEERS"].map { "\($0)/AsyncPeer" }.flatMap {
            FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil
        }
    }

    /// Runs it to its end.
    ///
    /// - Returns: what it printed, and what the process cost as a whole.
    /// - Throws: `WorkError`, also when it exits with another status than 0.
    static func run(_ program: String, _ arguments: [String]) throws -> (output: Data, usage: Usage) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw WorkError.system(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let start = monotonicSeconds()
        var process = pid_t()
        let failure = posix_spawnp(&process, program, &actions, nil, &words, environ)
        close(ends[1])
        guard failure == 0 else { throw WorkError.system(failure) }
        let output = FileHandle(fileDescriptor: ends[0], closeOnDealloc: false).readDataToEndOfFile()
        var status: Int32 = 0
        var usage = rusage()
        guard wait4(process, &status, 0, &usage) == process else { throw WorkError.system(errno) }
        let seconds = monotonicSeconds() - start
        guard status == 0 else { throw WorkError.unknown("\(program) \(arguments.joined(separator: " "))") }
        return (output, Usage(usage, seconds: seconds))
    }

    /// The last line that a piece of work printed.
    static func result<Result: Decodable>(_ program: String, _ arguments: [String]) throws -> Result {
        let output = try run(program, arguments).output
        return try JSONDecoder().decode(Result.self, from: output)
    }
}
