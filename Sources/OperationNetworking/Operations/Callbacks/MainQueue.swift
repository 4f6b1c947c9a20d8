import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The main queue, recognized by a queue-specific value: after `dispatchMain()`, threads other than the main
/// one serve it.
enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether `queue` is the main queue: Foundation creates a new object for it each time.
    static func isItself(_ queue: DispatchQueue) -> Bool { queue.getSpecific(key: mark) == true }

    /// Whether this thread is currently serving the main queue.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) == true }

    #if DEBUG
        private struct Look {
            var isBegun = false
            var hasRun = false
            var isReported = false
        }

        private static let look = Locked(Look())
    #endif

    /// In a debug build, reports once on standard error that a callback has waited for three seconds for a
    /// main queue that does not run. Most often the main thread waits for a group or a semaphore that the
    /// callback would signal.
    ///
    /// - Parameter queue: the queue on which a callback was scheduled.
    static func noteCallback(on queue: DispatchQueue) {
        #if DEBUG
            guard isItself(queue) else { return }
            let isNew = look.withLock { look in
                defer { look.isBegun = true }
                guard !look.isBegun, !look.isReported else { return false }
                look.hasRun = false
                return true
            }
            guard isNew else { return }
            DispatchQueue.main.async { look.withLock { $0.hasRun = true } }
            DispatchQueue.global().asyncAfter(deadline: .now() + 3) {
                let isStuck = look.withLock { look in
                    look.isBegun = false
                    if !look.hasRun { look.isReported = true }
                    return !look.hasRun
                }
                if isStuck { FileHandle.standardError.write(Data(advice.utf8)) }
            }
        #endif
    }

    #if DEBUG
        private static let advice = """
            OperationNetworking: a callback has waited for the main queue for 3 seconds. Callbacks run on the main \
            queue unless completionQueue is set or the closure belongs to another actor. Run it with RunLoop.main.run(), \
            dispatchMain() or an async main function, and do not block the main thread with a group or a semaphore; or \
            set completionQueue.

            """
    #endif
}

extension DispatchQueue {
    /// Whether both objects refer to the same queue.
    func isSame(as other: DispatchQueue) -> Bool {
        self === other || (MainQueue.isItself(self) && MainQueue.isItself(other))
    }
}

/// An observer that counts running operations. It is also notified of an operation that is already running
/// when the observer is added, and of removals, so that it never waits for an end that is not reported to it.
protocol RunCounter: OperationObserver {
    /// Stops counting an operation that no longer notifies this observer.
    func reconsider(_ operation: ConnectionOperation)

    /// Does the same for each counted operation.
    func reconsiderAll()
}
