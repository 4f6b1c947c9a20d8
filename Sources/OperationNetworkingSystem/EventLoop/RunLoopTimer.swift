import CoreFoundation
package import Foundation

/// A one-shot run loop timer that can be rescheduled. Created and used on the run loop's thread.
package final class RunLoopTimer {
    /// A date that means "not scheduled".
    private static let never = CFAbsoluteTime.greatestFiniteMagnitude / 4

    private let timer: CFRunLoopTimer
    private let handler: RunLoopHandler

    package init(_ handler: @escaping () -> Void) {
        let handler = RunLoopHandler(handler)
        var context = CFRunLoopTimerContext()
        context.info = Unmanaged.passUnretained(handler).toOpaque()
        // The interval only keeps the timer valid after it fired; it is always rescheduled before.
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

    /// Schedules the handler in `seconds` from now; `nil` unschedules it.
    package func fire(after seconds: Double?) {
        CFRunLoopTimerSetNextFireDate(timer, seconds.map { CFAbsoluteTimeGetCurrent() + $0 } ?? Self.never)
    }

    /// Makes the timer fire in `mode` of the current thread's run loop.
    package func add(to mode: RunLoop.Mode) {
        CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, mode.name)
    }
}
