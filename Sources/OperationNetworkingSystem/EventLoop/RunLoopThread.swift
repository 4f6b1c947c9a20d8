import COperationNetworking
import CoreFoundation
import Glibc

/// A thread that runs its run loop for the lifetime of the process.
package enum RunLoopThread {
    /// The descriptors that a run loop opens per mode: one to wait with, and one for timers. CoreFoundation
    /// traps if it cannot open them.
    private static let descriptorsOfAMode = 2

    /// The maximum number of descriptors that are opened when a thread's run loop first runs: three for it,
    /// three for the main thread's, which CoreFoundation creates with the first run loop, and three for
    /// Dispatch's main queue.
    private static let descriptorsOfAStart = 9

    /// Checks whether a run loop can be created now. Another thread may use up the descriptors before it is
    /// created, which cannot be prevented.
    /// - Parameter descriptor: any open descriptor.
    /// - Throws: `SystemError` if the process has too few left.
    package static func checkDescriptors(with descriptor: Int32) throws(SystemError) {
        try checkDescriptors(descriptorsOfAStart, with: descriptor)
    }

    /// Checks whether a mode can be added to the run loop now.
    /// - Parameter descriptor: any open descriptor.
    /// - Returns: whether it can be added.
    package static func canMakeMode(with descriptor: Int32) -> Bool {
        (try? checkDescriptors(descriptorsOfAMode, with: descriptor)) != nil
    }

    private static func checkDescriptors(_ count: Int, with descriptor: Int32) throws(SystemError) {
        var opened: [Int32] = []
        defer { for one in opened { close(one) } }
        for _ in 0..<count {
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { throw SystemError(errno, "dup") }
            opened.append(copy)
        }
    }

    /// The stack size in bytes: four times that of a dispatch thread, for closures that run on the run loop.
    private static let stackSize = 2 << 20

    /// Starts the thread. Does not wait for it.
    /// - Parameters:
    ///   - name: the name for debuggers; Linux keeps 15 bytes.
    ///   - prepare: called on the new thread before its run loop first runs, to add a source or timer: a run
    ///     loop with neither does not sleep. It may wait until a run loop can be created. Its result is
    ///     retained.
    /// - Throws: `SystemError` if no thread can be created; `prepare` was then not called.
    package static func start(
        name: String,
        prepare: @escaping @Sendable () -> AnyObject
    ) throws(SystemError) {
        try SystemThread.start(stackSize: stackSize, isDetached: true) {
            cthread_set_name(name)
            withExtendedLifetime(prepare()) {
                while true { CFRunLoopRunInMode(kCFRunLoopDefaultMode, .greatestFiniteMagnitude, false) }
            }
        }
    }
}
