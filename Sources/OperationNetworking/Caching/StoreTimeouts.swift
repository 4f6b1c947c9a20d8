import Dispatch
internal import OperationNetworkingSystem

/// Limits the time for which transfers wait for a store: its disk may stall, or another process may hold the
/// index, and no request fails or hangs for that.
///
/// Callable from any thread.
final class StoreTimeouts: Sendable {
    /// Seconds for which a transfer waits for what the server has as well.
    static let defaultTimeout = 1.0
    /// The shortest time between two looks, as a part of the timeout: thousands may wait, and end one by
    /// one.
    private static let pause = 0.1

    let standard: Double
    private let pending = Locked(Pending())

    private struct Pending {
        var waits = BinaryHeap<MonotonicTime, @Sendable () -> Void>()
        /// The moment of the next look.
        var alarm: MonotonicTime?

        /// Sets an alarm for a wait that ends before all others.
        /// - Returns: whether it is to be set.
        mutating func needsAlarm(at end: MonotonicTime) -> Bool {
            if let alarm, alarm <= end { return false }
            alarm = end
            return true
        }

        /// The waits that end by `now`, in the order of their ends, which are none any more.
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

    /// Has `body` run on the network thread in some seconds, unless they are 0, less, or infinite. It looks
    /// by itself whether that is of use still.
    func wait(_ seconds: Double, _ body: @escaping @Sendable () -> Void) {
        guard seconds > 0, seconds.isFinite else { return }
        let end = MonotonicTime.now + seconds
        let isFirst = pending.withLock { pending in
            pending.waits.insert(body, end)
            return pending.needsAlarm(at: end)
        }
        // One alarm for all: those that begin before it rings have none of their own.
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
            // An earlier one may have been set since.
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
