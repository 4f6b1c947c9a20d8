import Dispatch
import Foundation
import Glibc

/// Turns signals into calls, on a queue of its own that nothing else can hold up.
final class SignalHandling {
    private let queue = DispatchQueue(label: "opget.signals")
    private var sources: [any DispatchSourceSignal] = []
    /// Left by each source when it watches.
    private let registrations = DispatchGroup()

    /// - Parameters:
    ///   - stop: called for every signal that asks to stop; `isRepeated` from the second on. One that follows
    ///     at once is not a second one: timeout(1), for one, signals the process and then its group.
    ///   - suspend: called before the process is stopped (Ctrl-Z).
    ///   - resume: called when it goes on.
    ///   - redraw: called when the terminal has another size.
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
        // What was ignored stays so: SIGHUP under nohup, SIGINT in the background of a shell without job
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
        // In the background a read from the terminal fails then, and a write succeeds, instead of stopping
        // the process.
        for number in [SIGTTIN, SIGTTOU] { signal(number, SIG_IGN) }
        // Dispatch registers them on a thread of its own. `dispatchMain()` lets all signals through to the
        // main thread, where one whose source does not watch yet would be lost. No longer than it takes a
        // user to press Ctrl-C again: a machine without a thread to spare must not hold up the run.
        _ = registrations.wait(timeout: .now() + 2)
    }

    /// Does what SIGTSTP does by default, and returns when the process goes on; at once where no shell could
    /// continue it (an orphaned process group).
    private static func stopProcess() {
        var (stops, before) = (sigset_t(), sigset_t())
        sigemptyset(&stops)
        sigaddset(&stops, SIGTSTP)
        signal(SIGTSTP, SIG_DFL)
        // To this thread, and let through to it: a signal to the process might come after it is ignored
        // again.
        pthread_sigmask(SIG_UNBLOCK, &stops, &before)
        raise(SIGTSTP)
        pthread_sigmask(SIG_SETMASK, &before, nil)
        signal(SIGTSTP, SIG_IGN)
    }

    private func observe(_ number: Int32, _ handler: @escaping @Sendable () -> Void) {
        // Until the source watches, a blocked signal waits; one that is only ignored would be lost.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, number)
        pthread_sigmask(SIG_BLOCK, &blocked, nil)
        // A source only watches: the signal would still do what it does by default.
        if number != SIGCONT { signal(number, SIG_IGN) }
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler(handler: handler)
        registrations.enter()
        source.setRegistrationHandler { [registrations] in registrations.leave() }
        source.resume()
        sources.append(source)
    }

    /// Whether the parent process had the signal ignored. The kernel says so in hexadecimal, bit 0 for
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
        // @unchecked: every handler that asks runs on the one serial queue.
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
