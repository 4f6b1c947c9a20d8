import CoreFoundation
package import Foundation

/// A handler that a run loop calls when it is signaled: a version 0 `CFRunLoopSource`.
///
/// Created and used on the run loop's thread. Signals before the handler runs are coalesced. Other threads
/// should use a ``WakeDescriptor``: a run loop that CFRunLoopWakeUp wakes waits for a lock that the waking
/// thread still holds.
package final class RunLoopSource {
    private let source: CFRunLoopSource
    private let runLoop: CFRunLoop
    private let handler: RunLoopHandler

    /// - Parameter handler: called on the creating thread when the run loop runs in one of the modes.
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

    /// Requests a call of the handler before the run loop sleeps.
    package func signal() {
        CFRunLoopSourceSignal(source)
    }

    /// Makes the handler callable while the run loop runs in `mode`; `.common` means all common modes.
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
