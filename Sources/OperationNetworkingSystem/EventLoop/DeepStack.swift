import Glibc

/// A stack of one's own, for work that calls itself deeper than a dispatch thread can: those have 512 KiB.
package enum DeepStack {
    /// Runs `work` on a new thread with a stack of `size` bytes, and waits for it. Untouched pages of the
    /// stack cost nothing.
    ///
    /// - Throws: `SystemError` when the system has no thread or no memory left; `work` was not called then.
    package static func run(size: Int, _ work: @escaping @Sendable () -> Void) throws(SystemError) {
        let thread = try SystemThread.start(stackSize: size, isDetached: false, work)
        pthread_join(thread, nil)
    }
}
