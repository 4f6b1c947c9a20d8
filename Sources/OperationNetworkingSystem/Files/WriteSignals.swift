import COperationNetworking
import Glibc

/// The signals that a write sends beside its error: SIGPIPE for a pipe without a reader, SIGXFSZ for a file
/// that would be longer than the process may make one (setrlimit(2), `RLIMIT_FSIZE`). By default either ends
/// the process.
///
/// A library may not ignore a signal for the whole process: its owner may wait for it, and what the process
/// executes would ignore it, too. So it is held back on the thread that writes, for the time of the call.
package enum WriteSignals {
    /// Runs `body` without them: what it writes fails with `EPIPE` or `EFBIG`, and nothing else happens.
    package static func heldBack<Result>(during body: () throws -> Result) rethrows -> Result {
        var before = sigset_t()
        let wereWaiting = cfiles_hold_write_signals(&before)
        defer { cfiles_release_write_signals(&before, wereWaiting) }
        return try body()
    }
}
