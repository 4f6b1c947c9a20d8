import CoreFoundation
import Foundation

/// A thread that sleeps in its run loop and nowhere else, for as long as the process lives.
///
/// It owns a `Thread`: a subclass of `Thread` cannot be `Sendable`.
package enum RunLoopThread {
    /// Starts one.
    /// - Parameters:
    ///   - name: as debuggers show it; Linux keeps 15 bytes.
    ///   - prepare: called on the new thread, before its run loop runs for the first time. What it returns is kept.
    package static func start(name: String, prepare: @escaping @Sendable () -> AnyObject) {
        let thread = Thread {
            // Here, because Foundation forgets a name that was given before the thread started; and cut, because it
            // ignores one that is too long for the system.
            Thread.current.name = String(decoding: name.utf8.prefix(15), as: UTF8.self)
            withExtendedLifetime(prepare()) {
                while true { CFRunLoopRunInMode(kCFRunLoopDefaultMode, .greatestFiniteMagnitude, false) }
            }
        }
        thread.start()
    }
}
