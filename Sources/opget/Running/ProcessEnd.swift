import Glibc

/// How the process ends, after cleaning up.
enum ProcessEnd: Hashable, Sendable {
    /// With the exit code.
    case exit(Int32)
    /// By the signal that requested it. A shell leaves a loop, and `make` stops, only for a program that died
    /// of SIGINT; a program that exits with 130 is considered to have handled Ctrl-C.
    case signal(Int32)

    /// - Parameters:
    ///   - outcome: the outcome of the run.
    ///   - signal: the signal that requested the stop, if any. A key is not a signal.
    init(_ outcome: Outcome, after signal: Int32?) {
        if let signal, outcome == .signal(signal) {
            self = .signal(signal)
        } else {
            self = .exit(outcome.code)
        }
    }

    /// Ends the process, from any thread.
    func happen() -> Never {
        switch self {
        case .exit(let code):
            // Not exit(3): the library's threads are still running, and must not see torn-down state.
            _exit(code)
        case .signal(let number):
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, number)
            Glibc.signal(number, SIG_DFL)
            // For this thread: Dispatch's threads block all signals.
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            kill(getpid(), number)
            // The first process of a container is not killed by it.
            _exit(Outcome.signal(number).code)
        }
    }
}
