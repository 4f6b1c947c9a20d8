import CoreFoundation
package import Foundation

/// One moment at which a run loop calls a handler; it can be moved. Made and used on the run loop's own
/// thread.
package final class RunLoopTimer {
    /// Moving to here means "not for now".
    private static let never = CFAbsoluteTime.greatestFiniteMagnitude / 4

    private let timer: CFRunLoopTimer
    private let handler: RunLoopHandler

    package init(_ handler: @escaping () -> Void) {
        let handler = RunLoopHandler(handler)
        var context = CFRunLoopTimerContext()
        context.info = Unmanaged.passUnretained(handler).toOpaque()
        // The interval is only there to keep the timer valid after it fired: it is always moved before.
        timer = CFRunLoopTimerCreate(
            nil,
            Self.never,
            1e9,
            0,
            0,
            { _, info in RunLoopHandler.call(info) },
            &context
        )
        self.handler = handler
    }

    deinit {
        CFRunLoopTimerInvalidate(timer)
    }

    /// Calls the handler in `seconds` from now and not before; `nil`: not until moved again.
    package func fire(after seconds: Double?) {
        CFRunLoopTimerSetNextFireDate(timer, seconds.map { CFAbsoluteTimeGetCurrent() + $0 } ?? Self.never)
    }

    /// Lets the timer fire while the current thread's run loop runs in `mode`.
    package func add(to mode: RunLoop.Mode) {
        CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, mode.name)
    }
}
