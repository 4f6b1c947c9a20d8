import Foundation

/// The costs of this process: getrusage(2), and the most memory that it had (`VmHWM` of proc(5)).
struct Usage: Encodable {
    /// Elapsed.
    var seconds: Double
    /// Of processors, in user and in system mode.
    var user: Double
    var system: Double
    /// Context switches: those where a thread had to wait, and those where another was let run.
    var voluntary: Int
    var involuntary: Int
    /// In KiB, since the process began.
    var peak: Int

    /// As of now; `seconds` since an unspecified moment.
    static var now: Usage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        var clock = timespec()
        clock_gettime(CLOCK_MONOTONIC, &clock)
        return Usage(
            seconds: Double(clock.tv_sec) + Double(clock.tv_nsec) / 1e9,
            user: seconds(usage.ru_utime),
            system: seconds(usage.ru_stime),
            voluntary: usage.ru_nvcsw,
            involuntary: usage.ru_nivcsw,
            peak: usage.ru_maxrss
        )
    }

    /// The costs of `work` alone.
    static func of(_ work: () throws -> Void) rethrows -> Usage {
        let before = Usage.now
        try work()
        let after = Usage.now
        return Usage(
            seconds: after.seconds - before.seconds,
            user: after.user - before.user,
            system: after.system - before.system,
            voluntary: after.voluntary - before.voluntary,
            involuntary: after.involuntary - before.involuntary,
            peak: after.peak
        )
    }

    func print() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        FileHandle.standardOutput.write(try encoder.encode(self) + Data("\n".utf8))
    }
}
