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

    /// In a debug build, reports once on standard error that a callback has waited for three seconds for a
    /// main queue that does not run. Most often the main thread waits for a group or a semaphore that the
    /// callback would signal.
    ///
    /// - Parameter queue: the queue on which a callback is about to be scheduled.
    static func noteCallback(on queue: DispatchQueue) {
        #if DEBUG
            // A value that is replaced while another thread reads it is freed below it: it is set once, with the
            // lock held.
            let scheduled = watch.withLock { watch in
                queue.getSpecific(key: elsewhere) == nil
                    ? watch.schedule(now: MonotonicTime.now.seconds) : nil
            }
            guard let (number, isToCheck) = scheduled else { return }
            queue.async {
                watch.withLock { watch in
                    if !isCurrent, queue.getSpecific(key: elsewhere) == nil {
                        queue.setSpecific(key: elsewhere, value: true)
                    }
                    watch.run(number)
                }
            }
            // Whether a queue targets the main queue is known only once it has run. If the main queue has run
            // in the meantime, the callback waits for something else.
            if !isItself(queue) { DispatchQueue.main.async { watch.withLock { $0.run(number) } } }
            if isToCheck { check(after: CallbackWatch.warningDelay) }
        #endif
    }

    #if DEBUG
        private static let watch = Locked(CallbackWatch())
        /// Marks the queues that do not target the main queue.
        private static let elsewhere = DispatchSpecificKey<Bool>()

        private static func check(after seconds: Double) {
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) {
                switch watch.withLock({ $0.check(now: MonotonicTime.now.seconds) }) {
                case .nothing: break
                case .stuck: FileHandle.standardError.write(Data(advice.utf8))
                case .checkAgain(let seconds): check(after: seconds)
                }
            }
        }

        private static let advice = """
            OperationNetworking: a callback has waited for the main queue for 3 seconds. Callbacks run on the main \
            queue unless completionQueue is set or the closure belongs to another actor. Run it with RunLoop.main.run(), \
            dispatchMain() or an async main function, and do not block the main thread with a group or a semaphore; or \
            set completionQueue.

            """
    #endif
}

/// The callbacks that have been scheduled and have not run yet. A pure value, without side effects. The time is
/// an input, in seconds of a monotonic clock.
struct CallbackWatch {
    /// The seconds that a callback may wait.
    static let warningDelay = 3.0

    enum Finding: Hashable {
        case nothing
        /// A callback has waited for too long. Found once.
        case stuck
        case checkAgain(after: Double)
    }

    /// The times at which they were scheduled, by number.
    private var waiting: [Int: Double] = [:]
    private var lastNumber = 0
    private var isCheckDue = false
    private var isReported = false

    /// Records that a callback is scheduled.
    /// - Returns: its number, and whether the caller has to check after ``warningDelay``; `nil` once a callback was
    ///   found stuck.
    mutating func schedule(now: Double) -> (number: Int, isToCheck: Bool)? {
        guard !isReported else { return nil }
        lastNumber += 1
        waiting[lastNumber] = now
        defer { isCheckDue = true }
        return (lastNumber, !isCheckDue)
    }

    /// Records that a callback runs.
    mutating func run(_ number: Int) {
        waiting[number] = nil
    }

    /// Returns whether the oldest of them has waited for too long.
    mutating func check(now: Double) -> Finding {
        guard let oldest = waiting.values.min() else {
            isCheckDue = false
            return .nothing
        }
        guard now - oldest >= Self.warningDelay else {
            return .checkAgain(after: oldest + Self.warningDelay - now)
        }
        isReported = true
        waiting = [:]
        return .stuck
    }
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
