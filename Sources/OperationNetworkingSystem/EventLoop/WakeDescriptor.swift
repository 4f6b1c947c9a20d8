import COperationNetworking
import Glibc

/// A descriptor by which any thread wakes the one that waits on it: eventfd(2).
///
/// It is never read. A ``SocketPoller`` watches it edge-triggered, and each signal is an edge.
package final class WakeDescriptor: Sendable {
    let descriptor: Int32

    /// - Throws: `SystemError` if the process has no descriptors left.
    init() throws(SystemError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemError(errno, "eventfd") }
    }

    deinit {
        close(descriptor)
    }

    /// Wakes the thread, or keeps it from sleeping the next time. Callable from any thread; lock-free.
    package func signal() {
        // Fails only after 2^64 signals.
        eventfd_write(descriptor, 1)
    }
}
