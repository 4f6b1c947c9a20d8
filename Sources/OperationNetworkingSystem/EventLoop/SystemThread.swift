import Foundation
import Glibc

/// Threads created with pthread_create(3): Foundation's `Thread` does not report failure, and its work would
/// then never run.
enum SystemThread {
    private final class Work: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Runs `work` on a new thread. Does not wait for it.
    ///
    /// - Parameters:
    ///   - stackSize: in bytes, independent of `ulimit -s`. Unused pages cost nothing.
    ///   - isDetached: whether the thread is detached; otherwise it has to be joined.
    ///   - work: called on the new thread.
    /// - Returns: the thread.
    /// - Throws: `SystemError`; `EAGAIN` if the user, the container or the system has no threads or memory
    ///   left. `work` was then not called.
    @discardableResult
    static func start(
        stackSize: Int,
        isDetached: Bool,
        _ work: @escaping @Sendable () -> Void
    ) throws(SystemError) -> pthread_t {
        let context = Unmanaged.passRetained(Work(work))
        var thread: pthread_t = 0
        let code = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { attributes in
            guard let attributes = attributes.baseAddress else { return ENOMEM }
            pthread_attr_init(attributes)
            defer { pthread_attr_destroy(attributes) }
            pthread_attr_setstacksize(attributes, stackSize)
            if isDetached { pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED)) }
            return pthread_create(
                &thread,
                attributes,
                { context in
                    guard let context else { return nil }
                    Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
                    return nil
                },
                context.toOpaque()
            )
        }
        guard code == 0 else {
            context.release()
            throw SystemError(code, "pthread_create")
        }
        return thread
    }
}
