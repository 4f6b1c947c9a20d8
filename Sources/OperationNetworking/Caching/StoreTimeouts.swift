import Dispatch
internal import OperationNetworkingSystem

/// Limits the time that transfers wait for a store. A disk may stall, or another process may lock a file; no
/// request may fail or hang because of that.
///
/// Callable from any thread.
final class StoreTimeouts: Sendable {
    /// The longest wait, in seconds, for a response that the server has as well.
    static let defaultTimeout = 1.0
    /// The shortest time between two checks, as a fraction of the timeout: thousands of waits may end one by
    /// one.
    private static let pause = 0.1

    let standard: Double
    private let pending = Locked(Pending())

    private struct Pending {
        var waits = BinaryHeap<MonotonicTime, @Sendable () -> Void>()
        /// The time of the next check.
        var alarm: MonotonicTime?

        /// Moves the alarm to `end` if that is earlier.
        /// - Returns: whether a timer must be set.
        mutating func needsAlarm(at end: MonotonicTime) -> Bool {
            if let alarm, alarm <= end { return false }
            alarm = end
            return true
        }

        /// Removes the waits that end by `now`, and returns their closures in order.
        mutating func takeDue(_ now: MonotonicTime) -> [@Sendable () -> Void] {
            var due: [@Sendable () -> Void] = []
            while let first = waits.first, first.key <= now, let (_, body) = waits.removeFirst() {
                due.append(body)
            }
            return due
        }
    }

    init(standard: Double = StoreTimeouts.defaultTimeout) {
        self.standard = standard
    }

    /// Runs `body` on the network thread after `seconds`, unless they are 0, negative or infinite. `body`
    /// checks whether the wait still matters.
    func wait(_ seconds: Double, _ body: @escaping @Sendable () -> Void) {
        guard seconds > 0, seconds.isFinite else { return }
        let end = MonotonicTime.now + seconds
        let isFirst = pending.withLock { pending in
            pending.waits.insert(body, end)
            return pending.needsAlarm(at: end)
        }
        // Waits share one alarm. A timer is only set for the earliest.
        if isFirst { setAlarm(at: end, in: seconds) }
    }

    private func setAlarm(at end: MonotonicTime, in seconds: Double) {
        DispatchQueue.global().asyncAfter(deadline: .now() + min(seconds, 86_400)) { [weak self] in
            NetworkThread.shared.perform { [weak self] _ in self?.look(at: end) }
        }
    }

    private func look(at moment: MonotonicTime) {
        let now = MonotonicTime.now
        let (due, next) = pending.withLock { pending -> ([@Sendable () -> Void], MonotonicTime?) in
            // An earlier alarm may have been set since.
            guard pending.alarm == moment else { return ([], nil) }
            pending.alarm = nil
            let due = pending.takeDue(now)
            guard let next = pending.waits.first?.key, pending.needsAlarm(at: next) else { return (due, nil) }
            return (due, next)
        }
        if let next { setAlarm(at: next, in: max(next - now, standard * Self.pause)) }
        for body in due { body() }
    }
}
