import COperationNetworking
import CoreFoundation
import Glibc

/// A thread that sleeps in its run loop and nowhere else, for as long as the process lives.
package enum RunLoopThread {
    /// Descriptors that a run loop opens for each of its modes: one to wait with, and one for timers.
    /// CoreFoundation traps where one of them cannot be had.
    private static let descriptorsOfAMode = 2

    /// Descriptors that are opened when a thread's run loop is made and runs for the first time: three for
    /// it, three for the main thread's, which CoreFoundation makes with the first of all, and three for
    /// Dispatch, which the run loop asks about the main queue. Some may be there already.
    private static let descriptorsOfAStart = 9

    /// Sees whether a run loop can be made now. Another thread may take the descriptors before it is made:
    /// CoreFoundation offers nothing that closes this gap.
    /// - Parameter descriptor: any that is open.
    /// - Throws: `SystemError` when the process has too few left.
    package static func checkDescriptors(with descriptor: Int32) throws(SystemError) {
        try checkDescriptors(descriptorsOfAStart, with: descriptor)
    }

    /// Sees whether the run loop can have one more mode now.
    /// - Parameter descriptor: any that is open.
    /// - Returns: whether it can.
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

    /// The size of its stack, in bytes: four times that of a dispatch thread, for closures that borrow the
    /// run loop.
    private static let stackSize = 2 << 20

    /// Starts one. Does not wait for it.
    /// - Parameters:
    ///   - name: as debuggers show it; Linux keeps 15 bytes.
    ///   - prepare: called on the new thread, before its run loop runs for the first time, to put a source or
    ///     a timer into it: a run loop with neither does not sleep. It may wait until a run loop can be made.
    ///     What it returns is kept.
    /// - Throws: `SystemError` when no thread can be had now; `prepare` was not called then.
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
