import COperationNetworking
import CoreFoundation
import Foundation

/// A thread that sleeps in its run loop and nowhere else, for as long as the process lives.
///
/// It owns a `Thread`: a subclass of `Thread` cannot be `Sendable`.
package enum RunLoopThread {
    /// Starts one.
    /// - Parameters:
    ///   - name: as debuggers show it; Linux keeps 15 bytes.
    ///   - prepare: called on the new thread, before its run loop runs for the first time, to put a source or a
    ///     timer into it: a run loop with neither does not sleep. What it returns is kept.
    package static func start(name: String, prepare: @escaping @Sendable () -> AnyObject) {
        let thread = Thread {
            // Not with Foundation: it forgets a name that is given before the thread starts, may forget one that is
            // given soon after, and ignores one that is too long for the system.
            cthread_set_name(name)
            withExtendedLifetime(prepare()) {
                while true { CFRunLoopRunInMode(kCFRunLoopDefaultMode, .greatestFiniteMagnitude, false) }
            }
        }
        thread.start()
    }
}
