import CoreFoundation
package import Foundation

/// A file descriptor that wakes a run loop: a version 1 `CFRunLoopSource`.
///
/// On Linux a run loop's port is a file descriptor that the loop itself waits for with `epoll`. Two things
/// follow from how CoreFoundation does it, and both are owned here:
/// - It registers the descriptor edge-triggered: a handler that leaves something ready behind is not woken
///   again for it, and must ask for another pass by other means (a ``RunLoopSource``).
/// - It acknowledges a wake-up with an 8-byte `read`. On an `epoll` descriptor that read fails with `EINVAL`,
///   which release builds of CoreFoundation ignore. `theLoopWakesThroughASocket` fails on a toolchain where
///   it does not.
///
/// Made and used on the run loop's own thread.
package final class RunLoopPort {
    private let source: CFRunLoopSource
    private let context: Context

    /// - Parameters:
    ///   - descriptor: stays the caller's, and open for as long as this lives.
    ///   - handler: called on the thread that made this when the descriptor became readable.
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
        // The two context types share their first fields, and `version` says which one it is (CFRunLoop.h).
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

    /// Lets the descriptor wake the current thread's run loop while that runs in `mode`.
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
