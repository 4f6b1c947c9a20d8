import COperationNetworking
import Foundation
import Glibc

/// A stack of one's own, for work that calls itself deeper than a dispatch thread can: those have 512 KiB.
package enum DeepStack {
    private final class Work: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Runs `work` on a new thread with a stack of `size` bytes, and waits for it. Untouched pages of the
    /// stack cost nothing.
    ///
    /// - Throws: `SystemError` when the system has no thread or no memory left; `work` was not called then.
    package static func run(size: Int, _ work: @escaping @Sendable () -> Void) throws(SystemError) {
        let context = Unmanaged.passRetained(Work(work))
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, size)
        let code = pthread_create(
            &thread,
            &attributes,
            { context in
                guard let context else { return nil }
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
                return nil
            },
            context.toOpaque()
        )
        pthread_attr_destroy(&attributes)
        guard code == 0 else {
            context.release()
            throw SystemError(code, "pthread_create")
        }
        pthread_join(thread, nil)
    }
}
