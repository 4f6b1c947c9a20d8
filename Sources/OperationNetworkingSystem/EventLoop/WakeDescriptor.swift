import COperationNetworking
import Glibc

/// A descriptor by which any thread wakes the one that waits for it: eventfd(2).
///
/// It is never read. In a ``SocketPoller`` it is watched for edges, and each signal is one.
package final class WakeDescriptor: Sendable {
    let descriptor: Int32

    /// - Throws: `SystemError` when the process has no descriptors left.
    init() throws(SystemError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemError(errno, "eventfd") }
    }

    deinit {
        close(descriptor)
    }

    /// Wakes the thread, or has it not sleep the next time. Callable from any thread; takes no lock.
    package func signal() {
        // It fails only where 2^64 signals have come.
        eventfd_write(descriptor, 1)
    }
}
