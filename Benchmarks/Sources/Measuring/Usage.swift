public import Foundation

/// The costs of a process: getrusage(2).
public struct Usage: Codable, Sendable {
    /// Elapsed.
    public var seconds: Double
    /// Of processors, in user mode.
    public var user: Double
    /// Of processors, in system mode.
    public var system: Double
    /// Context switches where a thread had to wait.
    public var voluntary: Int
    /// Context switches where another thread was let run.
    public var involuntary: Int
    /// The most memory since the process began, in KiB.
    public var peak: Int

    /// Of processors.
    public var processor: Double { user + system }

    /// `seconds`: of any clock that only goes on.
    public init(_ usage: rusage, seconds: Double) {
        func duration(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        self.seconds = seconds
        user = duration(usage.ru_utime)
        system = duration(usage.ru_stime)
        voluntary = usage.ru_nvcsw
        involuntary = usage.ru_nivcsw
        peak = usage.ru_maxrss
    }

    /// Of this process up to now.
    public static var now: Usage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Usage(usage, seconds: monotonicSeconds())
    }

    /// The costs of what came between the two, but for `peak`.
    public static func - (after: Usage, before: Usage) -> Usage {
        var difference = after
        difference.seconds -= before.seconds
        difference.user -= before.user
        difference.system -= before.system
        difference.voluntary -= before.voluntary
        difference.involuntary -= before.involuntary
        return difference
    }

    /// The costs of `work` alone.
    public static func of(_ work: () throws -> Void) rethrows -> Usage {
        let before = Usage.now
        try work()
        return Usage.now - before
    }

    /// The costs of `work` alone.
    public static func of(_ work: () async throws -> Void) async rethrows -> Usage {
        let before = Usage.now
        try await work()
        return Usage.now - before
    }
}

/// Seconds since an unspecified moment, of a clock that only goes on.
public func monotonicSeconds() -> Double {
    var clock = timespec()
    clock_gettime(CLOCK_MONOTONIC, &clock)
    return Double(clock.tv_sec) + Double(clock.tv_nsec) / 1e9
}

/// The memory that this process has now, in bytes: statm of proc(5).
public func residentBytes() throws -> Int {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    guard pages.count > 1, let resident = Int(pages[1]) else { throw WorkError.missing("/proc/self/statm") }
    return resident * sysconf(Int32(_SC_PAGESIZE))
}

/// The last line of a piece of work: its result.
public func printResult(_ result: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    FileHandle.standardOutput.write(try encoder.encode(result) + Data("\n".utf8))
}
