import Dispatch
internal import OperationNetworkingSystem

/// Limits the time that transfers wait for a store. A disk may stall, or another process may lock a file; no
/// request may fail or hang because of that.
///
/// Used on the network thread.
final class StoreTimeouts: @unchecked Sendable {
    // @unchecked: used on the network thread only; closures carry it there.

    /// The longest wait, in seconds, for a response that the server has as well.
    static let defaultTimeout = 1.0
    /// The shortest time between two checks, as a fraction of the timeout: thousands of waits may end one by
    /// one.
    private static let pause = 0.1

    /// Identifies a wait.
    struct Wait: Hashable, Sendable {
        fileprivate let number: Int
    }

    let standard: Double
    private var waits: [Wait: (end: MonotonicTime, didEnd: () -> Void)] = [:]
    private var lastNumber = 0
    /// The time of the next check. Waits share one timer, which is set for the earliest of them.
    private var alarm: MonotonicTime?

    init(standard: Double = StoreTimeouts.defaultTimeout) {
        self.standard = standard
    }

    /// Calls `didEnd` after `seconds`, unless the wait is stopped before.
    ///
    /// - Returns: `nil` without a limit: if `seconds` are 0, negative or infinite.
    @discardableResult
    func wait(_ seconds: Double, _ didEnd: @escaping () -> Void) -> Wait? {
        guard seconds > 0, seconds.isFinite else { return nil }
        lastNumber += 1
        let (wait, now) = (Wait(number: lastNumber), MonotonicTime.now)
        waits[wait] = (now + seconds, didEnd)
        setAlarm(at: now + seconds, now: now)
        return wait
    }

    /// Stops a wait, whose closure is not called any more.
    func stop(_ wait: Wait?) {
        if let wait { waits[wait] = nil }
    }

    private func setAlarm(at end: MonotonicTime, now: MonotonicTime) {
        if let alarm, alarm <= end { return }
        alarm = end
        DispatchQueue.global().asyncAfter(deadline: .now() + min(end - now, 86_400)) { [weak self] in
            NetworkThread.shared.perform { [weak self] _ in self?.check(at: end) }
        }
    }

    private func check(at moment: MonotonicTime) {
        // An earlier alarm may have been set since.
        guard alarm == moment else { return }
        alarm = nil
        let now = MonotonicTime.now
        let due = waits.filter { $0.value.end <= now }.sorted { $0.value.end < $1.value.end }
        if let next = waits.values.lazy.map(\.end).filter({ $0 > now }).min() {
            setAlarm(at: max(next, now + standard * Self.pause), now: now)
        }
        // One by one: each may stop those after it.
        for (wait, _) in due { waits.removeValue(forKey: wait)?.didEnd() }
    }
}
