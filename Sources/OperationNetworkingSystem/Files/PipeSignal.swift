import COperationNetworking
import Glibc

/// The signal that a write to a pipe without a reader sends, beside its error; by default it ends the
/// process.
package enum PipeSignal {
    /// Runs `body` without it: whatever `body` writes to fails with `EPIPE` only.
    package static func heldBack<Result>(during body: () throws -> Result) rethrows -> Result {
        var before = sigset_t()
        let wasWaiting = cfiles_hold_pipe_signal(&before)
        defer { cfiles_release_pipe_signal(&before, wasWaiting) }
        return try body()
    }
}
