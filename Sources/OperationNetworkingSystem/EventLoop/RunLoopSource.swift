import CoreFoundation
package import Foundation

/// A handler that a run loop calls when it is signaled: a version 0 `CFRunLoopSource`.
///
/// Made and used on the run loop's own thread. Signals before the handler ran count as one. From other
/// threads a ``WakeDescriptor`` is better: the run loop that CFRunLoopWakeUp wakes waits for a lock that the
/// waking thread still holds.
package final class RunLoopSource {
    private let source: CFRunLoopSource
    private let runLoop: CFRunLoop
    private let handler: RunLoopHandler

    /// - Parameter handler: called on the thread that made this, whenever the run loop runs in one of the
    ///   modes.
    package init(_ handler: @escaping () -> Void) {
        let handler = RunLoopHandler(handler)
        var context = CFRunLoopSourceContext()
        context.info = Unmanaged.passUnretained(handler).toOpaque()
        context.perform = { RunLoopHandler.call($0) }
        source = CFRunLoopSourceCreate(nil, 0, &context)
        runLoop = CFRunLoopGetCurrent()
        self.handler = handler
    }

    deinit {
        CFRunLoopSourceInvalidate(source)
    }

    /// Asks for the handler to be called: the run loop looks before it sleeps.
    package func signal() {
        CFRunLoopSourceSignal(source)
    }

    /// Lets the handler be called while the run loop runs in `mode` (`.common`: in all the common ones).
    package func add(to mode: RunLoop.Mode) {
        CFRunLoopAddSource(runLoop, source, mode.name)
    }
}

/// A closure that C can point to.
final class RunLoopHandler {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) {
        self.body = body
    }

    static func call(_ info: UnsafeMutableRawPointer?) {
        guard let info else { return }
        Unmanaged<RunLoopHandler>.fromOpaque(info).takeUnretainedValue().body()
    }
}
