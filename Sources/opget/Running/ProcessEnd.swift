import Glibc

/// The end of the process, when everything is cleaned up.
enum ProcessEnd: Hashable, Sendable {
    /// By the exit code.
    case exit(Int32)
    /// By the signal that asked for it. A shell leaves a loop, and `make` stops, only for a program that died
    /// of SIGINT; of one that exits with 130 they think that it went on after Ctrl-C as it saw fit.
    case signal(Int32)

    /// - Parameters:
    ///   - outcome: of the run.
    ///   - signal: what the process got that asks to stop; `nil`: nothing. A key is no signal.
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
            // Not exit(3): the library's threads still run, and must not see what it takes apart.
            _exit(code)
        case .signal(let number):
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, number)
            Glibc.signal(number, SIG_DFL)
            // For this thread: a thread of Dispatch has all of them blocked.
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            kill(getpid(), number)
            // The first process of a container does not die of it.
            _exit(Outcome.signal(number).code)
        }
    }
}
