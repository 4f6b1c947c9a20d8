import COperationNetworking
import Glibc

/// The signals that a failing write sends besides its error: SIGPIPE for a pipe without a reader, SIGXFSZ for
/// a file that exceeds the process's limit (setrlimit(2), `RLIMIT_FSIZE`). By default, either terminates the
/// process.
///
/// A library must not ignore a signal for the whole process, which may wait for it, and whose child programs
/// would ignore it, too. So it is blocked on the writing thread during the call.
package enum WriteSignals {
    /// Runs `body` with these signals blocked: writes only fail with `EPIPE` or `EFBIG`.
    package static func heldBack<Result>(during body: () throws -> Result) rethrows -> Result {
        var before = sigset_t()
        let wereWaiting = cfiles_hold_write_signals(&before)
        defer { cfiles_release_write_signals(&before, wereWaiting) }
        return try body()
    }
}
