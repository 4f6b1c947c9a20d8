import Glibc

/// A separate stack for deeply recursive work: dispatch threads have only 512 KiB.
package enum DeepStack {
    /// Runs `work` on a new thread with a stack of `size` bytes, and waits for it. Unused pages of the stack
    /// cost nothing.
    ///
    /// - Throws: `SystemError` if no thread can be created; `work` was then not called.
    package static func run(size: Int, _ work: @escaping @Sendable () -> Void) throws(SystemError) {
        let thread = try SystemThread.start(stackSize: size, isDetached: false, work)
        pthread_join(thread, nil)
    }
}
