import Dispatch
import Foundation
import Glibc

/// Turns signals into calls, on a separate queue that nothing else can block.
final class SignalHandling {
    private let queue = DispatchQueue(label: "opget.signals")
    private var sources: [any DispatchSourceSignal] = []
    /// Left by each source when it is registered.
    private let registrations = DispatchGroup()

    /// - Parameters:
    ///   - stop: called for every signal that requests a stop; `isRepeated` from the second one on. An
    ///     immediate duplicate is ignored: timeout(1), for example, signals the process and then its group.
    ///   - suspend: called before the process is stopped (Ctrl-Z).
    ///   - resume: called when it continues.
    ///   - redraw: called when the terminal's size has changed.
    func install(
        stop: @escaping @Sendable (_ signal: Int32, _ isRepeated: Bool) -> Void,
        suspend: @escaping @Sendable () -> Void,
        resume: @escaping @Sendable () -> Void,
        redraw: @escaping @Sendable () -> Void
    ) {
        let memory = Memory()
        let didReceive: @Sendable (Int32) -> Void = { signal in
            if let isRepeated = memory.isRepeated(now: .now()) { stop(signal, isRepeated) }
        }
        // Ignored signals stay ignored: SIGHUP under nohup, SIGINT in the background of a shell without job
        // control.
        for signal in [SIGINT, SIGTERM, SIGHUP] where !Self.isIgnored(signal) {
            observe(signal) { didReceive(signal) }
        }
        if !Self.isIgnored(SIGTSTP) {
            observe(SIGTSTP) {
                suspend()
                Self.stopProcess()
                resume()
            }
            observe(SIGCONT, resume)
        }
        observe(SIGWINCH, redraw)
        // In the background, reading from the terminal then fails and writing succeeds, instead of stopping
        // the process.
        for number in [SIGTTIN, SIGTTOU] { signal(number, SIG_IGN) }
        // Dispatch registers sources on its own thread. `dispatchMain()` unblocks all signals for the main
        // thread, where one without a registered source would be lost. The wait is limited, so that a machine
        // that is out of threads does not block the run.
        _ = registrations.wait(timeout: .now() + 2)
    }

    /// Performs the default action of SIGTSTP, and returns when the process continues; at once if no shell
    /// could continue it (an orphaned process group).
    private static func stopProcess() {
        var (stops, before) = (sigset_t(), sigset_t())
        sigemptyset(&stops)
        sigaddset(&stops, SIGTSTP)
        signal(SIGTSTP, SIG_DFL)
        // Sent to this thread, and unblocked for it: a signal to the process might arrive after it is ignored
        // again.
        pthread_sigmask(SIG_UNBLOCK, &stops, &before)
        raise(SIGTSTP)
        pthread_sigmask(SIG_SETMASK, &before, nil)
        signal(SIGTSTP, SIG_IGN)
    }

    private func observe(_ number: Int32, _ handler: @escaping @Sendable () -> Void) {
        // Until the source is registered, a blocked signal is pending; an ignored one would be lost.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, number)
        pthread_sigmask(SIG_BLOCK, &blocked, nil)
        // A source only observes: the signal's default action would still happen.
        if number != SIGCONT { signal(number, SIG_IGN) }
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler(handler: handler)
        registrations.enter()
        source.setRegistrationHandler { [registrations] in registrations.leave() }
        source.resume()
        sources.append(source)
    }

    /// Whether the parent process ignored the signal. The kernel reports a hexadecimal mask with bit 0 for
    /// signal 1.
    static func isIgnored(_ number: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("SigIgn:") }),
            let mask = UInt64(line.dropFirst("SigIgn:".count).drop(while: \.isWhitespace), radix: 16)
        else { return false }
        return mask & (1 << UInt64(number - 1)) != 0
    }

    /// The time of the first signal.
    private final class Memory: @unchecked Sendable {
        // @unchecked: accessed only by handlers on the serial queue.
        private var first: DispatchTime?

        /// `nil` for a signal that is a duplicate of the first.
        func isRepeated(now: DispatchTime) -> Bool? {
            guard let first else {
                first = now
                return false
            }
            return now < first + 0.2 ? nil : true
        }
    }
}
