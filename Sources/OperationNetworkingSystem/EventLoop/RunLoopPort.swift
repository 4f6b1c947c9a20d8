import CoreFoundation
package import Foundation

/// A file descriptor that wakes a run loop: a version 1 `CFRunLoopSource`.
///
/// On Linux a run loop's port is a file descriptor that the loop waits for with `epoll`. CoreFoundation's
/// implementation has two consequences:
/// - It registers the descriptor edge-triggered: a handler that leaves events unprocessed is not called again
///   for them, and must request another pass by a ``RunLoopSource``.
/// - It acknowledges a wake-up with an 8-byte `read`. On an `epoll` descriptor that read fails with `EINVAL`,
///   which release builds of CoreFoundation ignore. `theLoopWakesThroughASocket` fails on toolchains that do
///   not ignore it.
///
/// Created and used on the run loop's thread.
package final class RunLoopPort {
    private let source: CFRunLoopSource
    private let context: Context

    /// - Parameters:
    ///   - descriptor: owned by the caller; must stay open as long as this object exists.
    ///   - handler: called on the creating thread when the descriptor becomes readable.
    package init(descriptor: Int32, _ handler: @escaping () -> Void) {
        let context = Context(descriptor: descriptor, handler: handler)
        var sourceContext = CFRunLoopSourceContext1()
        sourceContext.version = 1
        sourceContext.info = Unmanaged.passUnretained(context).toOpaque()
        sourceContext.getPort = { info in
            guard let info else { return -1 }
            return Unmanaged<Context>.fromOpaque(info).takeUnretainedValue().descriptor
        }
        sourceContext.perform = { info in
            guard let info else { return }
            Unmanaged<Context>.fromOpaque(info).takeUnretainedValue().handler()
        }
        // The two context types share their first fields; `version` determines the type (CFRunLoop.h).
        source = withUnsafeMutableBytes(of: &sourceContext) { bytes in
            CFRunLoopSourceCreate(
                nil,
                0,
                bytes.baseAddress?.assumingMemoryBound(to: CFRunLoopSourceContext.self)
            )
        }
        self.context = context
    }

    deinit {
        CFRunLoopSourceInvalidate(source)
    }

    /// Makes the descriptor wake the current thread's run loop in `mode`.
    package func add(to mode: RunLoop.Mode) {
        CFRunLoopAddSource(CFRunLoopGetCurrent(), source, mode.name)
    }

    private final class Context {
        let descriptor: Int32
        let handler: () -> Void

        init(descriptor: Int32, handler: @escaping () -> Void) {
            self.descriptor = descriptor
            self.handler = handler
        }
    }
}
