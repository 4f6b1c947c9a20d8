internal import Foundation

/// Threads with a 256 KiB stack, so that hundreds of connections can have one each.
enum SmallThread {
    private final class Work: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Runs `work` on a new, detached thread.
    static func start(_ work: @escaping @Sendable () -> Void) throws(SocketError) {
        let context = Unmanaged.passRetained(Work(work))
        let code = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { attributes in
            guard let attributes = attributes.baseAddress else { return ENOMEM }
            pthread_attr_init(attributes)
            defer { pthread_attr_destroy(attributes) }
            pthread_attr_setstacksize(attributes, 256 << 10)
            pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
            var thread: pthread_t = 0
            return pthread_create(
                &thread,
                attributes,
                { context in
                    guard let context else { return nil }
                    Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
                    return nil
                },
                context.toOpaque()
            )
        }
        guard code == 0 else {
            context.release()
            throw SocketError("pthread_create", code: code)
        }
    }
}
