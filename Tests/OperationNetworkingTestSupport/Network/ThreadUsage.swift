import Foundation

/// The usage of a thread of this process so far, as the kernel counts; see proc(5).
struct ThreadUsage: Sendable {
    /// Time on a CPU.
    private(set) var cpuSeconds: Double
    /// The number of times that it went to sleep by itself.
    private(set) var sleeps: Int

    /// - Parameter thread: its folder in `/proc`; see ``currentThread``.
    init(of thread: String = currentThread) {
        let times = Self.read(thread + "/schedstat")
        cpuSeconds = (times.split(separator: " ").first.flatMap { Double($0) } ?? -1) / 1e9
        let line = Self.read(thread + "/status").split(separator: "\n").first {
            $0.hasPrefix("voluntary_ctxt_switches")
        }
        sleeps = line?.split(separator: "\t").last.flatMap { Int($0) } ?? -1
    }

    /// The calling thread's folder, as every thread sees it.
    static var currentThread: String {
        "/proc/"
            + ((try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? "none")
    }

    private static func read(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}
