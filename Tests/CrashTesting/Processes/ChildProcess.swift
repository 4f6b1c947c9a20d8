import Foundation
import OperationNetworkingTesting

/// A process that this one has started and will see the end of.
///
/// Each has a thread that starts it, waits for its end and collects it. The kernel kills
/// the process when that thread ends (`PR_SET_PDEATHSIG`), so it does not outlive this process even if this
/// one is killed.
final class ChildProcess: Sendable {
    /// The end of a process.
    enum End: Hashable, Sendable {
        case exited(Int32)
        case signaled(Int32)
    }

    /// A process that could not be started.
    struct Failure: Error, CustomStringConvertible {
        let command: String
        let code: Int32

        var description: String { "\(command) could not be started: \(String(cString: strerror(code)))" }
    }

    /// The process's number, and its process group's.
    let identifier: pid_t
    /// Opened when it has ended.
    let ended = Gate()
    private let end = Guarded<End?>(nil)

    private init(identifier: pid_t) {
        self.identifier = identifier
    }

    // MARK: - Starting

    /// Starts `command`, the path of a program and its arguments, without input; what it prints goes to
    /// `log`.
    static func start(_ command: [String], in directory: URL, log: URL) async throws -> ChildProcess {
        // Handed over under a lock: ThreadSanitizer sees that, and not what a continuation does.
        let started = Guarded<Result<ChildProcess, any Error>?>(nil)
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let result = Result {
                    try ChildProcesses.shared.add {
                        ChildProcess(identifier: try spawn(command, in: directory, log: log))
                    }
                }
                started.withLock { $0 = result }
                continuation.resume()
                if case .success(let child) = result { child.waitForEnd() }
            }
        }
        guard let result = started.withLock({ $0 }) else {
            throw Failure(command: command.first ?? "", code: ECHILD)
        }
        return try result.get()
    }

    private static let setpriv = SearchPath.find("setpriv")

    private static func spawn(_ command: [String], in directory: URL, log: URL) throws -> pid_t {
        // Each executes the next in its own place: the process is the command's in the end.
        let deathSignal = setpriv.map { [$0.path, "--pdeathsig", "KILL"] } ?? []
        let command = deathSignal + ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", directory.path] + command
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A group of its own: Ctrl-C is for this process, which ends the others.
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)

        let arguments = command.map { strdup($0) } + [nil]
        let variables = environment(home: directory).map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, command[0], &actions, &attributes, arguments, variables)
        guard code == 0 else { throw Failure(command: command.joined(separator: " "), code: code) }
        return identifier
    }

    /// Nothing that changes how a downloader behaves: no proxies, no configuration files.
    private static func environment(home: URL) -> [String: String] {
        var result = ["HOME": home.path, "LC_ALL": "C", "TERM": "dumb"]
        for name in ["PATH", "LD_LIBRARY_PATH", "TSAN_OPTIONS", "ASAN_OPTIONS", "LSAN_OPTIONS"] {
            result[name] = ProcessInfo.processInfo.environment[name]
        }
        return result
    }

    // MARK: - Ending

    /// Waits until it has ended.
    ///
    /// - Throws: `TimeLimitExceeded`, or `CancellationError` when the task is cancelled.
    func waitForEnd(within limit: Duration) async throws -> End {
        try await ended.wait(within: limit)
        return end.withLock { $0 ?? .signaled(0) }
    }

    /// Sends SIGKILL, unless it has ended. Callable from any thread.
    func kill() {
        // Under the lock, and it is collected under the lock: the number is still its own.
        end.withLock { if $0 == nil { _ = Glibc.kill(identifier, SIGKILL) } }
    }

    private func waitForEnd() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        end.withLock { end in
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7F
            end = signal == 0 ? .exited((status >> 8) & 0xFF) : .signaled(signal)
        }
        ChildProcesses.shared.remove(self)
        ended.open()
    }

    // MARK: - Memory

    /// The most memory that it has had resident so far, in bytes; `nil` when it has ended.
    ///
    /// Not what wait4(2) says: that counts the memory of the process that started it, too.
    var peakMemory: Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return nil }
        return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }

    /// Looks at its memory fifty times a second until it ends.
    func watchPeakMemory() async -> Int {
        var peak = 0
        while true {
            peak = max(peak, peakMemory ?? 0)
            if (try? await ended.wait(within: .milliseconds(20))) != nil || Task.isCancelled { return peak }
        }
    }
}
